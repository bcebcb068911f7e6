import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
// @ts-expect-error: the fork has no types; the original package's types apply.
import domino from '@mixmark-io/domino';
import * as Plot from '@observablehq/plot';

/** Writes a chart as a self-contained SVG file for light and dark pages. */
export function writeChart(file: string, label: string, { style, ...options }: Plot.PlotOptions): void {
  const { document } = domino.createWindow('<html><body></body></html>');
  const look = { background: '#ffffff', color: '#1f2328', padding: '8px', ...(style as object) };
  const chart = Plot.plot({ document, style: look, ariaLabel: label, ...options });
  chart.setAttribute('role', 'img');
  chart.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${chart.outerHTML}\n`);
}

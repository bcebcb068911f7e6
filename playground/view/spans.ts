import type { Simulation } from '../model/simulation.ts';
import type { Geometry } from './geometry.ts';
import { svg } from './svg.ts';

/** The least width of a window in pixels that has its own label. */
const labelWidth = 48;

/** Draws the windows with their counts, the pauses, and the seconds, in the coordinates of the moving layer. */
export function drawSpans(parent: Element, geometry: Geometry, simulation: Simulation): void {
  const { scale, allY, left, nowX, width } = geometry;
  const { now, windows, fleet } = simulation;
  const from = now - (nowX - left) / scale;
  parent.replaceChildren();
  for (const pause of fleet.pauses) {
    if (pause.to < from) continue;
    const [x, end] = [pause.from * scale, pause.to * scale];
    svg('rect', { class: 'paused', x, y: 0, width: end - x, height: allY + 52 }, parent);
    const label = svg('text', { x: x + 6, y: 14, class: 'tick' }, parent);
    label.textContent = 'paused';
  }
  const shown = windows.filter(({ to }) => to > from);
  shown.forEach((window, i) => {
    const [x, end] = [window.from * scale, window.to * scale];
    const { count, most } = window;
    svg(
      'rect',
      {
        class: 'window',
        'data-count': count,
        'data-most': most,
        x,
        y: allY - 24,
        width: end - x,
        height: 72,
        rx: 6,
      },
      parent,
    );
    const [first, last] = [Math.max(x, from * scale), Math.min(end, from * scale + width - left)];
    if (last - first < labelWidth && i < shown.length - 1) return;
    const middle = Math.max((first + last) / 2, from * scale + labelWidth / 2);
    const label = svg('text', { x: middle, y: allY + 38, 'text-anchor': 'middle' }, parent);
    label.textContent = `${count} of ${most}`;
  });
  for (let second = Math.max(0, Math.ceil(from / 1_000)); second * 1_000 <= now; second++) {
    const x = second * 1_000 * scale;
    // The label of the present is near.
    if ((now - second * 1_000) * scale < 40 || second % Math.ceil(40 / (1_000 * scale)) > 0) continue;
    svg('text', { class: 'tick', x, y: allY + 70, 'text-anchor': 'middle' }, parent).textContent =
      `${second} s`;
  }
}

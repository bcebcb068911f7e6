import type { Geometry } from './geometry.ts';
import { letterOf, svg } from './svg.ts';

/** Draws what does not move: the rows with their labels, and the line of the present. */
export function drawRows(parent: Element, geometry: Geometry, processes: number): void {
  const { left, width, rowHeight, rowY, allY, nowX } = geometry;
  const isNarrow = left < 60;
  for (let process = 0; process < processes; process++) {
    const y = rowY(process);
    svg('path', { class: 'lane', d: `M${left} ${y}H${width}` }, parent);
    const label = svg('text', { x: 4, y: y + 5 }, parent);
    label.textContent = isNarrow ? letterOf(process) : `process ${letterOf(process)}`;
    const row = { class: 'row', 'data-row': process, x: 0, y: y - rowHeight / 2, width, height: rowHeight };
    svg('rect', row, parent);
  }
  svg('path', { class: 'lane', d: `M${left} ${allY}H${width}` }, parent);
  svg('text', { x: 4, y: allY + 5 }, parent).textContent = isNarrow ? 'all' : 'together';
  svg('path', { class: 'now', d: `M${nowX} 0V${allY + 52}` }, parent);
  const now = { class: 'now-label', x: nowX, y: allY + 70, 'text-anchor': 'middle' };
  svg('text', now, parent).textContent = 'now';
}

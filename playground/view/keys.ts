import type { TimelineActions } from './timeline.ts';

/** The keys of the timeline, while it has the focus: digits make requests, arrows choose a waiting marble, Delete cancels it. */
export function addKeys(root: SVGSVGElement, actions: TimelineActions): void {
  root.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const waiting = [...root.querySelectorAll<SVGGElement>('.marble.waiting')];
    const chosen = waiting.indexOf(document.activeElement as SVGGElement);
    if (key === 'ArrowRight' || key === 'ArrowLeft') {
      const step = key === 'ArrowRight' ? 1 : -1;
      const next = chosen < 0 ? (step > 0 ? 0 : waiting.length - 1) : chosen + step;
      waiting.at(next % waiting.length)?.focus();
    } else if (['Delete', 'Backspace', 'Enter', ' '].includes(key) && chosen >= 0) {
      actions.cancel(Number(waiting[chosen].getAttribute('data-id')));
      (waiting[chosen + 1] ?? waiting[chosen - 1] ?? root).focus();
    } else if (/^[1-8]$/.test(key) && root.querySelector(`[data-row="${Number(key) - 1}"]`)) {
      actions.emit(Number(key) - 1);
    } else return;
    event.preventDefault();
  });
}

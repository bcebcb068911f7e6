import type { Marble } from '../model/fleet.ts';
import type { Geometry } from './geometry.ts';
import { letterOf, set, svg } from './svg.ts';

/** The elements of one marble. */
interface Drawn {
  readonly group: SVGGElement;
  state: Marble['state'] | undefined;
  /** What is below all marbles: the line from the request to its end, and a ring where it starts. */
  readonly below: SVGGElement;
  wait: SVGPathElement | undefined;
  /** The ring of a waiting request, with the part that can be gripped. */
  ring: SVGGElement | undefined;
}

/** The layer of the marbles. It draws each of them once, and again when its state changes. */
export class MarbleLayer {
  /** The marble that is dragged, and where its ring is: in pixels of the timeline. */
  dragged: { id: number; x: number; y: number } | undefined;
  readonly #below: SVGGElement;
  readonly #layer: SVGGElement;
  readonly #drawn = new Map<number, Drawn>();

  constructor(parent: Element) {
    this.#below = svg('g', {}, parent);
    this.#layer = svg('g', {}, parent);
  }

  clear(): void {
    this.#below.replaceChildren();
    this.#layer.replaceChildren();
    this.#drawn.clear();
  }

  /** The element of a marble, if it is shown. */
  elementOf(id: number): SVGGElement | undefined {
    return this.#drawn.get(id)?.group;
  }

  render(marbles: readonly Marble[], now: number, geometry: Geometry): void {
    const from = now - (geometry.nowX - geometry.left + 2 * geometry.radius) / geometry.scale;
    const left = new Set(this.#drawn.keys());
    for (const marble of marbles) {
      if ((marble.endedAt ?? now) < from) continue;
      left.delete(marble.id);
      let drawn = this.#drawn.get(marble.id);
      if (!drawn) {
        drawn = {
          group: svg('g', {}, this.#layer),
          below: svg('g', {}, this.#below),
          wait: undefined,
          state: undefined,
          ring: undefined,
        };
        this.#drawn.set(marble.id, drawn);
      }
      if (drawn.state !== marble.state) draw(drawn, marble, geometry);
      if (marble.state === 'waiting') this.#extend(drawn, marble, now, geometry);
    }
    for (const id of left) {
      const { group, below } = this.#drawn.get(id)!;
      group.remove();
      below.remove();
      this.#drawn.delete(id);
    }
  }

  /** A waiting request reaches to the present; its ring stays in sight, or where it is dragged to. */
  #extend({ wait, ring }: Drawn, marble: Marble, now: number, geometry: Geometry): void {
    const { scale, nowX, left, radius } = geometry;
    const y = geometry.rowY(marble.process);
    const edge = now * scale - nowX + left + radius;
    const x = Math.max(marble.arrivedAt * scale, edge);
    set(wait!, { d: `M${x} ${y}H${now * scale}` });
    const dragged = this.dragged?.id === marble.id ? this.dragged : undefined;
    const at = dragged ? { x: dragged.x + now * scale - nowX, y: dragged.y } : { x, y };
    set(ring!, { transform: `translate(${at.x} ${at.y})` });
    ring!.parentElement!.classList.toggle('dragged', dragged !== undefined);
  }
}

function draw(drawn: Drawn, marble: Marble, { scale, rowY, allY, radius }: Geometry): void {
  const { id, process, state, arrivedAt, endedAt } = marble;
  const { group, below } = drawn;
  const letter = letterOf(process);
  const [start, y] = [arrivedAt * scale, rowY(process)];
  const end = (endedAt ?? arrivedAt) * scale;
  drawn.state = state;
  group.replaceChildren();
  below.replaceChildren();
  const style = `--colour: var(--p${process})`;
  set(below, { class: `trail ${state}`, style });
  set(group, {
    class: `marble ${state}`,
    style,
    'data-id': id,
    'data-process': process,
    'data-state': state,
    'data-arrived': arrivedAt,
    'data-ended': endedAt ?? '',
  });
  for (const name of ['role', 'tabindex', 'aria-label']) group.removeAttribute(name);
  drawn.wait = svg('path', { class: 'wait', d: `M${start} ${y}H${end}` }, below);
  if (state === 'waiting') {
    set(group, {
      role: 'button',
      tabindex: -1,
      'aria-label': `Request ${id} of process ${letter} waits: Delete cancels it`,
    });
    drawn.ring = svg('g', {}, group);
    svg('circle', { class: 'ring', r: radius - 3 }, drawn.ring);
    svg('circle', { class: 'grip', r: 18 }, drawn.ring);
    return;
  }
  if (end - start > 1) svg('circle', { class: 'ring', cx: start, cy: y, r: radius - 3 }, below);
  if (state === 'granted')
    for (const row of [y, allY]) {
      svg('circle', { class: 'dot', cx: end, cy: row, r: radius }, group);
      svg('text', { x: end, y: row + 4.5 }, group).textContent = letter;
    }
  if (state === 'refunded') svg('circle', { class: 'ring', cx: end, cy: y, r: radius }, group);
  if (state === 'cancelled')
    svg('path', { class: 'cross', d: `M${end - 6} ${y - 6}l12 12m0 -12l-12 12` }, group);
  if (state === 'rejected') svg('path', { class: 'cross', d: `M${end - 5} ${y - 5}h10v10h-10z` }, group);
}

import type { Simulation } from '../model/simulation.ts';
import { addDrag } from './drag.ts';
import { type Geometry, geometryOf } from './geometry.ts';
import { addKeys } from './keys.ts';
import { MarbleLayer } from './marbles.ts';
import { drawRows } from './rows.ts';
import { drawSpans } from './spans.ts';
import { set, svg } from './svg.ts';

/** The width while the page has none, in pixels. */
const leastWidth = 240;

/** What a user can do in the timeline. */
export interface TimelineActions {
  emit(process: number): void;
  cancel(id: number): void;
}

/** The marble timeline. Time runs to the left; what does not move is drawn once. */
export class Timeline {
  readonly #root: SVGSVGElement;
  readonly #rows: SVGGElement;
  readonly #plot: SVGGElement;
  readonly #spans: SVGGElement;
  readonly #clip: SVGRectElement;
  readonly #moving: SVGGElement;
  readonly #marbles: MarbleLayer;
  #simulation: Simulation;
  #geometry: Geometry;

  constructor(host: HTMLElement, simulation: Simulation, actions: TimelineActions) {
    this.#simulation = simulation;
    this.#root = svg('svg', {
      class: 'timeline',
      role: 'group',
      tabindex: 0,
      'aria-labelledby': 'timeline-title',
      'aria-describedby': 'keys',
    });
    host.append(this.#root);
    const clip = svg('clipPath', { id: 'plot' }, svg('defs', {}, this.#root));
    this.#clip = svg('rect', { y: 0 }, clip);
    this.#rows = svg('g', {}, this.#root);
    this.#plot = svg('g', { 'clip-path': 'url(#plot)' }, this.#root);
    this.#moving = svg('g', {}, this.#plot);
    this.#spans = svg('g', { 'pointer-events': 'none' }, this.#moving);
    this.#marbles = new MarbleLayer(this.#moving);
    this.#geometry = this.#layOut();
    new ResizeObserver(() => this.show(this.#simulation)).observe(host);
    this.#root.addEventListener('click', ({ target }) => {
      const row = (target as Element).getAttribute('data-row');
      if (row !== null) actions.emit(Number(row));
    });
    addDrag(this.#root, {
      rowOf: (id) => {
        const marble = this.#simulation.fleet.marbles.find((one) => one.id === id);
        return marble && this.#geometry.rowY(marble.process);
      },
      moved: (dragged) => {
        this.#marbles.dragged = dragged;
        this.render();
      },
      pulledOff: actions.cancel,
    });
    addKeys(this.#root, actions);
  }

  /** Shows a simulation from now on, or the same one at another size. */
  show(simulation: Simulation): void {
    const focused = this.#root.contains(document.activeElement)
      ? document.activeElement!.getAttribute('data-id')
      : null;
    this.#simulation = simulation;
    this.#geometry = this.#layOut();
    this.#marbles.clear();
    this.render();
    if (focused !== null) this.#marbles.elementOf(Number(focused))?.focus();
  }

  render(): void {
    const { now, fleet } = this.#simulation;
    const focused = document.activeElement;
    const { nowX, scale } = this.#geometry;
    set(this.#moving, { transform: `translate(${nowX - now * scale} 0)` });
    this.#marbles.render(fleet.marbles, now, this.#geometry);
    drawSpans(this.#spans, this.#geometry, this.#simulation);
    // The marble that had the focus does not wait any more.
    if (focused && this.#root.contains(focused) && !focused.hasAttribute('tabindex')) this.#root.focus();
  }

  #layOut(): Geometry {
    const geometry = geometryOf(
      Math.max(leastWidth, this.#root.parentElement!.clientWidth),
      this.#simulation,
    );
    const { width, height, left } = geometry;
    set(this.#root, { height, viewBox: `0 0 ${width} ${height}` });
    set(this.#clip, { x: left - 14, width: Math.max(0, width - left + 14), height });
    this.#rows.replaceChildren();
    drawRows(this.#rows, geometry, this.#simulation.config.processes);
    return geometry;
  }
}

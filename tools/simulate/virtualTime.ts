import TinyQueue from 'tinyqueue';
import type { Clock } from '../../src/clock.ts';

interface Event {
  at: number;
  /** Events of one moment run in the order in which they were set. */
  order: number;
  work: (() => void) | undefined;
}

/**
 * Epoch milliseconds at which the simulations start: within two days, from which on a store shifts its clock, by the first store of
 * the process. Fractions of a millisecond would be rounded otherwise in one process than in another, and chance would decide.
 */
const origin = 166_400_000;

/**
 * Virtual time that advances from event to event: a heap of events, and the microtasks and ticks that each of them
 * schedules.
 */
export class VirtualTime implements Clock {
  readonly origin = origin;
  readonly #events = new TinyQueue<Event>([], (a, b) => a.at - b.at || a.order - b.order);
  #now = 0;
  #order = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const event: Event = { at: this.#now + ms, order: this.#order++, work };
    this.#events.push(event);
    return () => {
      event.work = undefined;
    };
  }

  /** Runs all events before a time, each followed by its microtasks and ticks. */
  runUntil(end: number): void {
    const soon: (() => void)[] = [];
    const { queueMicrotask } = globalThis;
    const { nextTick } = globalThis.process;
    globalThis.queueMicrotask = (work) => soon.push(work);
    globalThis.process.nextTick = (work: () => void) => soon.push(work);
    try {
      for (let event = this.#events.peek(); event && event.at < end; event = this.#events.peek()) {
        this.#events.pop();
        if (!event.work) continue;
        this.#now = event.at;
        event.work();
        for (let i = 0; i < soon.length; i++) soon[i]();
        soon.length = 0;
      }
    } finally {
      globalThis.queueMicrotask = queueMicrotask;
      globalThis.process.nextTick = nextTick;
    }
    this.#now = end;
  }
}

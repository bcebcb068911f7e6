import type { PermitsAt } from '../properties/oracle.ts';

/** The limit that the processes share. */
export const spec = { kind: 'slidingWindow', permits: 50, interval: 500, resolution: 1 } as const;

/**
 * A limit whose permits do not come back during the test: a process takes all of it, and reserves one permit of the next day.
 */
export const day = { kind: 'fixedWindow', permits: 100, interval: 86_400_000, align: 'first' } as const;

/**
 * What a process does, besides its constant requests: nothing; block its event loop for 2 s; subscribe 100,000 times
 * and unsubscribe in random order; or close its limiter on SIGTERM.
 */
export type Role = 'load' | 'block' | 'storm' | 'close';

/** The reports of a process to its parent: that it has a permit, its grants, that it starts, and that it is done. */
export type Message =
  | { kind: 'ready' }
  | { kind: 'grant'; grant: PermitsAt; receivedAt: number }
  | { kind: 'begins'; at: number }
  | { kind: 'done'; at: number; queued: number; reserved: number };

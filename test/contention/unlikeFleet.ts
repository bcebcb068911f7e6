import { capacityOf, type Limit } from '../../src/limits/limit.ts';
import { loadOf } from '../../src/limits/load.ts';
import { randomFrom } from '../support/seed.mjs';
import type { During } from './againstIdeal.ts';
import { bySize, type Habits } from './contend.ts';
import { duringOf, nameOf, usedFleet } from './usedFleet.ts';

/** The most requests that a client keeps in its queue: of small ones, so many wait at all times. */
const mostWaiting = 300;

/** A fleet of clients that share one limit, of two sizes of requests. */
export interface UnlikeFleet {
  limit: Limit;
  clients: Habits[];
  /** Its limit and habits in words. */
  name: string;
  during: During;
}

/** Two to six clients with the habits of the used fleet of a seed. Every second one has requests of another size, and as many permits queued. */
export function unlikeFleet(seed: number): UnlikeFleet {
  const {
    limits: [limit],
    habits,
  } = usedFleet(seed);
  const random = randomFrom(seed + 1);
  const sizes = [1, 2].map(() => Math.max(1, Math.floor(capacityOf(limit) * 0.5 * random() ** 3)));
  const largest = Math.max(...sizes);
  const queued = largest * (1 + 3 * random());
  const number = 2 * (1 + Math.floor(random() * 3));
  // Parts would be rounded up to whole permits, and more of the small requests be refunded.
  const own = { ...habits, part: 1 };
  const clients = bySize(own, sizes, number, queued).map((one) => ({
    ...one,
    waiting: Math.max(2, Math.min(mostWaiting, Math.round(one.waiting))),
  }));
  const kinds = clients.slice(0, 2).map(({ waiting, costs }) => `${waiting} of ${costs}`);
  const name = nameOf([limit], `${number} x ${kinds.join(' or ')}`, own);
  const during = duringOf([limit], loadOf({ limits: [limit] }, [largest]));
  return { limit, clients, name, during };
}

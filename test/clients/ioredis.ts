import { Redis } from 'ioredis';
import type { Kind } from '../support/kinds.ts';

/** The client that the others share their limits with. */
export const ioredis: Pick<Kind, 'open'> = {
  open(options) {
    const redis = new Redis(options);
    return { redis, opening: Promise.resolve(), close: () => redis.disconnect() };
  },
};

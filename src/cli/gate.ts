import { RateLimiter } from '../limiter/RateLimiter.ts';
import type { Arguments } from './arguments.ts';
import { connect } from './connect.ts';

/** The limiter that the lines pass through. */
export interface Gate {
  readonly limiter: RateLimiter;
  /** Gives back what is reserved. */
  close(): Promise<void>;
}

/** Opens the limiter: in this process, or with a Redis URL on the fleet's Redis. */
export async function openGate({ name, limit, redis: url }: Arguments): Promise<Gate> {
  const redis = url === undefined ? undefined : await connect(url);
  const limiter = new RateLimiter({ name, limit, redis });
  return {
    limiter,
    async close() {
      await limiter.close();
      redis?.disconnect();
    },
  };
}

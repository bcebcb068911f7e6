import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api } from './redissonSuite.ts';

/** A grant written to the log of `api`. */
export interface WrittenGrant {
  /** Epoch milliseconds of the write by the server's clock. */
  readonly t: number;
  /** The moment in the entry, by the clock of the writer. */
  readonly at: number;
  readonly n: number;
}

/**
 * Records the writes to the log of `api`, as the server sees them, until it is stopped: then nothing is outstanding. Other
 * clients must have connected: a command that they send while the monitor starts would confuse the monitor.
 */
export async function watchGrants(redis: Redis): Promise<{ grants: WrittenGrant[]; stop(): Promise<void> }> {
  const { permits } = redissonKeys(api);
  const monitor = await redis.monitor();
  const grants: WrittenGrant[] = [];
  const members = new Set<string>();
  const mark = randomUUID();
  const seen = new Promise<void>((resolve) =>
    monitor.on('monitor', (time: string, [command, key, ...args]: string[]) => {
      if (key === mark) resolve();
      if (command.toLowerCase() !== 'zadd' || key !== permits) return;
      for (let i = 0; i < args.length; i += 2) {
        const member = args[i + 1];
        // A call that is sent again writes its entries again, and so does a call that finds most of a long log expired.
        if (members.has(member)) continue;
        members.add(member);
        grants.push({ t: Number(time) * 1000, at: Number(args[i]), n: weightOf(member) });
      }
    }),
  );
  async function stop(): Promise<void> {
    await redis.echo(mark);
    await seen;
    monitor.disconnect();
  }
  return { grants, stop };
}

/** The last four bytes of a member, as the server prints them; the upper three are 0 in the tests. */
function weightOf(printed: string): number {
  const [, hex] = /\\x([0-9a-f]{2})\\x00\\x00\\x00$/.exec(printed) ?? [];
  if (hex === undefined) throw new Error(`expected few permits, got ${printed}`);
  return Number.parseInt(hex, 16);
}

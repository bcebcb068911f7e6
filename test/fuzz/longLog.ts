import type { Redis } from 'ioredis';
import { slidingWindow } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { openRedisLedger } from '../support/redisLedger.ts';

/** Epoch milliseconds of the newest entry of a long log. */
export const newest = 1e12;
/** Milliseconds until an entry expires. */
export const interval = 1e8;

const prefix = 'long';
const key = `{${prefix}:log}`;

/**
 * The places of the total and of the limit's text in a ledger of one sliding window. If its log has a key of its own, the time of
 * the oldest entry and the length follow the text (lua/heads/sliding-window.lua).
 */
const at = { total: 33, text: 94 };

/**
 * The ledger of one client of a sliding window with as many permits as its log may have entries, at times set by the
 * test.
 */
export function longLedger(
  redis: Redis,
  permits: number,
  clientId = 'me',
): { ledger: ControlledLedger; at: { us: number } } {
  const time = { us: (newest - 100) * 1000 };
  const limits = [slidingWindow({ permits, interval, resolution: 1 })];
  const config = { name: 'log', prefix, clientId, names: [''], limits };
  return { ledger: openRedisLedger(config, scriptsOf(redis), () => time.us), at: time };
}

/** Fills a log with so many entries of one permit, a millisecond apart, the last one at `newest`. */
export async function fillLog(redis: Redis, entries: number, permits: number): Promise<void> {
  await redis.flushall();
  const { ledger, at: time } = longLedger(redis, permits);
  // So many that the scripts give them a key of their own.
  for (; time.us <= newest * 1000; time.us += 1000)
    await new Promise((resolve) => ledger.decide([1], resolve));
  const held = (await redis.getBuffer(key))!;
  const own = await redis.llen(`${key}:log:`);
  // Behind the text.
  const list = at.text + `s${permits},${interval},1]`.length;
  const [oldest, length] = [held.readUIntLE(list, 6), held.readUInt32LE(list + 6)];
  const more = entries - own - 1;
  const add = `for i = 1, tonumber(ARGV[1]), 1000 do
      local entries = {}
      for j = i, math.min(i + 999, tonumber(ARGV[1])) do entries[#entries + 1] = struct.pack('<dd', tonumber(ARGV[2]) - j, 1) end
      redis.call('LPUSH', KEYS[1], unpack(entries))
    end`;
  await redis.eval(add, 1, `${key}:log:`, more, oldest);
  held.writeUIntLE(held.readUIntLE(at.total, 6) + more, at.total, 6);
  held.writeUIntLE(oldest - more, list, 6);
  held.writeUInt32LE(length + more, list + 6);
  await redis.set(key, held, 'KEEPTTL');
}

/** Milliseconds for which the server's processor has worked. */
export async function worked(redis: Redis): Promise<number> {
  const times = [...(await redis.info('cpu')).matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)];
  return times.reduce((sum, [, seconds]) => sum + Number(seconds) * 1_000, 0);
}

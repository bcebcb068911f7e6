import type { Redis } from 'ioredis';
import { redissonKeys } from '../../../src/redisson/keys.ts';
import type { Script } from '../../../src/stores/redis/script.ts';
import { scriptOf } from '../../../src/stores/redis/scripts.ts';
import { acquireScript } from '../../support/jvmScripts.ts';
import { plainTexts } from '../plainTexts.ts';
import { api } from '../redissonSuite.ts';
import { type ClientId, clients, readSnapshot, type Snapshot, snapshotScript } from './snapshot.ts';
import { clock, scaled, timed } from './virtualTime.ts';

/**
 * Sets the time, and expires keys by then. KEYS: the clock, and all keys that may expire; ARGV: seconds, and
 * microseconds.
 */
const tickScript = `
redis.call('HSET', KEYS[1], 's', ARGV[1], 'us', ARGV[2])
local now = ARGV[1] * 1000 + math.floor(ARGV[2] / 1000)
for i = 2, #KEYS do
  local ends = redis.call('PEXPIRETIME', KEYS[i])
  if ends >= 0 and ends <= now then redis.call('DEL', KEYS[i]) end
end`;

/** The keys of a limiter for each of its clients. */
export const keysOf = {
  a: redissonKeys(api, 'a'),
  b: redissonKeys(api, 'b'),
} satisfies Record<ClientId, unknown>;

export const lineOf = (client: ClientId) => `line-${client}`;

const every = [
  ...new Set(clients.flatMap((client) => [...keysOf[client].all, keysOf[client].sequence(lineOf(client))])),
];
const [config, value, permits, valueOfA, permitsOfA] = keysOf.a.original;
const [, , , valueOfB, permitsOfB] = keysOf.b.original;
const shown = [config, value, permits, valueOfA, permitsOfA, valueOfB, permitsOfB];

/** A real server with the real scripts, ours and a JVM client's, at a time set by the test. */
export class VirtualRedis {
  /** The scripts by name; `take` is a JVM client's. */
  readonly scripts: Record<keyof typeof plainTexts | 'take', Script>;
  readonly #tick: Script;
  readonly #snapshot: Script;

  constructor(readonly redis: Redis) {
    const texts = { ...scaled(plainTexts), take: acquireScript('4.6') };
    this.scripts = Object.fromEntries(
      Object.entries(texts).map(([name, lua]) => [name, scriptOf(redis, `lives_${name}`, timed(lua))]),
    ) as typeof this.scripts;
    this.#tick = scriptOf(redis, 'lives_tick', tickScript);
    this.#snapshot = scriptOf(redis, 'lives_snapshot', snapshotScript);
  }

  /** Starts again at a time: epoch microseconds. */
  async start(us: number): Promise<void> {
    await this.redis.flushall();
    await this.setTime(us);
  }

  async setTime(us: number): Promise<void> {
    await this.#tick([clock, ...every], [Math.floor(us / 1_000_000), us % 1_000_000]);
  }

  async snapshot(): Promise<Snapshot> {
    return readSnapshot(await this.#snapshot(shown, []));
  }
}

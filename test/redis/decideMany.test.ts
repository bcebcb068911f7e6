// Several decisions in one call, and the same ones in calls of their own, at the same times: the replies and the keys are equal.
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import { argumentOf, specOf } from '../../src/stores/redis/spec.ts';
import type { ControlledLedger, Reply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';

let server: RedisServer;
let redis: Redis;
test.before(async () => {
  server = await startRedis();
  redis = new Redis(server.port);
});
test.after(async () => {
  redis.disconnect();
  await server.stop();
});

const limits: Limit[] = [
  slidingWindow({ permits: 3, interval: 40 }),
  slidingWindow({ permits: 60, interval: 3_000, resolution: 7 }),
  fixedWindow({ permits: 4, interval: 50 }),
  fixedWindow({ permits: 3, interval: 50, align: 'epoch' }),
  tokenBucket({ permits: 2, interval: 30, burst: 5 }),
  // More permits than a number of ioredis can hold.
  tokenBucket({ permits: 2 ** 53 - 2, interval: 1 }),
];
const users = 5;

type Event = 'rate' | 'pause' | 'reset' | 'reserve' | 'garbage' | 'other type' | 'head' | 'control';

interface Step {
  /** Microseconds since the step before. */
  after: number;
  decisions: number[];
  event?: { kind: Event; user: number };
}

/** One of the two sides: the same limiters under another name. */
class Side {
  readonly #name: string;
  readonly #ledgers: ControlledLedger[];
  readonly #limit: Limit;
  us = 1_700_000_000_000_123;

  constructor(name: string, limit: Limit) {
    this.#name = name;
    this.#limit = limit;
    const config = { name, prefix: 'p', clientId: 'other', names: [''], limits: [limit] };
    this.#ledgers = Array.from({ length: users }, (_, user) =>
      openRedisLedger({ ...config, key: String(user) }, scriptsOf(redis), () => this.us),
    );
  }

  #keys(user: number): string[] {
    const tag = `{p:${this.#name}%:${user}}`;
    return [tag, `${tag}:contenders`, `${tag}:control`, `${tag}:log:`];
  }

  #few(user: number): string[] {
    const [ledger, , control] = this.#keys(user);
    return [ledger, control];
  }

  get #shared(): string[] {
    return [argumentOf(specOf([''], [this.#limit])), '0me'];
  }

  /** A decision in a call of its own. */
  async decide(user: number): Promise<unknown> {
    const { decide } = scriptsOf(redis);
    const args = [...this.#shared, 1, this.us];
    const few = await decide(this.#few(user), args);
    return few === 0 ? shown(() => decide(this.#keys(user), args), this.#name) : few;
  }

  async decideMany(decisions: number[], count: number): Promise<unknown[]> {
    const { decideMany } = scriptsOf(redis);
    const keys = decisions.flatMap((user) => (count === 2 ? this.#few(user) : this.#keys(user)));
    const replies = (await decideMany(keys, [...this.#shared, count, this.us])) as unknown[];
    assert.is(replies.length, decisions.length);
    for (const [i, user] of decisions.entries()) if (replies[i] === 0) replies[i] = await this.decide(user);
    return replies;
  }

  async happen({ kind, user }: NonNullable<Step['event']>): Promise<unknown> {
    const ledger = this.#ledgers[user];
    const [key, , control] = this.#keys(user);
    const wait = (call: (reply: Reply<unknown>) => void) =>
      shown(
        () =>
          new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value)))),
        this.#name,
      );
    if (kind === 'rate') {
      const change = {
        limits: [fixedWindow({ permits: 2, interval: 90 })],
        ifAbsent: false,
        keepState: true,
      };
      return wait((reply) => ledger.setRate(change, reply));
    }
    if (kind === 'pause') return wait((reply) => ledger.pause(300, reply));
    if (kind === 'reset') return wait((reply) => ledger.forget({ rate: true }, reply));
    if (kind === 'reserve') {
      const runs = [{ count: 2, maxWait: Infinity, cost: [2] }];
      return wait((reply) => ledger.reserve({ runs, horizon: 30, held: 0, epoch: 0 }, reply));
    }
    if (kind === 'control') return redis.set(control, 'no control');
    if (kind === 'garbage') return redis.set(key, 'x'.repeat(200));
    // A number of the head.
    if (kind === 'head') return shown(() => redis.setrange(key, 30, '\xff\xff'), this.#name);
    await redis.del(key);
    return redis.hset(key, 'a', 1);
  }

  /** All keys with their values. They no longer expire: the server's time is not that of the history. */
  async state(): Promise<[string, string | undefined][]> {
    const keys = (await redis.keys(`{p:${this.#name}%*`)).sort();
    await Promise.all(keys.map((key) => redis.persist(key)));
    const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    return keys.map((key, i) => [key.replace(this.#name, '?'), dumps[i]?.toString('hex')]);
  }
}

/** The result of a call, or its error without the side's name. */
async function shown(call: () => Promise<unknown>, name: string): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return String(error).replaceAll(name, '?');
  }
}

const user = fc.nat({ max: users - 1 });
const event = fc.record({
  kind: fc.constantFrom<Event>(
    'rate',
    'pause',
    'reset',
    'reserve',
    'garbage',
    'other type',
    'head',
    'control',
  ),
  user,
});
const step: fc.Arbitrary<Step> = fc.record(
  {
    after: fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 80_000 })),
    decisions: fc.array(user, { minLength: 1, maxLength: 16 }),
    event: fc.oneof({ weight: 1, arbitrary: event }, { weight: 3, arbitrary: fc.constant(undefined) }),
  },
  { requiredKeys: ['after', 'decisions'] },
) as fc.Arbitrary<Step>;

for (const count of [2, 4])
  promise(
    `decisions of ${count} keys in one call are those in calls of their own`,
    300,
    fc.record({ limit: fc.constantFrom(...limits), steps: fc.array(step, { minLength: 1, maxLength: 30 }) }),
    async ({ limit, steps }) => {
      await redis.flushall();
      const [one, many] = [new Side('alone', limit), new Side('share', limit)];
      for (const { after, decisions, event } of steps) {
        for (const side of [one, many]) side.us += after;
        const alone: unknown[] = [];
        for (const user of decisions) alone.push(await one.decide(user));
        assert.equal(await many.decideMany(decisions, count), alone);
        if (event) assert.equal(await many.happen(event), await one.happen(event));
        assert.equal(await many.state(), await one.state());
      }
    },
  );

test.run();

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import * as assert from 'uvu/assert';
import { type FallbackOptions, StoreUnavailableError } from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { unexplained } from '../support/anyClient.ts';
import { type Link, startLink } from '../support/link.ts';
import { randomOf } from '../support/seed.mjs';
import { until } from '../support/until.ts';
import { recordedLimiter } from './histories.ts';
import { assertAllEnded, Load } from './load.ts';
import { standing } from './requests.ts';

const test = redisSuite('bad links');
const spec = { kind: 'slidingWindow', permits: 40, interval: 400, resolution: 1 } as const;

interface Linked {
  link: Link;
  redis: Redis;
  load: Load;
}

/** Two limiters under load, each over its own link. */
async function linked(
  { server, connect, afterwards }: OnRedis,
  {
    name = 'linked',
    options = {},
    fallback,
  }: { name?: string; options?: RedisOptions; fallback?: FallbackOptions } = {},
): Promise<Linked[]> {
  const open = async (i: number): Promise<Linked> => {
    const link = await startLink(server.port, randomOf(`link ${i}`));
    afterwards(() => link.close());
    const redis = connect({ port: link.port, maxRetriesPerRequest: null, ...options });
    const load = new Load(recordedLimiter(name, spec, redis, { fallback }), 8, redis);
    return { link, redis, load };
  };
  return Promise.all([1, 2].map(open));
}

const grantsOf = (all: readonly Linked[]) => all.flatMap(({ load }) => load.requests.permits);
const errorsOf = (all: readonly Linked[]) => all.flatMap(({ load }) => load.requests.errors);

async function granted(all: readonly Linked[], more: number): Promise<void> {
  const before = grantsOf(all).length;
  await until('grants go on', async () => grantsOf(all).length >= before + more);
}

test('slow and unsteady links: never exceeds the limit, in order, nothing early, and no errors', async (context) => {
  const all = await linked(context);
  for (const { link } of all) Object.assign(link, { latency: 5, jitter: 40 });
  await granted(all, 160);
  await assertAllEnded(all.map(({ load }) => load));
  assert.equal(unexplained(errorsOf(all)), []);
  assert.is(overSliding(spec, standing(grantsOf(all))), undefined);
});

test('connections reset in the middle of replies: never exceeds the limit, in order, and grants every request', async (context) => {
  const all = await linked(context);
  const faults: number[] = [];
  for (let i = 0; i < 15; i++) {
    faults.push(Date.now());
    all[i % 2].link.resetReplies(1 + (i % 3));
    await granted(all, 4);
  }
  await assertAllEnded(
    all.map(({ load }) => load),
    { faults },
  );
  const resets = all.reduce((sum, { link }) => sum + link.resets, 0);
  assert.ok(resets >= 10, `${resets} resets`);
  assert.equal(unexplained(errorsOf(all)), []);
  assert.is(overSliding(spec, standing(grantsOf(all))), undefined);
});

const harms: [title: string, harm: (link: Link) => void][] = [
  ['a half-open connection', (link) => link.halfOpen()],
  ['a link that loses requests', (link) => link.silence('requests')],
  ['a link that loses replies', (link) => link.silence('replies')],
];

test('half-open connections and one-way links, with a fallback: rejects in time, the other process continues, never exceeds the limit', async (context) => {
  const fallback = { mode: 'reject', timeout: 200, cooldown: 50 } as const;
  await Promise.all(harms.map(([title, harm]) => suffer(title, harm)));

  async function suffer(name: string, harm: (link: Link) => void): Promise<void> {
    const all = await linked(context, { name, fallback });
    const [{ link, load }, other] = all;
    await granted(all, 40);
    const faults: number[] = [];
    for (let i = 0; i < 2; i++) {
      faults.push(Date.now());
      const failed = load.requests.errors.length;
      harm(link);
      await until(`rejected: ${name}`, async () => load.requests.errors.length > failed + 8);
      await granted([other], 20);
      link.heal();
      await granted([all[0]], 20);
    }
    await assertAllEnded(
      all.map((one) => one.load),
      { faults },
    );
    for (const error of load.requests.errors) assert.instance(error, StoreUnavailableError, name);
    assert.is(overSliding(spec, standing(grantsOf(all))), undefined, name);
  }
});

test('the same with the socket timeout of ioredis: requests wait for a new connection, never exceeds the limit', async (context) => {
  await Promise.all(harms.map(([title, harm]) => suffer(title, harm)));

  async function suffer(name: string, harm: (link: Link) => void): Promise<void> {
    const all = await linked(context, { name, options: { socketTimeout: 200 } });
    const [{ link }, other] = all;
    await granted(all, 40);
    const harmed = Date.now();
    harm(link);
    await granted([other], 20);
    await sleep(300);
    link.heal();
    await granted([all[0]], 20);
    await assertAllEnded(
      all.map(({ load }) => load),
      { faults: [harmed] },
    );
    assert.equal(unexplained(errorsOf(all)), [], name);
    assert.is(overSliding(spec, standing(grantsOf(all))), undefined, name);
  }
});

test.run();

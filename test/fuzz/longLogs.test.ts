import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { StoreError, slidingWindow } from '../../src/index.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { cases } from '../support/cases.ts';
import { fillLog, interval, longLedger, newest, worked } from './longLog.ts';

const test = redisSuite('long logs');

/** The most milliseconds of the server's processor that a call may take, in the quickest of its tries. */
const bound = 5;
const tries = 6;
/** The factor by which a call may take longer while other tests use the machine, and its caches. */
const busy = 3;
/** The most entries that a call reads, and the fewest that it reads with one command on the list. */
const mostRead = 4_352;
const chunk = 128;

/** How often the scripts have called a command on the list of a log. */
async function listCalls(redis: Redis): Promise<number> {
  const calls = [...(await redis.info('commandstats')).matchAll(/cmdstat_(?:l\w+|rpush):calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

type Call = (ledger: ControlledLedger, permits: number) => Promise<unknown>;
const promised =
  (
    call: (ledger: ControlledLedger, permits: number, reply: (e: Error | null, r?: unknown) => void) => void,
  ): Call =>
  (ledger, permits) =>
    new Promise((resolve) => call(ledger, permits, (error, reply) => resolve(error ?? reply)));

const limitOf = (permits: number) => slidingWindow({ permits, interval, resolution: 1_000 });
const reserve = (permits: number, maxWait: number) => ({
  runs: [{ count: 1, cost: [permits], maxWait }],
  ...{ horizon: 1, held: 0, epoch: 0 },
});
const promisedReserve = promised((ledger, permits, reply) =>
  ledger.reserve(reserve(permits, Infinity), reply),
);

/** Calls that need most of a log of so many permits. */
const calls: Record<string, Call> = {
  'a decision for the whole limit': promised((ledger, permits, reply) => ledger.decide([2 * permits], reply)),
  'a decision for half of the log': promised((ledger, permits, reply) =>
    ledger.decide([1.5 * permits], reply),
  ),
  'a reserve for half of the log': promised((ledger, permits, reply) =>
    ledger.reserve(reserve(1.5 * permits, Infinity), reply),
  ),
  'a release of a thousand entries': promised((ledger, _, reply) =>
    ledger.refund([{ moment: -1, epoch: 0, source: 'redis', cost: [1_000], count: 1 }], 1, reply),
  ),
  'a look-up': promised((ledger, _, reply) => ledger.peek(reply)),
  'another limit': promised((ledger, permits, reply) =>
    ledger.setRate({ limits: [limitOf(permits)], ifAbsent: false, keepState: true }, reply),
  ),
};

/** When the calls are made: milliseconds after the newest entry. */
const moments = {
  'no entry has expired': 0,
  'all entries but the newest have expired': interval - 1,
};

// As many as an honest log may have, and as many as a damaged or hostile one.
for (const [entries] of cases([3_048, 1_000_000]))
  test(`no call takes more than ${bound} ms of the server, or reads more entries than the bound, on a log of ${entries}`, async ({
    redis,
  }) => {
    await fillLog(redis, entries, 2 * entries);
    const keys = await redis.keys('*');
    for (const key of keys) await redis.copy(key, `kept ${key}`);
    let isChanged = false;
    for (const [when, after] of Object.entries(moments))
      for (const [title, call] of Object.entries(calls)) {
        let least = Infinity;
        for (let i = 0; i < tries && least > bound * busy; i++) {
          if (isChanged) for (const key of keys) await redis.copy(`kept ${key}`, key, 'REPLACE');
          const { ledger, at } = longLedger(redis, 2 * entries);
          at.us = (newest + after) * 1_000;
          // The script is known, so that only its run is measured.
          await redis.config('RESETSTAT');
          const before = await worked(redis);
          const reply = await call(ledger, entries);
          // A refused call writes nothing.
          isChanged = !(reply instanceof Error);
          least = Math.min(least, (await worked(redis)) - before);
          const count = await listCalls(redis);
          assert.ok(count <= mostRead / chunk + 40, `${title}, ${when}: ${count} calls to the list`);
          if (!(reply instanceof Error)) continue;
          assert.ok(entries > mostRead, `${title}, ${when}: ${reply.message}`);
          assert.instance(reply, StoreError);
          assert.match(
            reply.message,
            'the key {long:log}:log: holds no log of its ledger: found more entries than an interval has; reset() deletes it',
          );
        }
        assert.ok(least <= bound * busy, `${title}, ${when}: ${least.toFixed(1)} ms`);
      }
  });

const contenders = [
  ['a hundred thousand', 100, 'inf'],
  ['a hundred thousand', 100, String(newest + interval)],
  ['a million', 1_000, '1'],
] as const;
for (const [[count, thousands, score]] of cases(contenders))
  test(`${count} contenders take no call more than ${bound} ms of the server, with scores of ${score}`, async ({
    redis,
  }) => {
    await fillLog(redis, 1_000, 1_000);
    const add = `for i = 1, tonumber(ARGV[2]) do
        local members = {}
        for j = 1, 1000 do members[2 * j - 1], members[2 * j] = ARGV[1], i .. ' ' .. j end
        redis.call('ZADD', KEYS[1], unpack(members))
      end`;
    await redis.eval(add, 1, '{long:log}:contenders', score, thousands);
    const ledgers = ['a', 'b'].map((clientId) => longLedger(redis, 1_000, clientId));
    for (const { at } of ledgers) at.us = newest * 1_000;
    for (const call of [promisedReserve, calls['a look-up']]) {
      let least = Infinity;
      for (let i = 0; i < tries && least > bound * busy; i++) {
        for (const { ledger } of ledgers) await call(ledger, 1);
        const before = await worked(redis);
        for (const { ledger } of ledgers) await call(ledger, 1);
        least = Math.min(least, ((await worked(redis)) - before) / 2);
      }
      assert.ok(least <= bound * busy, `${least.toFixed(1)} ms`);
    }
  });

test.run();

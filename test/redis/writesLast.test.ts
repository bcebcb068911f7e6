import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger, Refund } from '../../src/stores/store.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
import { ledgerOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('writes last');
const start = 1_700_000_000_000;
const log = '{p:n}:log:';

/** A ledger with a clock that the test moves. */
interface Timed {
  ms: number;
  /** The number of permits granted at once; -1 if the call fails. */
  take(count: number): Promise<number>;
  /** The number of permits granted or reserved; -1 if the call fails. */
  reserve(count: number): Promise<number>;
  refund(moment: number, count: number): Promise<boolean>;
  setRate(limit: Limit): Promise<void>;
}

function timed(redis: Redis, limit: Limit): Timed {
  const config = { name: 'n', prefix: 'p', clientId: 'me', names: [''], limits: [limit] };
  const clock = { ms: start };
  const ledger: ControlledLedger = openRedisLedger(config, scriptsOf(redis), () => clock.ms * 1000);
  let epoch = 0;
  let sequence = 0;
  const reserve = (count: number, maxWait: number) =>
    new Promise<number>((resolve) =>
      ledger.reserve(
        { runs: [{ count, cost: [1], maxWait }], horizon: 1e9, held: 0, epoch },
        (error, reply) => {
          if (!error) epoch = reply!.epoch;
          const granted = reply?.segments.filter(({ delay }) => delay >= 0) ?? [];
          resolve(error ? -1 : granted.reduce((sum, { count }) => sum + count, 0));
        },
      ),
    );
  return Object.assign(clock, {
    take: (count: number) => reserve(count, 0),
    reserve: (count: number) => reserve(count, Infinity),
    refund: (moment: number, count: number) =>
      new Promise<boolean>((resolve) => {
        const refunds: Refund[] = [{ moment, epoch, source: 'redis', cost: [1], count }];
        ledger.refund(refunds, ++sequence, (error) => resolve(!error));
      }),
    setRate: (limit: Limit) =>
      new Promise<void>((resolve, reject) =>
        ledger.setRate({ limits: [limit], ifAbsent: false, keepState: true }, (error) =>
          error ? reject(error) : resolve(),
        ),
      ),
  });
}

const exact = slidingWindow({ permits: 50, interval: 1000, resolution: 1 });

for (const command of ['ltrim', 'lset', 'rpush', 'pexpire', 'del', 'lrange', 'set'])
  test(`without permission for ${command}, grants never exceed a window`, async ({
    server,
    redis,
    connect,
  }) => {
    await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', '~*');
    const ledger = timed(connect({ username: 'limited', password: 'secret' }), exact);
    /** The moments of the grants. A call that fails grants nothing. */
    let grants: number[] = [];
    let failed = 0;
    async function take(count: number): Promise<void> {
      const granted = await ledger.take(count);
      failed += granted < 0 ? 1 : 0;
      for (let i = 0; i < granted; i++) grants.push(ledger.ms);
      const counted = grants.filter((ms) => ms > ledger.ms - 1000).length;
      assert.ok(counted <= 50, `${counted} of 50, ${ledger.ms - start} ms after the start`);
    }
    async function refundOne(): Promise<void> {
      const moment = grants[Math.floor(grants.length / 2)];
      grants.splice(grants.indexOf(moment), 1);
      if (!(await ledger.refund(moment, 1))) failed++;
    }
    for (let i = 0; i < 60; i++) {
      // Once long enough for the full log to expire.
      ledger.ms += i === 45 ? 2000 : 40;
      await take(2);
      if (i === 5 || i === 20) await server.command('ACL', 'SETUSER', 'limited', `-${command}`);
      if (i === 12) await server.command('ACL', 'SETUSER', 'limited', `+${command}`);
      if (i % 3 === 2) await refundOne();
    }
    await server.command('ACL', 'SETUSER', 'limited', `+${command}`);
    for (let i = 0; i < 40; i++) {
      ledger.ms += 50;
      await take(5);
    }
    // Permits that were counted for too long have expired since.
    assert.ok(grants.filter((ms) => ms > ledger.ms - 1000).length >= 45);
    assert.ok(failed > 0, 'no call failed');
    grants = [];
    await redis.flushall();
  });

test('a list that is missing, shorter than the ledger states, or another one, frees no permit early', async ({
  redis,
}) => {
  const older = async () => {
    const entry = await redis.lindexBuffer(log, 0);
    entry!.writeDoubleLE(entry!.readDoubleLE(0) - 8, 0);
    entry!.writeDoubleLE(40, 8);
    await redis.lset(log, 0, entry!);
  };
  for (const spoil of [
    () => redis.del(log),
    () => redis.ltrim(log, 5, -1),
    () => redis.ltrim(log, 0, 5),
    older,
  ]) {
    await redis.flushall();
    const ledger = timed(redis, exact);
    for (let i = 0; i < 25; i++) {
      ledger.ms += 10;
      assert.is(await ledger.take(2), 2);
    }
    await spoil();
    ledger.ms += 755;
    assert.is(await ledger.take(50), 0);
    ledger.ms += 245;
    assert.is(await ledger.take(50), 50);
  }
});

test('a call that finds the list shorter than the ledger states is granted what is free then', async ({
  redis,
}) => {
  for (let count = 1; count <= 50; count++)
    for (const kind of ['reserve', 'debt']) {
      await redis.flushall();
      const ledger = timed(redis, exact);
      for (let i = 0; i < 25; i++) {
        ledger.ms += 10;
        assert.is(await ledger.take(2), 2);
      }
      await redis.ltrim(log, 0, -2);
      ledger.ms += 5;
      if (kind === 'debt') assert.ok(await ledger.refund(-2, count), `a debt of ${count}`);
      else assert.is(await ledger.reserve(count), count);
      // Once the call has missed an entry, all earlier permits count until the newest expires.
      ledger.ms += 994;
      const granted = await ledger.take(50);
      assert.ok(granted <= 50 - count && granted >= 0, `${granted} beside ${count}`);
    }
});

test('after a call that could not write the ledger, no permit is granted again ahead of reservations', async ({
  server,
  connect,
}) => {
  await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', '~*');
  const redis = connect({ username: 'limited', password: 'secret' });
  const limits = {
    fast: slidingWindow({ permits: 10, interval: 1000, resolution: 1 }),
    slow: slidingWindow({ permits: 1, interval: 8000, resolution: 1 }),
  };
  let ms = start;
  const [holder, ledger] = ['me', 'another'].map((clientId) =>
    ledgerOf(redis, limits, { clientId, serverTime: () => ms * 1000 }),
  );
  const take = async () => (await ledger.decide([1, 0])).granted;
  await holder.reserve([1, 1], { count: 2, maxWait: Infinity });
  for (let i = 0; i < 9; i++) {
    ms += 50;
    assert.ok(await take());
  }
  // The first permit has expired. The call takes it out of the list.
  ms += 551;
  await server.command('ACL', 'SETUSER', 'limited', '-set');
  assert.instance(await take().catch((error) => error), Error);
  await server.command('ACL', 'SETUSER', 'limited', '+set');
  let granted = 0;
  for (let i = 0; i < 20; i++) granted += (await take()) ? 1 : 0;
  assert.ok(granted <= 1, `${granted} beside nine in the last second`);
});

// To the client that made them, its reservations do not stand any more if it does not tell of them.
for (const clientId of ['me', 'another'])
  test(`a list that is missing or shorter frees no permit ahead of reservations, asked for by ${clientId}`, async ({
    redis,
  }) => {
    const log = '{p:n}:log:fast';
    const fast = slidingWindow({ permits: 30, interval: 40_000, resolution: 1 });
    const slow = slidingWindow({ permits: 1, interval: 3000, resolution: 1 });
    for (const [what, spoil] of [
      ['missing', () => redis.del(log)],
      ['without its first entry', () => redis.ltrim(log, 1, -1)],
      ['without its last entry', () => redis.ltrim(log, 0, -2)],
      ['without its last entries', () => redis.ltrim(log, 0, -4)],
    ] as const)
      for (const asked of [4, 40]) {
        await redis.flushall();
        let ms = start;
        const [holder, ledger] = ['me', clientId].map((clientId) =>
          ledgerOf(redis, { fast, slow }, { clientId, serverTime: () => ms * 1000 }),
        );
        /** Asks for so many permits, one by one. Returns the number of those that were granted. */
        const take = async (count: number) => {
          let taken = 0;
          for (let i = 0; i < count; i++) taken += (await ledger.decide([1, 0])).granted ? 1 : 0;
          return taken;
        };
        // One each three seconds, the last one after 57.
        await holder.reserve([1, 1], { count: 20, maxWait: Infinity });
        ms = start + 10;
        await spoil();
        const taken = await take(asked);
        assert.ok(taken <= 29, `${what}: ${taken} beside the first one`);
        ms = start + 60_000;
        const later = await take(5);
        // Those of the last reservation have expired.
        ms = start + 97_001;
        assert.equal(await ledger.peek(), [30 - later, 1], `${what}, after ${taken} and ${later}`);
      }
  });

test('permits that were granted ahead of reservations of a lost list are not granted again', async ({
  redis,
}) => {
  const fast = slidingWindow({ permits: 30, interval: 40_000, resolution: 1 });
  const slow = slidingWindow({ permits: 1, interval: 3000, resolution: 1 });
  let ms = start;
  const [holder, other] = ['me', 'another'].map((clientId) =>
    ledgerOf(redis, { fast, slow }, { clientId, serverTime: () => ms * 1000 }),
  );
  // The first one that needs both is more than an interval ahead.
  await holder.reserve([0, 1], { count: 15, maxWait: Infinity });
  await holder.reserve([1, 1], { count: 5, maxWait: Infinity });
  ms += 10;
  await redis.del('{p:n}:log:fast');
  assert.ok((await holder.decide([20, 0])).granted);
  assert.not((await other.decide([11, 0])).granted);
});

test('requests go on after the list was lost', async ({ redis }) => {
  const ledger = timed(redis, exact);
  for (let i = 0; i < 25; i++) {
    ledger.ms += 10;
    assert.is(await ledger.take(1), 1);
  }
  assert.ok((await redis.del(log)) === 1);
  for (let i = 0; i < 25; i++) {
    ledger.ms += 10;
    assert.is(await ledger.take(1), 1);
  }
  assert.is(await ledger.take(1), 0);
});

test('entries of a call that failed after pushing them do not count as granted', async ({
  server,
  connect,
}) => {
  await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', '~*');
  const ledger = timed(connect({ username: 'limited', password: 'secret' }), exact);
  const takeAt = (ms: number, count: number) => {
    ledger.ms = start + ms;
    return ledger.take(count);
  };
  for (const ms of [10, 20, 30, 40]) assert.is(await takeAt(ms, 1), 1);
  assert.is(await takeAt(200, 40), 40);
  await server.command('ACL', 'SETUSER', 'limited', '-set');
  // The list has lost its first entry, and got one that the ledger does not know.
  assert.is(await takeAt(1010, 1), -1);
  await server.command('ACL', 'SETUSER', 'limited', '+set');
  assert.is(await takeAt(1011, 1), 1);
  assert.is(await takeAt(1100, 1), 1);
  assert.is(await takeAt(1201, 60), 48);
});

test('after the interval was lengthened, the list lives as long', async ({ redis }) => {
  const ledger = timed(redis, slidingWindow({ permits: 12, interval: 1000, resolution: 1 }));
  for (let i = 0; i < 12; i++) {
    ledger.ms += 1;
    await ledger.take(1);
  }
  await ledger.setRate(slidingWindow({ permits: 12, interval: 3_600_000, resolution: 1 }));
  const left = await redis.pttl(log);
  assert.ok(left > 3_500_000, `${left} ms`);
});

test('the list holds only entries that count, however long the limiter works', async ({ redis }) => {
  const ledger = timed(redis, slidingWindow({ permits: 10, interval: 100, resolution: 1 }));
  for (let i = 0; i < 300; i++) {
    ledger.ms += 10;
    assert.is(await ledger.take(1), 1);
  }
  assert.ok((await redis.llen(log)) <= 10);
});

const numbers: [string, number][] = [
  ['not a number', Number.NaN],
  ['infinite', Infinity],
  ['less than any', -Infinity],
  ['out of range', 2 ** 61],
];
/** Where the numbers of its kind begin in a small ledger. */
const ofKind = 33;
const limits: [string, Limit][] = [
  ['a sliding window', exact],
  ['a fixed window', fixedWindow({ permits: 50, interval: 1000 })],
  ['a token bucket', tokenBucket({ permits: 50, interval: 1000 })],
];

/** A ledger with fifty permits taken, and a number at a place of its text. */
async function withNumber(redis: Redis, limit: Limit, number: number, place: number) {
  await redis.flushall();
  const ledger = timed(redis, limit);
  await ledger.take(30);
  ledger.ms += 1;
  await ledger.take(20);
  const held = (await redis.getBuffer('{p:n}'))!;
  held.writeDoubleLE(number, place);
  await redis.set('{p:n}', held);
  return ledger;
}

// All other numbers of a small ledger are whole.
test('a token bucket grants nothing if its level is NaN or infinite', async ({ redis }) => {
  for (const [what, number] of numbers) {
    const ledger = await withNumber(redis, limits[2][1], number, ofKind);
    assert.is(await ledger.take(50), -1, what);
    assert.is(await ledger.reserve(1), -1, what);
  }
});

for (const [title, limit] of limits)
  test(`${title} answers soon, whatever numbers its ledger holds`, async ({ redis }) => {
    for (let place = 2; place < ofKind + 50; place += 3)
      for (const number of [1e300, -1e300, 2 ** 60, -1, 0.5]) {
        const ledger = await withNumber(redis, limit, number, place);
        const began = performance.now();
        await ledger.take(1);
        await ledger.refund(ledger.ms, 1);
        assert.ok(performance.now() - began < 2000, `${place} is ${number}`);
      }
  });

test.run();

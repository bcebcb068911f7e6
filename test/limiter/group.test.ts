import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError, PermitsExceedLimitError } from '../../src/errors.ts';
import { KeyedLimiters, room } from '../../src/limiter/keyedLimiters.ts';
import { KeyedLine } from '../../src/limiter/keyedLine.ts';
import { sharedParts } from '../../src/limiter/limiterParts.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { assertRefuses, missing, noObject, noString, rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { collectGarbage } from '../support/garbage.ts';
import { lateStore } from '../support/lateStore.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });

/** As many other keys as evict every limiter that is idle and unused meanwhile: two rounds of the clock hand. */
const others = 1.5 * room;

function crowd(group: RateLimiterGroup, name = 'other'): void {
  for (let i = 0; i < others; i++) group.get(`${name} ${i}`);
}

timed('each key has a limit of its own', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const tries = ['a', 'a', 'b', ''].map((key) => group.get(key).tryAcquire(3));
  assert.equal(await Promise.all(tries), [true, false, true, true]);
  assert.is(await group.get('a').availablePermits(), 2);
  assert.is(group.size, 3);
});

timed('a key has one limiter', () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  assert.is(group.get('a'), group.get('a'));
  assert.is.not(group.get('a'), group.get('b'));
});

timed('the limit may depend on the key, and the function is called once for each limiter', async () => {
  const asked: string[] = [];
  const group = new RateLimiterGroup({
    name: 'api',
    limit: (key) => {
      asked.push(key);
      return fixedWindow({ permits: key.length, interval: 1000 });
    },
  });
  for (const key of ['four', 'eleven', 'four'])
    assert.is(await group.get(key).availablePermits(), key.length);
  assert.equal(asked, ['four', 'eleven']);
});

timed('a function of the key may return a record of limits', async () => {
  const group = new RateLimiterGroup({
    name: 'api',
    limit: (key) => ({ requests: limit, tokens: tokenBucket({ permits: key.length, interval: 1000 }) }),
  });
  await group.get('four').acquire({ requests: 1, tokens: 3 });
  assert.equal(await group.get('four').availablePermits({ detail: true }), { requests: 4, tokens: 1 });
});

timed('groups of one name share each key, where they share a store', async () => {
  const store = memoryStore();
  const [one, other] = [0, 1].map(() => new RateLimiterGroup({ name: 'api', limit, store }));
  await one.get('a').acquire(3);
  assert.is(await other.get('a').availablePermits(), 2);
  assert.is(await other.get('b').availablePermits(), 5);
});

timed('messages name the group and the key', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const error = await rejection(group.get('acme').acquire(6));
  assert.instance(error, PermitsExceedLimitError);
  assert.match(error.message, '"api:acme"');
});

const odd = [
  'a',
  'b',
  'a:b',
  'b:c',
  ':',
  '::',
  '%',
  '%:',
  '%3a',
  '%25',
  '}',
  '{',
  '__proto__',
  'null',
  '", "',
];
const text = fc.oneof(
  fc.constantFrom(...odd, '\ud800', '\\ud800'),
  fc.array(fc.constantFrom(...':%{}"\\ab3'), { minLength: 1, maxLength: 4 }).map((all) => all.join('')),
);

test('keys of groups and limiters share nothing, whatever their names', () =>
  fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(text, fc.option(text, { nil: undefined })), {
        minLength: 2,
        maxLength: 6,
        selector: (pair) => JSON.stringify(pair),
      }),
      async (pairs) => {
        const store = memoryStore();
        const open = ([name, key]: [string, string | undefined]) =>
          key === undefined
            ? new RateLimiter({ name, limit, store })
            : new RateLimiterGroup({ name, limit, store }).get(key);
        for (const [i, pair] of pairs.entries()) assert.ok(await open(pair).tryAcquire((i % 5) + 1));
        for (const [i, pair] of pairs.entries())
          assert.is(await open(pair).availablePermits(), 4 - (i % 5), JSON.stringify(pair));
      },
    ),
  ));

timed('limiters whose name and key join to the same text share nothing', async () => {
  const store = memoryStore();
  const limiters = [
    new RateLimiterGroup({ name: 'a', limit, store }).get('b:c'),
    new RateLimiterGroup({ name: 'a:b', limit, store }).get('c'),
    new RateLimiterGroup({ name: 'a:b:c', limit, store }).get(''),
    new RateLimiter({ name: 'a:b:c', limit, store }),
  ];
  for (const [i, limiter] of limiters.entries()) await limiter.acquire(i + 1);
  for (const [i, limiter] of limiters.entries()) assert.is(await limiter.availablePermits(), 4 - i);
});

timed(
  'many keys over time leave a bounded number of limiters, and their grants are not forgotten',
  async (clock) => {
    const group = new RateLimiterGroup({ name: 'api', limit });
    let most = 0;
    for (let i = 0; i < others; i++) {
      if (i % (room / 4) === 0) clock.tick(10);
      await group.get(`key ${i}`).tryAcquire();
      most = Math.max(most, group.size);
    }
    assert.is(await group.get('key 1').availablePermits(), 4);
    assert.ok(most <= 1.2 * room, `${most} limiters at once`);
  },
);

timed('no limiter with waiting requests or reservations is evicted', async (clock) => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const limiters = Array.from({ length: 3_000 }, (_, i) => group.get(`busy ${i}`));
  const waiting = limiters.map((limiter) =>
    [limiter.acquire(5), limiter.acquire(5), limiter.acquire(5)].map(fateOf),
  );
  crowd(group);
  assert.ok(group.size >= 3_000 && group.size <= 4_010 + room, `${group.size}`);
  for (const [i, limiter] of limiters.entries()) assert.is(group.get(`busy ${i}`), limiter);
  await clock.tickAsync(2_000);
  for (const fates of waiting) assert.equal(times(fates), [0, 1_000, 2_000]);
  // All are idle now, and the limiters of new keys evict them.
  crowd(group, 'more');
  assert.ok(group.size <= 1.01 * room, `${group.size}`);
});

test('after a busy time, lookups of known keys evict the idle limiters beyond the room', () => {
  let isIdle = false;
  const limiters = new KeyedLimiters<number>(sharedParts({ name: 'api' }, {}, true));
  for (let i = 0; i < others; i++) {
    const line = new KeyedLine(limiters, `key ${i}`, { record: false, names: [''], limits: [limit] });
    Object.defineProperty(line, 'idle', { get: () => isIdle });
    line.limiter = i + 1;
    limiters.add(line);
  }
  assert.is(limiters.size, others);
  isIdle = true;
  for (let i = 0; i < 4 * room; i++) assert.ok(limiters.find('key 0'));
  assert.is(limiters.size, room);
});

timed('a limiter in use stays, and an idle one is evicted', () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const [used, unused] = [group.get('used'), group.get('unused')];
  for (let i = 0; i < others; i++) {
    group.get(`other ${i}`);
    assert.is(group.get('used'), used);
  }
  assert.is.not(group.get('unused'), unused);
});

timed('an evicted limiter still works, and shares its limit with the new one of its key', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const kept = group.get('a');
  await kept.acquire(2);
  crowd(group);
  const anew = group.get('a');
  assert.is.not(anew, kept);
  assert.is(await anew.availablePermits(), 3);
  await kept.acquire(2);
  assert.is(await anew.availablePermits(), 1);
});

timed('the limiter that replaces an evicted one counts anew, and emits events of its own', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const kept = group.get('a');
  let events = 0;
  kept.events$.subscribe(() => events++);
  await kept.acquire();
  const before = events;
  assert.ok(before > 0);
  assert.is(kept.stats().granted, 1);
  crowd(group);
  const anew = group.get('a');
  assert.is.not(anew, kept);
  assert.is(anew.stats().granted, 0);
  let eventsAnew = 0;
  anew.events$.subscribe(() => eventsAnew++);
  await anew.acquire();
  assert.is(events, before);
  assert.ok(eventsAnew > 0);
});

timed(
  'a limiter that was evicted before its first use shares its limit with the new one of its key',
  async () => {
    const group = new RateLimiterGroup({ name: 'api', limit });
    const kept = group.get('a');
    crowd(group);
    const anew = group.get('a');
    await anew.acquire(2);
    await kept.acquire(2);
    assert.is(await anew.availablePermits(), 1);
  },
);

timed('an evicted limiter that is used again is that of its key', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const kept = group.get('a');
  crowd(group);
  const waits = [kept.acquire(5), kept.acquire()].map(fateOf);
  assert.is(group.get('a'), kept);
  await group.close();
  assert.instance(waits[1].reason, LimiterClosedError);
});

test('of two limiters of a key, the group counts each once, and finds the one that was there first', async () => {
  const limiters = new KeyedLimiters<number>(sharedParts({ name: 'api' }, {}, true));
  const named = { record: false, names: [''], limits: [limit] };
  const [first, second] = [1, 2].map((limiter) =>
    Object.assign(new KeyedLine<unknown, number>(limiters, 'a', named), { limiter }),
  );
  limiters.add(first);
  limiters.add(second);
  limiters.add(second);
  assert.is(limiters.size, 2);
  assert.is(limiters.find('a'), first.limiter);
  limiters.forget('a');
  assert.is(limiters.find('a'), undefined);
  limiters.add(second);
  assert.is(limiters.size, 1);
  assert.is(limiters.find('a'), second.limiter);
  limiters.forget('a');
  assert.is(limiters.size, 0);
});

timed('closing the group closes the limiters of all keys, and leaves no timer', async (clock) => {
  const store = memoryStore();
  const group = new RateLimiterGroup({ name: 'api', limit, store });
  const dropped = group.get('dropped');
  crowd(group);
  const waits = ['a', 'b'].map(
    (key) => [group.get(key).acquire(5), group.get(key).acquire(5)].map(fateOf)[1],
  );
  await group.close();
  for (const { reason } of waits) assert.instance(reason, LimiterClosedError);
  assert.is(clock.countTimers(), 0);
  assert.throws(
    () => group.get('a'),
    (error: unknown) => error instanceof LimiterClosedError,
  );
  for (const call of [dropped.acquire(), dropped.tryAcquire(), dropped.decide(), dropped.availablePermits()])
    assert.instance(await rejection(call), LimiterClosedError);
  assert.is(clock.countTimers(), 0);
  await clock.tickAsync(1_000);
  // The reservation is refunded.
  const other = new RateLimiterGroup({ name: 'api', limit, store });
  assert.is(await other.get('a').availablePermits(), 5);
  await Promise.all([group.close(), group.close()]);
});

test('replies that arrive while a group is being closed grant nothing, and their permits are refunded', async () => {
  const store = memoryStore();
  const options = { name: 'api', limit };
  const group = new RateLimiterGroup({ ...options, store: lateStore(store) });
  const keys = Array.from({ length: 1_000 }, (_, i) => `key ${i}`);
  const ends = Promise.allSettled(keys.map((key) => group.get(key).acquire(5)));
  // The first calls have been sent, and have no replies.
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => process.nextTick(resolve));
  await group.close();
  for (const end of await ends) assert.is(end.status, 'rejected');
  const other = new RateLimiterGroup({ ...options, store });
  for (const key of keys) assert.is(await other.get(key).availablePermits(), 5);
});

test('a closed group keeps none of its limiters, however many there were', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const before = collectGarbage();
  for (let i = 0; i < 2 * room; i++) group.get(`key ${i}`);
  const open = collectGarbage() - before;
  await group.close();
  const left = collectGarbage() - before;
  assert.ok(left < open / 10, `${left} bytes of ${open}`);
  assert.is(group.size, 0);
});

timed('a group closes itself at the end of the block that uses it', async () => {
  let outside: RateLimiterGroup;
  {
    await using group = new RateLimiterGroup({ name: 'api', limit });
    outside = group;
  }
  assert.throws(
    () => outside.get('a'),
    (error: unknown) => error instanceof LimiterClosedError,
  );
});

timed('closing one limiter affects no other key, and its key gets a new limiter', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  const [a, b] = [group.get('a'), group.get('b')];
  await a.acquire(2);
  await a.close();
  assert.is.not(group.get('a'), a);
  assert.is(await group.get('a').availablePermits(), 3);
  assert.is(await b.availablePermits(), 5);
});

timed('the options apply to each limiter', async (clock) => {
  const group = new RateLimiterGroup({ name: 'api', limit, maxQueue: 1 });
  const waits = ['a', 'b'].map((key) => [5, 5, 1].map((permits) => fateOf(group.get(key).acquire(permits))));
  await clock.tickAsync(1_000);
  for (const [, second, third] of waits) {
    assert.is(second.at, 1_000);
    assert.match(third.reason?.message ?? '', 'the queue is full, as maxQueue is 1');
  }
});

/** A group with one option that the types would not allow. */
function giving(option: string) {
  return (value: unknown) => new RateLimiterGroup({ name: 'api', limit, [option]: value } as never);
}

test('invalid options are refused as by a limiter', async () => {
  const make = (options: unknown) => new RateLimiterGroup(options as never);
  await assertRefuses(make, [missing, ...noObject], 'options', 'an object');
  await assertRefuses(
    giving('name'),
    [missing, ['', RangeError, '""'], ...noString],
    'name',
    'a non-empty string',
  );
  await assertRefuses(giving('store'), [[{}, TypeError, 'an object']], 'store', 'a memoryStore()');
  assert.throws(() => giving('maxIdle')(1), /^maxIdle: no such option; expected one of name, limit/);
});

test('a limit that is neither a limit nor a function is refused at once', async () => {
  await assertRefuses(
    giving('limit'),
    [missing, [5, TypeError, '5'], [[limit], TypeError, 'an array']],
    'limit',
    'a limit',
  );
  await assertRefuses(
    giving('limit'),
    [[{}, RangeError, '{}']],
    'limit',
    'a limit, or a record with at least one',
  );
});

test('the result of the function is checked when the limiter is created, and the error names the key', async () => {
  const get = (answer: unknown) =>
    new RateLimiterGroup({ name: 'api', limit: () => answer as Limit }).get('acme');
  await assertRefuses(
    get,
    [missing, [null, TypeError, 'null'], [5, TypeError, '5'], [() => limit, TypeError, 'a function']],
    'limit("acme")',
    'a limit made by',
  );
  await assertRefuses(
    get,
    [[{}, RangeError, '{}']],
    'limit("acme")',
    'a limit, or a record with at least one',
  );
  await assertRefuses((bad) => get({ bad }), [[5, TypeError, '5']], 'limit("acme").bad', 'a limit made by');
});

test('an error of the function is thrown, and the function is called again the next time', async () => {
  let fails = true;
  const group = new RateLimiterGroup({
    name: 'api',
    limit: () => {
      if (fails) throw new Error('unknown customer');
      return limit;
    },
  });
  assert.throws(() => group.get('a'), /^unknown customer$/);
  assert.is(group.size, 0);
  fails = false;
  assert.is(await group.get('a').availablePermits(), 5);
});

test('a key that is not a string is refused', () => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  return assertRefuses((key) => group.get(key as string), [missing, ...noString], 'key', 'a string');
});

test.run();

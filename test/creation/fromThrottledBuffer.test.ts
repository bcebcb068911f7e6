import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { last, take } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fromThrottled,
  leakyBucket,
  memoryStore,
  type PulledInput,
  RateLimiterGroup,
  slidingWindow,
  tokenBucket,
} from '../../src/index.ts';
import { runsOf } from '../support/campaign.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle, marbles } from '../support/marbles.ts';
import { until } from '../support/until.ts';
import { naturals, watched, watchedAsync } from './inputs.ts';

const test = suite('fromThrottled, the buffer');
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const wide = tokenBucket({ permits: 1_000_000, interval: 1, burst: 4_000_000 });
const onePerThree = leakyBucket({ permits: 1, interval: 3 });
const five = slidingWindow({ permits: 5, interval: 100_000 });

test(
  'reads minus emissions reach `buffer`, and never exceed it',
  marbles((helpers) => {
    const { scheduler, at, flush } = helpers;
    for (const buffer of [undefined, 1, 7, 2_000]) {
      const group = new RateLimiterGroup({ name: 'api', limit: onePerThree, scheduler });
      let [pulled, emitted] = [0, 0];
      const held = { least: Infinity, most: 0 };
      function* values() {
        for (;;) {
          held.most = Math.max(held.most, ++pulled - emitted);
          yield pulled;
        }
      }
      const subscription = fromThrottled(values(), group, { key: (n) => `${n % 3}`, buffer }).subscribe(
        () => {
          held.most = Math.max(held.most, pulled - ++emitted);
        },
      );
      for (let frame = 0; frame < 30; frame++)
        at(frame + 0.5, () => {
          held.least = Math.min(held.least, pulled - emitted);
        });
      at(30, () => subscription.unsubscribe());
      flush();
      assert.ok(emitted >= 10, `${emitted} values`);
      assert.equal(held, { least: buffer ?? 1_024, most: buffer ?? 1_024 });
    }
  }),
);

/** Inputs that count their reads. */
const inputs: Record<string, (read: (n: number) => number) => PulledInput<number>> = {
  *iterable(read) {
    for (const n of naturals()) yield read(n);
  },
  async *'async iterable'(read) {
    for (const n of naturals()) yield read(n);
  },
  ReadableStream(read) {
    let n = 0;
    return new ReadableStream<number>(
      { pull: (controller) => controller.enqueue(read(n++)) },
      { highWaterMark: 0 },
    );
  },
};
for (const [what, open] of Object.entries(inputs))
  for (const late of [false, true])
    test(`the bound is exact for an ${what}, and a store that replies ${late ? 'late' : 'at once'}`, async () => {
      const store = late ? lateStore(memoryStore(), 'redis') : memoryStore();
      const group = new RateLimiterGroup({ name: 'api', limit: five, store });
      let [read, emitted, most] = [0, 0, 0];
      const input = open((n) => {
        most = Math.max(most, ++read - emitted);
        return n;
      });
      const subscription = fromThrottled(input, group, { key: (n) => `${n % 2}`, buffer: 6 }).subscribe(
        () => emitted++,
      );
      await until('both keys are used up', async () => emitted === 10 && read === 16, { every: 1 });
      await answered();
      assert.equal([read, emitted, most], [16, 10, 6]);
      subscription.unsubscribe();
      await answered();
      for (const name of '01') assertIdle(group.get(name));
    });

test('a Node stream is read no further than the buffer and its own highWaterMark, and destroyed in the end', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit: five });
  let read = 0;
  const stream = Readable.from(
    (async function* () {
      for (;;) yield ++read;
    })(),
    { highWaterMark: 2 },
  );
  const got: number[] = [];
  const subscription = fromThrottled(stream, group, { key: () => 'a', buffer: 3 }).subscribe((n) => {
    got.push(n);
  });
  await until('the key is used up', async () => got.length === 5 && read >= 8, { every: 1 });
  for (let i = 0; i < 5; i++) await answered();
  // The stream holds 2 values, and the generator one more.
  assert.ok(read <= 8 + 3, `${read} values`);
  subscription.unsubscribe();
  assert.ok(stream.destroyed);
});

test('an error of a Node stream between two reads passes at once', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit: five });
  const stream = new Readable({ objectMode: true, read() {} });
  for (let i = 0; i < 9; i++) stream.push(i);
  const said: unknown[] = [];
  fromThrottled(stream, group, { key: () => 'a', buffer: 2 }).subscribe({
    next: (n) => said.push(n),
    error: ({ message }) => said.push(message),
  });
  await until('the buffer is full', async () => said.length === 5, { every: 1 });
  await answered();
  stream.destroy(new Error('broken'));
  await until('it has failed', async () => said.length > 5, { every: 1 });
  assert.equal(said, [0, 1, 2, 3, 4, 'broken']);
  assertIdle(group.get('a'));
});

for (const [values, buffer] of [
  [200_000, undefined],
  [20_000, 1],
])
  test(`${values} values of an iterable neither recurse nor stall with a buffer of ${buffer ?? 1_024}`, () => {
    const group = new RateLimiterGroup({ name: 'api', limit: wide });
    const input = watched(naturals());
    const said: unknown[] = [];
    fromThrottled(input, group, { key: (n) => `${n % 10}`, buffer })
      .pipe(take(values!), last())
      .subscribe({ next: (n) => said.push(n), complete: () => said.push('complete') });
    assert.equal(said, [values! - 1, 'complete']);
    assert.equal([input.pulled, input.returned], [values, 1]);
    for (const name of '0123456789') assertIdle(group.get(name));
  });

test(
  'with a paused key among 200,000 values the others pass until it fills the buffer, and come again after it',
  marbles((helpers) => {
    const { scheduler, at, flush } = helpers;
    const group = new RateLimiterGroup({ name: 'api', limit: wide, scheduler });
    void group.get('stuck').pauseFor(1_000);
    // Every 100th value is of the paused key: the 1024th of them is value 102,300.
    const input = watched(naturals());
    let [passed, stuck] = [0, 0];
    fromThrottled(input, group, { key: (n) => (n % 100 === 0 ? 'stuck' : `${n % 7}`) })
      .pipe(take(200_000))
      .subscribe((n) => (n % 100 === 0 ? stuck++ : passed++));
    const full = 1_023 * 100 + 1;
    assert.equal([input.pulled, passed, stuck], [full, full - 1_024, 0]);
    at(999, () => assert.is(input.pulled, full));
    flush();
    // From then on, the buffer is full of values of that key, each of which lets the next 100 pass.
    assert.equal([input.pulled, passed + stuck, stuck], [201_023, 200_000, 988]);
    assert.is(input.returned, 1);
    assertIdle(group.get('stuck'));
  }),
);

test('an endless input holds no more than the buffer', async () => {
  const group = new RateLimiterGroup({ name: 'api', limit: (key) => (key === 'stuck' ? five : wide) });
  const living: WeakRef<object>[] = [];
  function* objects() {
    for (const n of naturals()) {
      const value = { key: n % 1_000 === 0 ? 'stuck' : `${n % 100}` };
      if (n % 100 === 0) living.push(new WeakRef(value));
      yield value;
    }
  }
  let passed = 0;
  const subscription = fromThrottled(objects(), group, { key: ({ key }) => key, buffer: 100 }).subscribe(
    () => {
      passed++;
    },
  );
  // The buffer is full with the 105th value of the key.
  assert.is(passed, 104_001 - 100);
  await new Promise(setImmediate);
  collectGarbage();
  const left = living.filter((reference) => reference.deref() !== undefined).length;
  assert.ok(left <= 101, `${left} of ${living.length} values are still held`);
  subscription.unsubscribe();
});

test('whatever the input, keys, buffer and consumer: order per key, exact bound, and only emitted values are charged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        values: fc.array(fc.nat(3), { maxLength: 30 }),
        wanted: fc.integer({ min: 1, max: 30 }),
        buffer: fc.integer({ min: 1, max: 12 }),
        permits: fc.integer({ min: 1, max: 3 }),
        limit: fc.integer({ min: 3, max: 20 }),
        async: fc.boolean(),
        late: fc.constantFrom(undefined, 'memory', 'redis'),
        turns: fc.nat(12),
      }),
      async ({ values, wanted, buffer, permits, limit, async, late, turns }) => {
        const window = slidingWindow({ permits: limit, interval: 100_000, resolution: 1 });
        const store = late ? lateStore(memoryStore(), late) : memoryStore();
        const group = new RateLimiterGroup({ name: 'api', limit: window, store });
        const given = values.map((key, i) => ({ key: `${key}`, i }));
        const input = async ? watchedAsync(given) : watched(given);
        const got: typeof given = [];
        const bound = () => {
          const held = Math.min(input.pulled, given.length) - got.length;
          assert.ok(held <= buffer, `${held} values are held`);
        };
        let ended = false;
        const subscription = fromThrottled(input, group, {
          buffer,
          key: ({ key }) => key,
          permits: () => {
            bound();
            return permits;
          },
        })
          .pipe(take(wanted))
          .subscribe({
            next: (value) => {
              bound();
              got.push(value);
            },
            complete: () => {
              ended = true;
            },
          });
        // It is unsubscribed at any moment.
        for (let i = 0; i < turns; i++) await answered();
        subscription.unsubscribe();
        for (let i = 0; i < 3; i++) await answered();
        for (const key of '0123') {
          const of = (list: typeof given) => list.filter((value) => value.key === key);
          const emitted = of(got);
          assert.equal(emitted, of(given).slice(0, emitted.length));
          assertIdle(group.get(key));
          assert.is(await group.get(key).availablePermits(), limit - emitted.length * permits);
        }
        if (ended && got.length < wanted) assert.is(got.length, given.length);
        // An async input can be closed while its end is on its way.
        const mayHaveEnded = input.pulled > given.length;
        if (!mayHaveEnded) assert.is(input.returned, 1);
        else assert.ok(input.returned <= (async ? 1 : 0), `closed ${input.returned} times`);
        await group.close();
      },
    ),
    { numRuns: runsOf(200) },
  );
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Clock } from '../../src/clock.ts';
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';

const rate = { permits: 7, interval: 1000 };
const lasts = 60 * 60 * 1000;

/** The moments of an hour of grants to a queue that is never empty. On its own clock, since sinon's is too slow. */
function hourOf(limit: Limit): number[] {
  let time = 0;
  let timer: { at: number; work: () => void } | undefined;
  const clock: Clock = {
    origin: 0,
    now: () => time,
    after(ms, work) {
      timer = { at: time + ms, work };
      return () => {
        timer = undefined;
      };
    },
  };
  const named = { record: false, names: [''], limits: [limit] };
  const ledger = memoryStore().open({ ...named, name: 'hour', prefix: '', clientId: 'one', clock });
  const line = new Dispatcher({ name: 'hour', named, ledger, clock, maxQueue: Infinity });
  const moments: number[] = [];
  const waiter: Waiter<undefined> = {
    granted: () => moments.push(time),
    denied: () => assert.unreachable(),
    failed: () => assert.unreachable(),
  };
  for (let i = 0; i < 30_000; i++) line.count(waiter, [1]);
  while (timer && timer.at < lasts) {
    const { at, work } = timer;
    timer = undefined;
    time = at;
    work();
  }
  return moments;
}

for (const [kind, limit] of [
  ['sliding window', slidingWindow(rate)],
  ['fixed window', fixedWindow(rate)],
] as const)
  test(`7 per 1000 ms are 7 at every second of an hour: ${kind}`, () => {
    const moments = hourOf(limit);
    assert.is(moments.length, (lasts / 1000) * 7);
    assert.ok(moments.every((moment, i) => moment === Math.floor(i / 7) * 1000));
  });

test('a token bucket of 7 per 1000 ms never drifts: the last permit of an hour comes at its millisecond', () => {
  const moments = hourOf(tokenBucket(rate));
  assert.ok(moments.every((moment, i) => moment === Math.ceil((Math.max(0, i - 6) * 1000) / 7)));
  assert.is(moments.length, (lasts / 1000) * 7 + 6);
});

test('a leaky bucket of 7 per 1000 ms spaces its permits evenly, each at the millisecond in which it is refilled', () => {
  const moments = hourOf(leakyBucket(rate));
  assert.ok(moments.every((moment, i) => moment === Math.ceil((i * 1000) / 7)));
  assert.is(moments.length, (lasts / 1000) * 7);
});

test.run();

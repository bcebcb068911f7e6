import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { diary, openLedger, openLine } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

const five = slidingWindow({ permits: 5, interval: 1000, resolution: 1 });

/** A line that is so far from its store, of which a neighbour has taken some permits already. */
function open(limit: Limit, trip: { there: number; back: number }, taken = 0) {
  const store = memoryStore();
  if (taken > 0) openLedger(store, limit, 'neighbour').decide([taken], () => undefined);
  const wire = slowLedger(openLedger(store, limit, 'one'), trip);
  return { wire, line: openLine(limit, wire), heard: diary<string>() };
}

/** How each request ended, and when. */
const ends = ({ endings }: ReturnType<typeof diary<string>>) =>
  endings.map(({ data, what, at }) => [data, what, at]);

for (const [kind, timeout] of [
  ['will not wait', 0],
  ['cannot wait long enough', 100],
] as const)
  timed(`a request that ${kind} and is refused takes nobody's time who stands behind it`, (clock) => {
    const { line, heard } = open(five, { there: 1, back: 1 }, 3);
    clock.tick(100);
    line.ask(heard, [5], timeout, 'big');
    line.ask(heard, [1], 500, 'small');
    clock.tick(1000);
    assert.equal([heard.all('late'), heard.all('granted')], [['big'], ['small']]);
    assert.ok(heard.endings.every(({ at }) => at < 110));
  });

timed(
  'what a slow answer will say was granted a while ago is back in time for who can wait for that',
  (clock) => {
    const { line, wire, heard } = open(five, { there: 1, back: 100 });
    for (let i = 0; i < 4; i++) line.ask(heard, [1], Infinity, 'first');
    clock.tick(50);
    wire.trip = { there: 1, back: 1 };
    line.ask(heard, [2], 960, 'second');
    clock.tick(3000);
    // The first were granted at 1 ms, and an answer that takes a millisecond says that their permits are back at 1001 ms.
    assert.equal(ends(heard).pop(), ['second', 'granted', 1002]);
  },
);

timed('permits that were given back to a bucket are there for who asks next', (clock) => {
  const limit = tokenBucket({ permits: 1, interval: 1000, burst: 10 });
  const line = openLine(limit, openLedger(memoryStore(), limit, 'one'));
  const heard = diary<string>();
  line.ask(heard, [10], Infinity, 'all');
  const [all] = heard.endings;
  line.ask(heard, [1], Infinity, 'next');
  if (all.what === 'granted') line.refund({ ...all.grant, cost: [5] });
  line.ask(heard, [1], 1500, 'then');
  clock.tick(3000);
  assert.equal(heard.all('granted'), ['all', 'next', 'then']);
  assert.ok(heard.endings.every(({ at }) => at <= 1000));
});

timed('a decision does not overtake those who asked before it in this process', async (clock) => {
  const limit = slidingWindow({ permits: 100, interval: 1000, resolution: 1 });
  const inner = memoryStore();
  const store: Store = {
    open(config) {
      const ledger = inner.open(config);
      return ledgerWith(ledger, slowLedger(ledger, { there: 1, back: 1 }));
    },
  };
  const limiter = new RateLimiter({ name: 'api', limit, store });
  const fates = Array.from({ length: 100 }, () => fateOf(limiter.acquire()));
  const decision = fateOf(limiter.decide());
  await clock.tickAsync(999);
  assert.is(times(fates).filter((at) => at !== undefined).length, 100);
  assert.is(decision.value?.granted, false);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

const five = slidingWindow({ permits: 5, interval: 1000, resolution: 1 });

/** A dispatcher at a distance from its store, from which another client has already acquired some permits. */
function open(limit: Limit, trip: { there: number; back: number }, taken = 0) {
  const store = memoryStore();
  if (taken > 0) openLedger(store, limit, 'neighbour').decide([taken], () => undefined);
  const wire = slowLedger(openLedger(store, limit, 'one'), trip);
  return { wire, line: openLine(limit, wire), recorded: recorder<string>() };
}

/** The result of each request, with its time. */
const ends = ({ endings }: ReturnType<typeof recorder<string>>) =>
  endings.map(({ data, what, at }) => [data, what, at]);

for (const [kind, timeout] of [
  ['will not wait', 0],
  ['cannot wait long enough', 100],
] as const)
  timed(`a request that ${kind} and is denied takes no time from the requests behind it`, (clock) => {
    const { line, recorded } = open(five, { there: 1, back: 1 }, 3);
    clock.tick(100);
    line.ask(recorded, [5], timeout, 'big');
    line.ask(recorded, [1], 500, 'small');
    clock.tick(1000);
    assert.equal([recorded.all('denied'), recorded.all('granted')], [['big'], ['small']]);
    assert.ok(recorded.endings.every(({ at }) => at < 110));
  });

timed('grants and denials of one reply are reported in the order of the requests', (clock) => {
  const limit = slidingWindow({ permits: 1000, interval: 1000, resolution: 1 });
  const { line, wire, recorded } = open(limit, { there: 1, back: 1 }, 995);
  line.ask(recorded, [3], Infinity, 'granted');
  line.ask(recorded, [5], 0, 'will not wait');
  line.ask(recorded, [2], Infinity, 'granted too');
  line.ask(recorded, [5], 100, 'cannot wait long enough');
  line.ask(recorded, [1001], Infinity, 'too much');
  clock.tick(1);
  // It joins while the call is in flight, so the reply denies it without having seen it.
  line.ask(recorded, [5], 0, 'behind the call');
  clock.tick(1);
  assert.is(wire.reserves.length, 1);
  assert.equal(
    recorded.endings.map(({ data }) => data),
    ['granted', 'will not wait', 'granted too', 'cannot wait long enough', 'too much', 'behind the call'],
  );
});

timed('permits that a slow reply grants are available again for requests that can wait for them', (clock) => {
  const { line, wire, recorded } = open(five, { there: 1, back: 100 });
  for (let i = 0; i < 4; i++) line.ask(recorded, [1], Infinity, 'first');
  clock.tick(50);
  wire.trip = { there: 1, back: 1 };
  line.ask(recorded, [2], 960, 'second');
  clock.tick(3000);
  // The first requests were granted at 1 ms, and a reply a millisecond later reports their permits as free at 1001 ms.
  assert.equal(ends(recorded).pop(), ['second', 'granted', 1002]);
});

timed('permits refunded to a bucket are available to the next request', (clock) => {
  const limit = tokenBucket({ permits: 1, interval: 1000, burst: 10 });
  const line = openLine(limit, openLedger(memoryStore(), limit, 'one'));
  const recorded = recorder<string>();
  line.ask(recorded, [10], Infinity, 'all');
  const [all] = recorded.endings;
  line.ask(recorded, [1], Infinity, 'next');
  if (all.what === 'granted') line.refund({ ...all.grant, cost: [5] });
  line.ask(recorded, [1], 1500, 'then');
  clock.tick(3000);
  assert.equal(recorded.all('granted'), ['all', 'next', 'then']);
  assert.ok(recorded.endings.every(({ at }) => at <= 1000));
});

timed('a decision does not overtake earlier requests of its process', async (clock) => {
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

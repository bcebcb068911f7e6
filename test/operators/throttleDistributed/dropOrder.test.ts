import { range, VirtualTimeScheduler } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  leakyBucket,
  memoryStore,
  RateLimiterGroup,
  type Store,
  throttleDistributed,
} from '../../../src/index.ts';
import type { Line } from '../../../src/port/line.ts';
import type { ControlledLedger } from '../../../src/stores/store.ts';
import { Backlog, type Waiting } from '../../../src/throttle/backlog.ts';
import { answered } from '../../support/lateStore.ts';
import { ledgerWith } from '../../support/ledgerWith.ts';

const test = suite('throttleDistributed, the order in which values of many keys are dropped');

const sorted = (values: Iterable<number>) => [...values].sort((a, b) => a - b);

/** A store whose replies about each key wait until they are let go. */
function heldStore() {
  const { open } = memoryStore();
  const held = new Map<string | undefined, (() => void)[]>();
  const store: Store = {
    open(config) {
      const ledger = open(config) as ControlledLedger;
      const replies: (() => void)[] = [];
      held.set(config.key, replies);
      return ledgerWith<ControlledLedger, Partial<ControlledLedger>>(ledger, {
        sync: false,
        reserve: (request, reply) =>
          ledger.reserve(request, (...answer) => void replies.push(() => reply(...answer))),
        refund: (refunds, sequence, reply) =>
          ledger.refund(refunds, sequence, (...answer) => void setImmediate(() => reply(...answer))),
      });
    },
  };
  return {
    store,
    letGo: (key: string) => {
      for (const reply of held.get(key)!.splice(0)) reply();
    },
  };
}

for (const [overflow, kept] of [
  ['dropOldest', [13, 14, 15, 16, 17]],
  ['dropNewest', [6, 7, 8, 9, 10]],
] as const)
  for (const order of ['012345', '543210', '250314'])
    test(`${overflow} goes by the order of the values, with replies in the order ${order}`, async () => {
      const { store, letGo } = heldStore();
      const scheduler = new VirtualTimeScheduler();
      const limit = leakyBucket({ permits: 1, interval: 3 });
      const group = new RateLimiterGroup({ name: 'api', limit, scheduler, store });
      const received: number[] = [];
      const dropped = new Set<unknown>();
      for (const key of order)
        group.get(key).events$.subscribe((event) => event.type === 'dropped' && dropped.add(event.value));
      const subscription = range(0, 18)
        .pipe(throttleDistributed(group, { key: (value) => `${value % 6}`, maxQueue: 5, overflow }))
        .subscribe((value) => received.push(value));
      await answered();
      for (const key of order) letGo(key);
      assert.equal(received, [...order].map(Number));
      const waiting = Array.from({ length: 12 }, (_, i) => 6 + i).filter((value) => !dropped.has(value));
      assert.equal(waiting, kept);
      subscription.unsubscribe();
    });

test('dropping a value does not look at all others, in whatever order they are found to have to wait', () => {
  const [values, room] = [20_000, 1_000];
  const backlog = new Backlog<Waiting<number>, number>(room);
  let looks = 0;
  for (let i = 0; i < values; i++) {
    const line = { waits: false } as Line<number>;
    const item: Waiting<number> = {
      line,
      counts: false,
      heapIndex: -1,
      get rank() {
        looks++;
        return (i * 7_919) % values;
      },
    };
    backlog.add(item);
    backlog.delayed(line);
    if (backlog.excess > 0) backlog.remove(backlog.first);
  }
  assert.ok(looks < 100 * values, `${looks} looks at ${values} values`);
  const kept: number[] = [];
  for (; backlog.first; backlog.remove(backlog.first)) kept.push(backlog.first.rank);
  assert.equal(kept, sorted(kept));
  assert.equal([kept.length, kept[0]], [room, values - room]);
});

test('a value leaves the queue from any place, and the others keep their order', () => {
  const backlog = new Backlog<Waiting<number>, number>(0);
  const line = { waits: true } as Line<number>;
  const items = Array.from({ length: 100 }, (_, i) => ({
    line,
    counts: false,
    heapIndex: -1,
    rank: (i * 37) % 100,
  }));
  for (const item of items) backlog.add(item);
  const left = items.filter((_, i) => i % 3 !== 0);
  for (const item of items.filter((one) => !left.includes(one))) {
    backlog.remove(item);
    assert.is(item.heapIndex, -1);
  }
  const found: number[] = [];
  for (; backlog.first; backlog.remove(backlog.first)) found.push(backlog.first.rank);
  assert.equal(found, sorted(left.map(({ rank }) => rank)));
});

test.run();

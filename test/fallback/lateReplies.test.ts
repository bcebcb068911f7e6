import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/errors.ts';
import type { Refund } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { asking, givenUp, granting, setUp } from './fakes.ts';

timed('refunds grants and reservations of a reply after the timeout', (clock) => {
  const { ledger, remote } = setUp();
  const request = {
    ...asking(),
    runs: [
      { count: 3, cost: [1], maxWait: Infinity },
      { count: 2, cost: [4], maxWait: 100 },
    ],
  };
  ledger.reserve(request, () => {});
  clock.tick(givenUp);
  remote.last.reply(null, {
    now: 2000.25,
    epoch: 7,
    contenders: 1,
    segments: [
      { count: 2, delay: 0, retryAfter: 0 },
      { count: 1, delay: 10.75, retryAfter: 0 },
      { count: 1, delay: 100, retryAfter: 0 },
      { count: 1, delay: -3, retryAfter: 500 },
    ],
  });
  const { operation, args } = remote.last;
  assert.is(operation, 'refund');
  const refund: Omit<Refund, 'moment' | 'count' | 'cost'> = { epoch: 7, source: 'redis' };
  assert.equal(args, [
    [
      { ...refund, moment: 2001, cost: [1], count: 2 },
      { ...refund, moment: 2011, cost: [1], count: 1 },
      { ...refund, moment: 2100, cost: [4], count: 1 },
    ],
    1,
  ]);
  remote.last.reply(null);
  assert.is(remote.calls.length, 2);
});

timed('a probe charges nothing, however late its reply', (clock) => {
  const { ledger, remote, changes } = setUp();
  ledger.reserve(asking(), () => {});
  clock.tick(givenUp + 1000);
  ledger.reserve(asking(2), () => {});
  clock.tick(givenUp);
  assert.equal(
    remote.calls.map(({ operation }) => operation),
    ['reserve', 'peek'],
  );
  remote.last.reply(null, [10]);
  assert.is(remote.calls.length, 2);
  assert.is(changes.length, 1);
  assert.is(ledger.source, 'fallback');
});

timed('does not refund a decision granted after the timeout', (clock) => {
  const { ledger, remote } = setUp();
  ledger.decide([3], () => {});
  clock.tick(givenUp);
  remote.last.reply(null, { granted: true, available: [7], retryAfter: 0, resetAfter: 1000 });
  assert.is(remote.calls.length, 1);
});

timed('refunds nothing after a late refusal or a late failure', (clock) => {
  const { ledger, remote } = setUp();
  ledger.decide([3], () => {});
  ledger.reserve(asking(), () => {});
  ledger.reserve(asking(), () => {});
  clock.tick(givenUp);
  const [decide, left, failed] = remote.calls;
  decide.reply(null, { granted: false, available: [0], retryAfter: 5, resetAfter: 1000 });
  left.reply(null, granting(asking(), { segments: [{ count: 1, delay: -1, retryAfter: 0 }] }));
  failed.reply(new StoreUnavailableError('api', new Error('the connection is closed')));
  assert.is(remote.calls.length, 3);
});

test.run();

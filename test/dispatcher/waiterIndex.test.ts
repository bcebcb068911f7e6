import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Request } from '../../src/dispatcher/request.ts';
import { WaiterIndex } from '../../src/dispatcher/waiterIndex.ts';
import type { Waiter } from '../../src/port/line.ts';

test('nothing is kept of a waiter whose requests have left', () => {
  const index = new WaiterIndex();
  const ignore = () => undefined;
  const waiter: Waiter<unknown> = {
    ...{ cancelsAll: true, prefetches: true },
    ...{ granted: ignore, denied: ignore, failed: ignore, delayed: ignore },
  };
  const requests = Array.from(
    { length: 3 },
    () => new Request(waiter, [1], 1, Infinity, Infinity, undefined),
  );
  for (const request of requests) index.link(request, index.newestOf(waiter), undefined);
  assert.is(index.newestOf(waiter), requests[2]);
  // It has several requests, so the newest can give way to others.
  assert.ok(index.prefetching.has(waiter));
  for (const request of [requests[2], requests[0], requests[1]]) index.unlink(request);
  assert.is(index.newestOf(waiter), undefined);
  assert.is(index.delayListeners.size, 0);
  assert.is(index.prefetching.size, 0);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import type { Scripts } from '../../src/stores/redis/scripts.ts';
import { openRedisLedger } from '../support/redisLedger.ts';

/** A ledger whose scripts the server forgets repeatedly, for a number of calls. */
function forgetful(times: number) {
  let calls = 0;
  const script = async () => {
    if (++calls <= times) throw new Error('NOSCRIPT No matching script. Please use EVAL.');
    return [1, 0, 1000, 3];
  };
  const scripts = new Proxy({}, { get: () => script }) as Scripts;
  const limits = [slidingWindow({ permits: 5, interval: 1000 })];
  const ledger = openRedisLedger({ name: 'n', prefix: 'p', clientId: 'c', names: [''], limits }, scripts);
  const peek = () =>
    new Promise<{ error: Error | null; permits: number[] | undefined }>((resolve) =>
      ledger.peek((error, permits) => resolve({ error, permits })),
    );
  return { peek, calls: () => calls };
}

test('a call whose script the server forgets repeatedly is retried', async () => {
  const { peek } = forgetful(3);
  assert.equal(await peek(), { error: null, permits: [3] });
});

test('such a call is not retried forever', async () => {
  const { peek, calls } = forgetful(Infinity);
  const { error } = await peek();
  assert.match(error!.message, 'NOSCRIPT');
  assert.is(calls(), 4);
});

test.run();

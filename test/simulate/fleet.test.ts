import assert from 'node:assert/strict';
import { test } from 'uvu';
import { slidingWindow } from '../../src/limits/limit.ts';
import { type Fleet, simulate } from '../../tools/simulate/fleet.ts';

const fleet: Fleet = {
  limit: slidingWindow({ permits: 200, interval: 1_000 }),
  ...{ clients: 10, late: 0.1, leave: 0.1, crash: 0.1, cancel: 0.3 },
  ...{ roundTrip: 5, jitter: 0.5, warmUp: 8_000, span: 5_000, seed: 1 },
};

test('a fleet whose clients join, leave, crash and cancel uses its limit, shares it, and makes few calls', () => {
  const { utilisation, fairness, callsPerPermit } = simulate(fleet);
  assert.ok(utilisation >= 0.99 && utilisation <= 1, `used ${utilisation}`);
  assert.ok(fairness >= 0.98, `Jain ${fairness}`);
  assert.ok(callsPerPermit <= 1.05, `${callsPerPermit} calls a permit`);
});

test('a simulation depends on its seed only', () => {
  assert.deepEqual(simulate(fleet), simulate(fleet));
  assert.notDeepEqual(simulate(fleet), simulate({ ...fleet, seed: 2 }));
});

test('a fleet whose clients all crash uses no permits', () => {
  const crashed = simulate({ ...fleet, late: 0, leave: 0, crash: 1 });
  assert.equal(crashed.utilisation, 0);
});

test('a simulation restores the real globals', () => {
  const { queueMicrotask } = globalThis;
  const { nextTick } = process;
  simulate({ ...fleet, clients: 1, span: 1_000 });
  assert.equal(globalThis.queueMicrotask, queueMicrotask);
  assert.equal(process.nextTick, nextTick);
});

test.run();

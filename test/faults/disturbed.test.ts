import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { unexplained } from '../support/anyClient.ts';
import { until } from '../support/until.ts';
import { recordedLimiter } from './histories.ts';
import { assertAllEnded, Load, overWithLosses } from './load.ts';
import { standing } from './requests.ts';

const test = redisSuite('disturbing commands');
const spec = { kind: 'slidingWindow', permits: 40, interval: 400, resolution: 1 } as const;

type Connect = Parameters<Parameters<typeof test>[1]>[0]['connect'];

/** Two limiters under load, whose connections keep unanswered calls. */
function underLoad(connect: Connect): Load[] {
  return [1, 2].map(() => {
    const redis = connect({ maxRetriesPerRequest: null });
    return new Load(recordedLimiter('disturbed', spec, redis));
  });
}

const grantsOf = (loads: readonly Load[]) => loads.flatMap(({ requests }) => requests.permits);
const errorsOf = (loads: readonly Load[]) => loads.flatMap(({ requests }) => requests.errors);

/** Disturbs the server so many times, each time after some grants. */
async function disturb(
  loads: readonly Load[],
  times: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  for (let i = 0; i < times; i++) {
    const before = grantsOf(loads).length;
    await until('grants go on', async () => grantsOf(loads).length > before + 5);
    await work(i);
  }
}

test('FLUSHALL in a loop: each forgets at most one limit, and no request hangs', async ({
  server,
  connect,
}) => {
  const loads = underLoad(connect);
  const losses: number[] = [];
  await disturb(loads, 4, async () => {
    await sleep(1.5 * spec.interval);
    losses.push(await server.flush());
  });
  await assertAllEnded(loads, { losses });
  assert.equal(unexplained(errorsOf(loads)), []);
  assert.is(overWithLosses(spec, standing(grantsOf(loads)), losses), undefined);
});

test('CLIENT KILL in a loop: never exceeds the limit, in order, and grants every request', async ({
  server,
  connect,
}) => {
  const loads = underLoad(connect);
  const faults: number[] = [];
  let killed = 0;
  await disturb(loads, 12, async () => {
    faults.push(Date.now());
    killed += Number(await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
  });
  await assertAllEnded(loads, { faults });
  assert.ok(killed >= 12, `${killed} connections were killed`);
  assert.equal(unexplained(errorsOf(loads)), []);
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

test('SCRIPT FLUSH in a loop with killed connections: never exceeds the limit, in order', async ({
  server,
  connect,
}) => {
  const loads = underLoad(connect);
  const faults: number[] = [];
  await disturb(loads, 12, async (i) => {
    faults.push(Date.now());
    await server.command('SCRIPT', 'FLUSH', i % 2 ? 'SYNC' : 'ASYNC');
    if (i % 4 === 3) await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  });
  await assertAllEnded(loads, { faults });
  assert.equal(unexplained(errorsOf(loads)), []);
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

test('out of memory without eviction: calls fail with StoreError, never exceeds the limit, and grants again with memory', async ({
  server,
  connect,
}) => {
  const loads = underLoad(connect);
  const faults: number[] = [];
  await disturb(loads, 5, async () => {
    faults.push(Date.now());
    const failed = errorsOf(loads).length;
    await server.command('CONFIG', 'SET', 'maxmemory', 1);
    await until('calls fail', async () => errorsOf(loads).length > failed + 4);
    await server.command('CONFIG', 'SET', 'maxmemory', 0);
  });
  await assertAllEnded(loads, { faults });
  for (const error of errorsOf(loads)) {
    assert.instance(error, StoreError);
    assert.match((error as Error).message, 'OOM');
  }
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

const guide =
  'eval evalsha time getrange set del unlink pexpire lrange lset ltrim rpush zadd zcard zcount zscore zrem zremrangebyrank';

test('each permission revoked in turn while requests wait: StoreError, never exceeds the limit, and grants again', async ({
  server,
  connect,
}) => {
  const user = (...rules: string[]) => server.command('ACL', 'SETUSER', 'limited', ...rules);
  await user('reset', 'on', '>secret', '~*', '&*', '+@all');
  const redis = connect({ username: 'limited', password: 'secret', maxRetriesPerRequest: null });
  const loads = [1, 2].map(() => new Load(recordedLimiter('limited', spec, redis)));
  const faults: number[] = [];
  for (const command of guide.split(' ')) {
    faults.push(Date.now());
    const { length } = grantsOf(loads);
    await user(`-${command}`);
    await sleep(30);
    await user(`+${command}`);
    await until(`granted with ${command}`, async () => grantsOf(loads).length > length);
  }
  await assertAllEnded(loads, { faults });
  assert.ok(errorsOf(loads).length > 0);
  for (const error of errorsOf(loads)) {
    assert.instance(error, StoreError);
    assert.match((error as Error).message, /NOPERM|ACL|permission|can't (run|access)/);
  }
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

test.run();

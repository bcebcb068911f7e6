import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lostTime } from './lostTime.ts';

test('counts the time in which nothing else can run', async () => {
  const lost = lostTime();
  await sleep(20);
  const until = performance.now() + 300;
  while (performance.now() < until);
  await sleep(20);
  const ms = lost();
  assert.ok(ms >= 290, `${ms} ms`);
});

test('counts the time in which another process does not reply', async () => {
  const since = performance.now();
  const lost = lostTime(() => sleep(performance.now() < since + 100 ? 300 : 1));
  await sleep(400);
  const ms = lost();
  assert.ok(ms >= 280, `${ms} ms`);
});

test.run();

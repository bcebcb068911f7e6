import { fork } from 'node:child_process';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { overSliding } from '../properties/oracle.ts';
import { bundled } from '../support/bundled.ts';
import { killAtExit, killNow } from '../support/leftovers.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { limit, requests, type Sight } from './blocked.ts';

const test = suite<{ server: RedisServer }>('blocked event loop');
test.before(async (context) => {
  context.server = await startRedis();
});
test.after(({ server }) => server.stop());

test('a blocked event loop neither loses nor reorders requests, and grants nothing early', async ({
  server,
}) => {
  const program = await bundled('test/faults/blockedProcess.ts');
  const child = fork(program, [String(server.port)], { execArgv: [] });
  killAtExit(child);
  child.ref();
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process ended with ${code} before it had told anything`);
  });
  const [sights] = (await Promise.race([once(child, 'message'), ended])) as [Sight[]];
  ended.catch(() => {});
  await killNow(child);

  assert.equal(
    sights.map(({ index }) => index),
    Array.from({ length: requests }, (_, i) => i),
  );
  // On one machine the process reads the same clock as the server; one millisecond for rounding and slewing.
  const early = sights.filter(({ grantedAt, receivedAt }) => receivedAt < grantedAt - 1);
  assert.equal(early, []);
  const gaps = sights.map(({ receivedAt }, i) => (i === 0 ? 0 : receivedAt - sights[i - 1].receivedAt));
  assert.ok(Math.max(...gaps) >= 900, 'the loop stood still');
  const grants = sights.map(({ grantedAt }) => ({ t: grantedAt, n: 1 }));
  assert.is(overSliding(limit, grants), undefined);
});

test.run();

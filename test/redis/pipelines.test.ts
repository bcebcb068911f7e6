import * as assert from 'uvu/assert';
import { fixedWindow, RateLimiter } from '../../src/index.ts';
import { withOptions } from '../support/anyClient.ts';
import { redisSuite } from './redisSuite.ts';

const options = { enableAutoPipelining: true };
const pipelines = redisSuite('automatic pipelines');
const test = withOptions(pipelines, options);
const limit = fixedWindow({ permits: 10, interval: 60_000 });

test("calls are sent separately from the caller's pipeline, however it was opened", async ({ connect }) => {
  const redis = connect(options);
  await redis.ping();
  const limiter = new RateLimiter({ name: 'api', limit, redis });
  const [other, available] = await Promise.all([redis.get('other'), limiter.availablePermits()]);
  assert.is(other, null);
  assert.is(available, 10);
});

test('a flush of the scripts has no visible effect with pipelines either', async ({ connect }) => {
  const redis = connect(options);
  const limiter = new RateLimiter({ name: 'api', limit, redis });
  await limiter.acquire();
  await redis.script('FLUSH');
  await Promise.all([limiter.acquire(), limiter.decide(), redis.get('other')]);
  assert.is(await limiter.availablePermits(), 7);
});

test('the options of other connections do not change', async ({ connect }) => {
  const [one, other] = [connect(options), connect(options)];
  await new RateLimiter({ name: 'api', limit, redis: one }).acquire();
  assert.equal(other.options.autoPipeliningIgnoredCommands, []);
});

pipelines.run();

import * as assert from 'uvu/assert';
import { type LimiterEvent, StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: events');

test('emits events when the fallback opens, with the reason, and when Redis is in use again', async ({
  server,
  open,
}) => {
  await server.start();
  const limiter = open(slidingWindow({ permits: 100, interval: 100 }), { cooldown: 100 });
  const events: LimiterEvent[] = [];
  limiter.events$.subscribe((event) => events.push(event));
  const changes = () => events.filter(({ type }) => type === 'fallback' || type === 'recovered');
  assert.ok((await limiter.decide()).granted);
  await server.kill();
  assert.ok((await limiter.decide()).granted);
  assert.ok(await limiter.tryAcquire());
  assert.equal(
    changes().map(({ type }) => type),
    ['fallback'],
  );
  const [change] = changes();
  assert.instance(change.type === 'fallback' && change.error, StoreUnavailableError);
  await server.start();
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
  assert.equal(
    changes().map(({ type }) => type),
    ['fallback', 'recovered'],
  );
  const sources = events.flatMap((event) => (event.type === 'granted' ? event.source : []));
  assert.equal(
    sources.filter((source, i) => source !== sources[i - 1]),
    ['redis', 'fallback', 'redis'],
  );
});

test.run();

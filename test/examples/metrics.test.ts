import { Registry } from 'prom-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openTelemetryMetrics } from '../../examples/metrics/opentelemetry.ts';
import { prometheusMetrics } from '../../examples/metrics/prometheus.ts';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { timed } from '../support/fakeTime.ts';

const limit = slidingWindow({ permits: 10, interval: 60_000 });
const apiLimiter = () => new RateLimiter({ name: 'api', limit });

/** The samples of a registry, by name and labels. */
async function samplesOf(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)![0])]));
}

timed('Prometheus reads the events, permits and waiting requests of each limiter', async (clock) => {
  const registry = new Registry();
  const llm = new RateLimiter({ name: 'llm', limit: { requests: limit, tokens: limit } });
  const api = apiLimiter();
  const counting = prometheusMetrics(registry, api, llm);
  await api.acquire(4);
  await llm.acquire({ requests: 1, tokens: 7 });
  const waiting = [api.acquire(8), api.acquire(8)];
  await clock.tickAsync(1_000);
  const samples = await samplesOf(registry);
  const expected = {
    'sluice_events_total{limiter="api",type="granted"}': 1,
    'sluice_events_total{limiter="llm",type="granted"}': 1,
    'sluice_permits_total{limiter="api",limit=""}': 4,
    'sluice_permits_total{limiter="llm",limit="requests"}': 1,
    'sluice_permits_total{limiter="llm",limit="tokens"}': 7,
    'sluice_contenders{limiter="api"}': 1,
    'sluice_round_trip_seconds{limiter="api"}': 0,
    'sluice_queued{limiter="llm"}': 0,
  };
  for (const [name, value] of Object.entries(expected)) assert.is(samples[name], value, name);
  assert.is(samples['sluice_queued{limiter="api"}'] + samples['sluice_reserved{limiter="api"}'], 2);

  counting.unsubscribe();
  await clock.tickAsync(200_000);
  await Promise.all(waiting);
  const after = await samplesOf(registry);
  assert.is(after['sluice_permits_total{limiter="api",limit=""}'], 4);
  assert.is(after['sluice_reserved{limiter="api"}'], 0);
});

timed('OpenTelemetry reads the events and the waiting requests', async (clock) => {
  const counted: unknown[] = [];
  const gauges: Record<string, () => unknown> = {};
  const meter = {
    createCounter: (name: string) => ({
      add: (n: number, attributes: object) => counted.push({ name, n, ...attributes }),
    }),
    createObservableGauge: (name: string) => ({
      addCallback(callback: (result: { observe(value: number, attributes: object): void }) => void) {
        gauges[name] = () => {
          let observed: unknown;
          callback({ observe: (value, attributes) => (observed = { value, ...attributes }) });
          return observed;
        };
      },
    }),
  };
  const limiter = apiLimiter();
  openTelemetryMetrics(meter, limiter);
  await limiter.acquire(10);
  const waiting = limiter.acquire();
  await clock.tickAsync(1_000);
  const events = ['queued', 'granted', 'queued'];
  assert.equal(
    counted,
    events.map((type) => ({ name: 'sluice.events', n: 1, limiter: 'api', type })),
  );
  assert.equal(gauges['sluice.reserved'](), { value: 1, limiter: 'api' });
  await clock.tickAsync(60_000);
  await waiting;
  assert.equal(gauges['sluice.reserved'](), { value: 0, limiter: 'api' });
});

test.run();

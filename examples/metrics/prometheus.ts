import { Counter, Gauge, type Registry } from 'prom-client';
import { merge, type Subscription } from 'rxjs';
import type { LimiterEvent, LimiterStats, RateLimiter } from 'rxjs-sluice';

const gauges: Record<string, [help: string, value: (stats: LimiterStats) => number]> = {
  sluice_queued: ['Waiting requests without a reservation', ({ queued }) => queued],
  sluice_reserved: ['Waiting requests with a reservation', ({ reserved }) => reserved],
  sluice_contenders: ['Processes that hold or wait for a reservation', ({ contenders }) => contenders],
  sluice_round_trip_seconds: ['Mean round trip to Redis', ({ roundTrip }) => roundTrip / 1_000],
};

/** Registers metrics of limiters. Unsubscribe to stop counting. */
export function prometheusMetrics(registry: Registry, ...limiters: RateLimiter[]): Subscription {
  const registers = [registry];
  const events = new Counter({
    name: 'sluice_events_total',
    help: 'Events of limiters in this process',
    labelNames: ['limiter', 'type'],
    registers,
  });
  const permits = new Counter({
    name: 'sluice_permits_total',
    help: 'Permits granted to this process',
    labelNames: ['limiter', 'limit'],
    registers,
  });
  for (const [name, [help, value]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      labelNames: ['limiter'],
      registers,
      collect() {
        for (const limiter of limiters) this.set({ limiter: limiter.name }, value(limiter.stats()));
      },
    });
  }
  const count = (event: LimiterEvent) => {
    const { limiter, type } = event;
    events.inc({ limiter, type });
    if (event.type !== 'granted') return;
    const costs = typeof event.permits === 'number' ? { '': event.permits } : event.permits;
    for (const [limit, n] of Object.entries(costs)) permits.inc({ limiter, limit }, n);
  };
  return merge(...limiters.map(({ events$ }) => events$)).subscribe(count);
}

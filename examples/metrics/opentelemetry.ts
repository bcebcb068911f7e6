import { merge, type Subscription } from 'rxjs';
import type { RateLimiter } from 'rxjs-sluice';

/** The part of a meter of `@opentelemetry/api` that is used here. */
export interface Meter {
  createCounter(name: string): { add(value: number, attributes: Record<string, string>): void };
  createObservableGauge(name: string): {
    addCallback(
      callback: (result: { observe(value: number, attributes: Record<string, string>): void }) => void,
    ): void;
  };
}

/** Records metrics of limiters on a meter, such as `metrics.getMeter('sluice')`. Unsubscribe to stop counting. */
export function openTelemetryMetrics(meter: Meter, ...limiters: RateLimiter[]): Subscription {
  for (const field of ['queued', 'reserved', 'contenders', 'roundTrip'] as const) {
    meter.createObservableGauge(`sluice.${field}`).addCallback((result) => {
      for (const limiter of limiters) result.observe(limiter.stats()[field], { limiter: limiter.name });
    });
  }
  const events = meter.createCounter('sluice.events');
  return merge(...limiters.map(({ events$ }) => events$)).subscribe(({ limiter, type }) =>
    events.add(1, { limiter, type }),
  );
}

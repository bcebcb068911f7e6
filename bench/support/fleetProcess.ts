import { Redis } from 'ioredis';
import { range } from 'rxjs';
import { library } from './library.ts';

/*
 * One process of a saturated fleet. Its arguments are the port of the server, the fleet's permits a second, and its running time
 * in milliseconds. It reports its permits of each second, and the lateness of timers, and of permits after a warm-up.
 */

export interface Share {
  /** Permits of each whole second of the server's clock. */
  seconds: Record<number, number>;
  calls: number;
  granted: number;
  /** The 99th percentile of the lateness of permits and of a bare timer, in ms. */
  late: number;
  timer: number;
}

/** Milliseconds in which the lateness of permits is not measured. */
const warmUp = 2_000;

const { RateLimiter, slidingWindow, throttleDistributed } = library;
const [port, permits, lasts] = process.argv.slice(2).map(Number);
const redis = new Redis(port);
await redis.ping();
process.once('message', begin);
process.send!('ready');

function begin(): void {
  const limiter = new RateLimiter({
    name: 'fleet',
    limit: slidingWindow({ permits, interval: 1_000 }),
    redis,
  });
  const seconds: Share['seconds'] = {};
  const late: number[] = [];
  const timers: number[] = [];
  // At the start, the first window is granted at once, by code that is not compiled yet.
  const steady = performance.now() + warmUp;
  const clock = () => performance.timeOrigin + performance.now();
  let granted = 0;

  const subscription = range(0, (permits * lasts) / 1_000)
    .pipe(throttleDistributed(limiter, { project: (_, { grantedAt }) => grantedAt }))
    .subscribe((grantedAt) => {
      granted++;
      const second = Math.floor(grantedAt / 1_000);
      seconds[second] = (seconds[second] ?? 0) + 1;
      if (granted % 8 === 0 && performance.now() > steady) late.push(clock() - grantedAt);
    });

  (function tick(): void {
    const due = performance.now() + 7;
    setTimeout(() => {
      timers.push(performance.now() - due);
      tick();
    }, 7).unref();
  })();

  setTimeout(async () => {
    subscription.unsubscribe();
    const { calls } = limiter.stats();
    await limiter.close();
    redis.disconnect();
    const share: Share = { seconds, calls, granted, late: p99(late), timer: p99(timers) };
    process.send!(share, () => process.disconnect());
  }, lasts);
}

function p99(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

import { count, lastValueFrom, range } from 'rxjs';
import type { Permits } from '../src/index.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question = 'What do events cost, with and without subscribers?';

const { RateLimiter, throttleDistributed, tokenBucket } = library;
const limit = tokenBucket({ permits: 1e9, interval: 1_000 });
const values = 500_000;
const rounds = 9;

/** The ways to subscribe to a limiter's events. */
const ways = {
  'never subscribed': () => {},
  'subscribed and unsubscribed': (limiter: InstanceType<typeof RateLimiter>) =>
    limiter.events$.subscribe().unsubscribe(),
  'somebody listens': (limiter: InstanceType<typeof RateLimiter>) => void limiter.events$.subscribe(),
};

async function rateOf(listen: (limiter: InstanceType<typeof RateLimiter>) => void): Promise<number> {
  const limiter = new RateLimiter({ name: 'events', limit });
  listen(limiter);
  const start = performance.now();
  await lastValueFrom(range(0, values).pipe(throttleDistributed<number, Permits>(limiter), count()));
  return (values * 1_000) / (performance.now() - start);
}

export async function run(): Promise<void> {
  const rates = Object.keys(ways).map((): number[] => []);
  // In turns, so that other load of the machine affects all alike; the first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const [i, listen] of Object.values(ways).entries()) {
      const rate = await rateOf(listen);
      if (round > 0) rates[i].push(rate);
    }
  const medians = rates.map((of) => of.sort((a, b) => a - b)[rounds >> 1]);
  printTable(
    ['', 'values/s', 'ratio'],
    Object.keys(ways).map((way, i) => [way, medians[i], medians[i] / medians[0]]),
  );
}

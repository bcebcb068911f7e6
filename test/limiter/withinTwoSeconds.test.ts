// Permits that come back reach the reservations that are more than two seconds ahead then within two seconds, whichever client
// refunds them, and whenever the waiting clients make their next calls.
import type { SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { cases } from '../support/cases.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

const permits = 10;

type Limits = Limit | readonly Limit[];

/** Limits of ten permits, of which those granted at once are free again after so many milliseconds. */
const kinds: Record<string, (interval: number) => Limits> = {
  'a sliding window': (interval) => slidingWindow({ permits, interval, resolution: 1 }),
  'a fixed window': (interval) => fixedWindow({ permits, interval }),
  // Half of the permits, for which a request waits, have come back to a bucket after half of its interval.
  'a token bucket': (interval) => tokenBucket({ permits, interval: 2 * interval }),
  'a record of windows': (interval) => [
    slidingWindow({ permits, interval }),
    fixedWindow({ permits, interval }),
  ],
  'a window and a bucket': (interval) => [
    fixedWindow({ permits, interval }),
    tokenBucket({ permits, interval: 2 * interval }),
  ],
};

/** Clients of one store, in this process or at a distance. */
function clientsOf(limits: Limits, count: number, away: number) {
  const store = memoryStore();
  return Array.from({ length: count }, (_, i) => {
    const ledger = openLedger(store, limits, `client ${i}`);
    const line = openLine(limits, away > 0 ? slowLedger(ledger, { there: away, back: away }) : ledger);
    const recorded = recorder<number>();
    const ask = (n: number) =>
      line.ask(recorded, Array(Array.isArray(limits) ? limits.length : 1).fill(n), Infinity, n);
    return { line, recorded, ask };
  });
}

interface History {
  /** Milliseconds between the calls and the refund, and from the refund to the first reservation. */
  after: number;
  ahead: number;
  /** Milliseconds to the store. */
  away: number;
  /** The number of clients that wait beside the one that refunds. */
  others: number;
  /** The permits that the latter waits for itself. */
  own: number;
}

/**
 * The first client takes all permits, another one waits for five, or two for four and three. It refunds nine. Returns how long the
 * others wait for them.
 */
async function waitsOf(
  clock: SinonFakeTimers,
  limitsFor: (interval: number) => Limits,
  { ahead, after, away, others, own }: History,
) {
  // A server's time is hardly ever a whole number of milliseconds.
  await clock.tickAsync(0.4);
  const [holder, ...rest] = clientsOf(limitsFor(ahead + after + 4 * away), 1 + others, away);
  holder.ask(permits);
  await clock.tickAsync(3 * away);
  const [taken] = holder.recorded.endings;
  for (const [i, { ask }] of rest.entries()) ask(others === 1 ? 5 : 4 - i);
  if (own > 0) holder.ask(own);
  await clock.tickAsync(after + away);
  const at = performance.now();
  if (taken.what !== 'granted') throw new Error('it waits');
  holder.line.refund({ ...taken.grant, cost: taken.grant.cost.map((n) => n - 1) });
  await clock.tickAsync(ahead + 3000);
  return rest.map(({ recorded }) => recorded.endings[0].at - at);
}

for (const [[kind, limitsFor], ahead, after, away, others, waitsItself] of cases(
  Object.entries(kinds),
  [2050, 2200, 2500, 3000, 3400, 3600, 4000, 6000],
  [100, 800, 1450],
  [0, 10],
  [1, 2],
  [false, true],
))
  timed(
    `reservations of ${others} in ${kind} that are ${ahead} ms ahead, ${after} ms after the calls, ${away} ms away, move forward for a client that ${waitsItself ? 'waits itself' : 'does not wait'}`,
    async (clock) => {
      const hasBucket = kind.endsWith('bucket');
      const own = waitsItself ? (hasBucket ? 1 : 6 - 2 * others) : 0;
      const waits = await waitsOf(clock, limitsFor, { ahead, after, away, others, own });
      // Beyond two seconds: a refund, a reply that tells what is void, and a new call.
      const most = 2000 + 6 * away;
      assert.ok(waits[0] <= most, `after ${waits} ms`);
      // In front of a reservation that stands, a bucket overflows with what comes back. Up to four permits are refilled here.
      const refill = hasBucket ? (4 * 2 * (ahead + after + 4 * away)) / permits : 0;
      assert.ok(Math.max(...waits) <= Math.min(most + refill, ahead + 5 * away), `after ${waits} ms`);
    },
  );

for (const [ahead, after, away] of cases([2050, 2200, 3000, 4000, 6000], [100, 800, 1450], [0, 10]))
  timed(
    `a bucket that overflows with what comes back keeps the others' moments, ${ahead} ms ahead, ${after} ms after the calls, ${away} ms away`,
    async (clock) => {
      const [wait] = await waitsOf(clock, kinds['a token bucket'], { ahead, after, away, others: 1, own: 4 });
      assert.ok(wait <= ahead + 5 * away, `after ${wait} ms`);
    },
  );

for (const [kind, ahead] of cases(['a sliding window', 'a fixed window'], [2100, 3000, 3400, 3600]))
  timed(
    `permits refunded to ${kind} soon after a call that followed another refund reach a reservation ${ahead} ms ahead at its moment at the latest`,
    async (clock) => {
      const [holder, other] = clientsOf(kinds[kind](1490 + ahead), 2, 0);
      holder.ask(permits);
      other.ask(5);
      const [taken] = holder.recorded.endings;
      const refund = (n: number) =>
        taken.what === 'granted' && holder.line.refund({ ...taken.grant, cost: [n] });
      await clock.tickAsync(1450);
      refund(1);
      // The other client has called after 1.5 s.
      await clock.tickAsync(90);
      refund(8);
      await clock.tickAsync(ahead > 3500 ? 2000 : ahead);
      assert.is(other.recorded.all('granted').length, 1);
    },
  );

test.run();

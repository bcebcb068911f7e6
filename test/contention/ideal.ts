import type { Cost } from '../../src/limits/cost.ts';
import { capacityOf, type Limit } from '../../src/limits/limit.ts';
import { randomFrom } from '../support/seed.mjs';
import { type Contention, counted } from './contend.ts';

interface Held {
  moment: number;
  asked: Cost;
  cost: number[];
}

/** The permits of each limit that the queue grants in the measured span, and those of them that are kept. */
interface Ideal {
  taken: number[];
  kept: number[];
}

interface Asked {
  cost: Cost;
  cancelled: boolean;
}

/**
 * The permits that are granted and kept if one queue in the store serves all clients: every request in its order, in the
 * millisecond in which its permits are free, with no reservations. A grant, and what its client sends after it, take a round
 * trip. Requests, cancellations and refunds are as random as in `contend`, and no refund is known before it happens.
 *
 * With `calls`, the queue is served only every so many milliseconds, and so many requests at most: no clients that call in turns,
 * one after the other at an even pace, keep more.
 */
export function ideal(contention: Contention, calls = { every: 1, most: Infinity }): Ideal {
  const { limits, clients, roundTrip, jitter = 0, warmUp, span, fade = 0, seed } = contention;
  const random = randomFrom(seed);
  const rules = limits.map(ruleOf);
  /** Permits that were used without a grant: they are taken before any request is granted. */
  const owed = limits.map(() => 0);
  const queue: Asked[] = [];
  const held: Held[] = [];
  const later = new Map<number, (() => void)[]>();
  let now = 0;

  function after(ms: number, work: () => void): void {
    const at = Math.max(now + 1, Math.ceil(now + ms));
    const works = later.get(at);
    if (works) works.push(work);
    else later.set(at, [work]);
  }

  function ask(habits: Contention['clients'][number]): void {
    const asked = {
      cost: habits.costs[Math.floor(random() * habits.costs.length)],
      cancelled: false,
      habits,
    };
    queue.push(asked);
    if (random() < habits.cancel)
      after(random() * habits.cancelWithin, () => {
        const place = queue.indexOf(asked);
        if (place < 0) return;
        queue.splice(place, 1);
        ask(habits);
      });
  }

  function grant({ cost, habits }: Asked & { habits: Contention['clients'][number] }): void {
    const moment = now;
    const kept = { moment, asked: cost, cost: [...cost] };
    held.push(kept);
    rules.forEach((rule, i) => {
      rule.take(moment, cost[i]);
    });
    // As a round trip takes in `contend`, on average, although time passes in whole milliseconds here.
    const trip = roundTrip * (1 + jitter / 2);
    after(jitter > 0 ? Math.floor(trip + random()) : trip, () => ask(habits));
    if (random() >= habits.refund) {
      if (habits.excess === undefined || random() >= habits.excess) return;
      kept.cost = cost.map((n) => 2 * n);
      after(roundTrip + random() * habits.refundWithin, () => {
        cost.forEach((n, i) => {
          owed[i] += n;
        });
      });
      return;
    }
    after(roundTrip + random() * habits.refundWithin, () => {
      cost.forEach((n, i) => {
        const back = Math.ceil(n * habits.part);
        kept.cost[i] -= back;
        rules[i].giveBack(moment, now, back);
      });
    });
  }

  for (const habits of clients) for (let i = 0; i < habits.waiting; i++) ask(habits);
  for (; now < warmUp + span + fade; now++) {
    for (const work of later.get(now) ?? []) work();
    later.delete(now);
    rules.forEach((rule, i) => {
      const n = Math.min(owed[i], Math.max(0, rule.free(now)));
      if (n > 0) rule.take(now, n);
      owed[i] -= n;
    });
    if (now % calls.every > 0) continue;
    for (
      let served = 0;
      served < calls.most && queue[0]?.cost.every((n, i) => rules[i].free(now) >= n);
      served++
    )
      grant(queue.shift() as never);
  }
  const sum = (of: (one: Held) => Cost) =>
    limits.map((_, i) =>
      held.reduce((total, one) => total + counted(contention, one.moment) * of(one)[i], 0),
    );
  return { taken: sum(({ asked }) => asked), kept: sum(({ cost }) => cost) };
}

/** A limit by its definition. */
interface Rule {
  /** The permits that are free; also brings the state up to `now`. */
  free(now: number): number;
  take(now: number, n: number): void;
  giveBack(moment: number, now: number, n: number): void;
}

function ruleOf(limit: Limit): Rule {
  const { permits, interval } = limit;
  if (limit.kind === 'tokenBucket') {
    const most = capacityOf(limit) * interval;
    /** The units taken at each moment, and those in the bucket just before. */
    const log: { moment: number; units: number; taken: number }[] = [];
    const levelAt = (now: number, last = log.at(-1)) =>
      last ? Math.min(most, last.units - last.taken + (now - last.moment) * permits) : most;
    return {
      free: (now) => Math.floor(levelAt(now) / interval),
      take: (moment, n) => {
        const last = log.at(-1);
        if (last?.moment === moment) last.taken += n * interval;
        else log.push({ moment, units: levelAt(moment), taken: n * interval });
      },
      // As if the permits had never been taken: what would have overflowed since is lost.
      giveBack: (moment, _, n) => {
        let place = log.length - 1;
        while (log[place].moment > moment) place--;
        log[place].taken -= n * interval;
        for (let i = place + 1; i < log.length; i++) log[i].units = levelAt(log[i].moment, log[i - 1]);
      },
    };
  }
  if (limit.kind === 'slidingWindow') {
    let log: { moment: number; n: number }[] = [];
    let taken = 0;
    return {
      free(now) {
        while (log.length > 0 && log[0].moment <= now - interval) taken -= log.shift()!.n;
        return permits - taken;
      },
      take: (moment, n) => {
        log.push({ moment, n });
        taken += n;
      },
      giveBack: (moment, now, n) => {
        const one = log.find((entry) => entry.moment === moment && entry.n >= n);
        if (!one || moment <= now - interval) return;
        one.n -= n;
        taken -= n;
        log = log.filter((entry) => entry.n > 0);
      },
    };
  }
  let start = -Infinity;
  let used = 0;
  return {
    free(now) {
      if (now >= start + interval) used = 0;
      return permits - used;
    },
    take: (now, n) => {
      if (used === 0) start = limit.align === 'epoch' ? Math.floor(now / interval) * interval : now;
      used += n;
    },
    giveBack: (moment, now, n) => {
      if (moment >= start && now < start + interval) used -= n;
    },
  };
}

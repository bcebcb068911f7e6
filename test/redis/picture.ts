import type { Limit } from '../../src/limits/limit.ts';
import type { LimitState } from '../../src/limits/states.ts';
import type { FixedWindowState } from '../../src/limits/windows.ts';
import type { Debt, Hole, LedgerState, Ticket, Void } from '../../src/stores/memory/ledgerState.ts';
import { specOf } from '../../src/stores/redis/spec.ts';
import { stepsOf } from '../support/bucketSteps.ts';

/** A limit's state as numbers, in the order of the ledger in Redis, and the log of a sliding window. */
export interface LimitPicture {
  kind: string;
  numbers: number[];
  log: [time: number, count: number][];
}

/** The state of a ledger in a form for comparing Redis and memory. */
export interface Picture {
  epoch: number;
  shift: number;
  seen: number;
  expires: number;
  frontiers: number[];
  pacedUntil: number;
  soleUntil: number;
  sole: string;
  /** The contenders, and the end of the last one; empty once that has passed. */
  crowdUntil: number;
  crowd: [client: string, until: number][];
  born: number;
  refundable: number;
  granted: number;
  returned: number;
  freed: number;
  movedAt: number;
  lateAt: number;
  credit: number;
  largest: number;
  largestUntil: number;
  farthest: number;
  farthestUntil: number;
  voids: Void[];
  holes: Hole[];
  tickets: Ticket[];
  debts: Debt[];
  pausedUntil: number;
  spec: string;
  limits: LimitPicture[];
}

/** The state of a memory ledger in this form. */
export function pictureOf({ contenders, names, limits, ...ledger }: LedgerState, now: number): Picture {
  const { epoch, born, refundable, shift, seen, expires, pausedUntil } = ledger;
  const {
    pacedUntil,
    granted,
    returned,
    freed,
    movedAt,
    lateAt,
    credit,
    largest,
    largestUntil,
    farthest,
    farthestUntil,
  } = ledger;
  const voids = ledger.voids.map((one) => ({ ...one }));
  const holes = ledger.holes.map(({ moment, cost, count }) => ({ moment, cost: [...cost], count }));
  const tickets = ledger.tickets.map((one) => ({ ...one }));
  const debts = ledger.debts.map((one) => ({ ...one }));
  const { soleUntil, sole, crowdUntil, crowd } = contenders;
  // A state contains the options of its limit.
  const spec = specOf(names, limits as unknown as readonly Limit[]);
  return {
    ...{
      epoch,
      shift,
      seen,
      expires,
      frontiers: limits.map((_, i) => ledger.frontiers[i] ?? 0),
      pacedUntil,
      soleUntil,
      sole,
      crowdUntil,
    },
    ...{
      born,
      refundable,
      granted,
      returned,
      freed,
      movedAt,
      lateAt,
      credit,
      largest,
      largestUntil,
      farthest,
      farthestUntil,
      voids,
      holes,
      tickets,
      debts,
      pausedUntil,
      spec,
    },
    crowd: crowdUntil > now ? [...crowd].sort(byName) : [],
    limits: limits.map((state) => limitPicture(state, shift, limits.length === 1)),
  };
}

function limitPicture(state: LimitState, ledgerShift: number, isAlone: boolean): LimitPicture {
  const { permits, interval } = state;
  if (state.kind === 'slidingWindow') {
    const { resolution, coarsest, total, newest, under, purged, head } = state;
    const log: [number, number][] = [];
    for (let i = head; i < state.log.length; i += 2) log.push([state.log[i], state.log[i + 1]]);
    const numbers = [permits, interval, resolution, coarsest, total, newest, purged, under];
    return { kind: 's', numbers: numbers.map(unsigned), log };
  }
  if (state.kind === 'fixedWindow') {
    // In memory, only aligned windows have it.
    const shift = state.align === 'epoch' ? state.shift : ledgerShift;
    const windows: number[][] = [];
    for (let window: Window | undefined = state; window; window = window.earlier)
      windows.push([window.start, window.end, window.used, window.newest, window.reserved]);
    const [last, ...earlier] = windows;
    const numbers = [permits, interval, state.align === 'epoch' ? 1 : 0, ...last, state.most, shift];
    return { kind: 'f', numbers: [...numbers, ...earlier.flat()].map(unsigned), log: [] };
  }
  const { burst, units, ts, present, owedUntil, lastAt, unsureUntil, sameSince, former } = state;
  const changed = former ? [former.until, former.from, former.permits, former.interval] : [0, 0, 0, 0];
  const numbers = [
    permits,
    interval,
    burst,
    units,
    ts,
    lastAt,
    owedUntil,
    unsureUntil,
    sameSince,
    ...changed,
    // A single limit forgets it when its ledger is opened next.
    (isAlone ? undefined : present) ?? unknown,
  ];
  for (const { since, until, held } of stepsOf(state)) numbers.push(since, until, held);
  return { kind: 't', numbers: numbers.map(unsigned), log: [] };
}

/** The numbers of a fixed window before its earlier windows, the last two of them `most` and `shift`, and of each of these. */
export const fixedFields = 10;
export const fieldsOfWindow = 5;
type Window = NonNullable<FixedWindowState['earlier']>;

/** In place of the units before the reservations, if they are not known. */
export const unknown = -(2 ** 59);

/** The numbers of a bucket before its steps. */
export const bucketFields = 14;

/** Removes the sign of zero, which has no meaning. */
export function unsigned(n: number): number {
  return n + 0;
}

export function byName(a: [string, number], b: [string, number]): number {
  return a[0] < b[0] ? -1 : 1;
}

/**
 * The same without the parts that have expired and that either store may have dropped: times in the past, a window that has
 * ended before the last one, and old entries of a log.
 */
export function withoutPast(picture: Picture): Picture {
  const now = picture.seen;
  const ahead = (moment: number) => (moment > now ? moment : 0);
  const { soleUntil, sole, crowdUntil, frontiers, pacedUntil, pausedUntil, limits, crowd } = picture;
  const { largest, largestUntil, farthest, farthestUntil } = picture;
  return {
    ...picture,
    ...{ soleUntil: ahead(soleUntil), sole: soleUntil > now ? sole : '', crowdUntil: ahead(crowdUntil) },
    ...{ frontiers: frontiers.map(ahead), pacedUntil: ahead(pacedUntil), pausedUntil: ahead(pausedUntil) },
    ...{ largest: largestUntil > now ? largest : 0, largestUntil: ahead(largestUntil) },
    ...{ farthest: farthestUntil > now ? farthest : 0, farthestUntil: ahead(farthestUntil) },
    crowd: crowdUntil > now ? crowd : [],
    tickets: picture.tickets.filter(({ until }) => until > now),
    debts: picture.debts.filter(({ until }) => until > now),
    limits: limits.map((limit) => withoutExpired(limit, now)),
  };
}

function withoutExpired({ kind, numbers, log }: LimitPicture, now: number): LimitPicture {
  if (kind === 's') {
    const [, interval, resolution, , total, , purged, under] = numbers;
    const past = log.filter(([time], i) => time <= now - interval && i < log.length - 1);
    const expired = past.reduce((sum, [, count]) => sum + count, 0);
    const kept = [...numbers.slice(0, 4), total - expired, numbers[5], past.at(-1)?.[0] ?? purged];
    // It counts until the end of its slot.
    kept.push(Math.ceil(under / resolution) * resolution > now ? under : 0);
    return { kind, numbers: kept, log: log.slice(past.length) };
  }
  if (kind === 'f') {
    const earlier = numbers.slice(fixedFields);
    const isAhead = (_: number, i: number) => earlier[i - (i % fieldsOfWindow) + 1] > now;
    const ahead = earlier.filter(isAhead);
    // What is forgotten is past if a window after it is.
    const isPast = numbers[4] <= now || ahead.length < earlier.length;
    const most = isPast ? 0 : numbers[fixedFields - 2];
    return {
      kind,
      numbers: [...numbers.slice(0, fixedFields - 2), most, numbers[fixedFields - 1], ...ahead],
      log,
    };
  }
  if (kind === 't') {
    const [owedUntil, unsureUntil, ...more] = numbers.slice(6);
    const ahead = [owedUntil, unsureUntil].map((until) => (until > now ? until : 0));
    return { kind, numbers: [...numbers.slice(0, 6), ...ahead, ...more], log };
  }
  return { kind, numbers, log };
}

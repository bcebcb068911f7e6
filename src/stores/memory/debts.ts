import type { Room } from '../../limits/algebra.ts';
import { capacityOf } from '../../limits/limit.ts';
import { algebraOf, type LimitState } from '../../limits/states.ts';
import { noticePeriod } from '../store.ts';
import type { Debt, Instant, LedgerState } from './ledgerState.ts';

/** The largest debt that is charged, in windows or bursts. */
const mostDebt = 1000;
/** The number of parts that a debt is split into, unless a part would exceed a window or a burst. */
const debtParts = 100;
/** The most debts of one limit that are remembered apart. The last two of more are merged. */
const mostDebts = 32;

/**
 * Charges permits that were used without a grant: the free ones now, and the rest in parts, each at the first moment at which it is
 * free. No request is waiting for them.
 */
function chargeDebt(ledger: LedgerState, { now, at }: Instant, limit: number, permits: number): void {
  const state = ledger.limits[limit];
  const { available, commit, earliest, fit, taken } = algebraOf(state);
  const most = capacityOf(state);
  // Of no more permits than 2^52 in all, sums stay exact.
  let left = Math.min(permits, mostDebt * most, Math.max(0, 2 ** 52 - taken(state).permits));
  const part = Math.min(most, Math.ceil(left / debtParts));
  const free = Math.min(left, available(state, now, at));
  const ahead: Debt = { limit, until: 0, permits: 0, tail: 0 };
  if (free > 0) commit(state, now, at, free);
  for (left -= free; left > 0; ) {
    const least = Math.min(left, part);
    const t = Math.max(at, earliest(state, now, at, least));
    const n = Math.min(left, fit(state, now, t, 1));
    if (!(n >= least)) throw new Error('the limits do not agree with what they offer');
    commit(state, now, t, n);
    left -= n;
    ahead.permits += n;
    ahead.tail = n + (slotStart(state, t) === slotStart(state, ahead.until) ? ahead.tail : 0);
    ahead.until = t;
  }
  if (ahead.until > now) remember(ledger, now, ahead);
}

/** The last moment before the slot of a moment, or before the moment: what is later is forgotten with it. */
function slotStart(state: LimitState, t: number): number {
  if (state.kind !== 'slidingWindow') return t - 1;
  return Math.ceil(t / state.resolution) * state.resolution - state.coarsest;
}

/**
 * Remembers a debt that is charged ahead of the notice period: reservations that become void must not take it with them. If none of
 * the limit is, the last one that is nearer: permits that are cancelled before it may be granted.
 */
function remember(ledger: LedgerState, now: number, debt: Debt): void {
  const far = now + noticePeriod;
  const debts = ledger.debts.filter(({ limit, until }) => until > (limit === debt.limit ? far : now));
  const own = debts.filter(({ limit }) => limit === debt.limit);
  const last = own[own.length - 1];
  if (own.length >= mostDebts) debts[debts.indexOf(last)] = joined(last, debt);
  else if (debt.until > far || !last) debts.push(debt);
  ledger.debts = debts;
}

/** A debt and the next one as one. */
function joined(one: Debt, next: Debt): Debt {
  const until = Math.max(one.until, next.until);
  const tail = (one.until === until ? one.tail : 0) + (next.until === until ? next.tail : 0);
  return { limit: one.limit, until, permits: one.permits + next.permits, tail };
}

/**
 * Forgets the reservations of a limit later than `after`. Returns its debts, of which those that were charged there are to be
 * charged again.
 */
export function cutLimit(ledger: LedgerState, now: number, limit: number, after: number): Debt[] {
  const state = ledger.limits[limit];
  const { cut } = algebraOf(state);
  const debts = ledger.debts.filter((debt) => debt.limit === limit);
  const room: Room = {};
  let owed = 0;
  while (debts.length > 0 && debts[debts.length - 1].until > after && room.entries !== 0) {
    const { until, permits, tail } = debts.pop()!;
    const next = Math.max(after, debts[debts.length - 1]?.until ?? 0);
    // A debt takes all permits up to its last moment: those later than that are of reservations, and perhaps some of that moment.
    const start = tail > 0 ? slotStart(state, until) : until;
    let back = Math.min(tail, cut(state, now, Math.max(next, start), room));
    back += Math.min(permits - back, cut(state, now, next, room));
    owed += back;
    if (permits === back) continue;
    // Those that are not forgotten yet are in the slot of the debt before, or stay charged.
    const left = permits - back;
    if (next > after && room.entries !== 0)
      debts.push(joined(debts.pop()!, { limit, until: next, permits: left, tail: left }));
    else debts.push({ limit, until: room.entries !== 0 ? next : until, permits: left, tail: 0 });
  }
  if (room.entries !== 0) cut(state, now, after, room);
  return owed > 0 ? [...debts, { limit, until: 0, permits: owed, tail: 0 }] : debts;
}

/** Charges the debts that are not charged yet, or no more, since they were charged among reservations that are void. */
export function chargeDebts(ledger: LedgerState, instant: Instant): void {
  const owed = ledger.debts.filter(({ until }) => until === 0);
  if (owed.length === 0) return;
  ledger.debts = ledger.debts.filter(({ until }) => until > 0);
  for (const { limit, permits } of owed) chargeDebt(ledger, instant, limit, permits);
}

import { capacityOf } from '../../limits/limit.ts';
import { algebraOf } from '../../limits/states.ts';
import { noticePeriod } from '../store.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/** The largest debt that is charged, in windows or bursts. */
const mostDebt = 1000;
/** The number of parts that a debt is split into, unless a part would exceed a window or a burst. */
const debtParts = 100;
/** The most debts of one limit that are remembered. The last two of more are merged, as are those with the same last moment. */
const mostDebts = 8;

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
  let ahead = 0;
  let until = 0;
  if (free > 0) commit(state, now, at, free);
  for (left -= free; left > 0; ) {
    const least = Math.min(left, part);
    const t = Math.max(at, earliest(state, now, at, least));
    const n = Math.min(left, fit(state, now, t, 1));
    if (!(n >= least)) throw new Error('the limits do not agree with what they offer');
    commit(state, now, t, n);
    left -= n;
    if (t <= now + noticePeriod) continue;
    ahead += n;
    until = t;
  }
  if (ahead > 0) remember(ledger, now, limit, until, ahead);
}

/** Remembers a debt that is charged ahead of the notice period: reservations that become void must not take it with them. */
function remember(ledger: LedgerState, now: number, limit: number, until: number, permits: number): void {
  const debts = ledger.debts.filter((debt) => debt.until > now + noticePeriod);
  const own = debts.filter((debt) => debt.limit === limit);
  const last = own[own.length - 1];
  if (own.length < mostDebts && last?.until !== until) debts.push({ limit, until, permits });
  else debts[debts.indexOf(last)] = { limit, until, permits: last.permits + permits };
  ledger.debts = debts;
}

/** Forgets the reservations of a limit later than `after`. Returns how many permits of its debts were charged there. */
export function cutLimit(ledger: LedgerState, now: number, limit: number, after: number): number {
  const state = ledger.limits[limit];
  const { cut } = algebraOf(state);
  const debts = ledger.debts.filter((debt) => debt.limit === limit && debt.until > after);
  let owed = 0;
  // Several may be in one window or slot, which is forgotten as a whole.
  let left = 0;
  for (let i = debts.length - 1; i >= 0; i--) {
    const { until, permits } = debts[i];
    // A debt takes all permits up to its last one: those later than that are of reservations.
    cut(state, now, until);
    left += permits;
    const back = Math.min(left, cut(state, now, i > 0 ? debts[i - 1].until : after));
    owed += back;
    left -= back;
  }
  cut(state, now, after);
  return owed;
}

/** Charges the debts that are not charged yet, or no more, since they were charged among reservations that are void. */
export function chargeDebts(ledger: LedgerState, instant: Instant): void {
  const owed = ledger.debts.filter(({ until }) => until === 0);
  if (owed.length === 0) return;
  ledger.debts = ledger.debts.filter(({ until }) => until > 0);
  for (const { limit, permits } of owed) chargeDebt(ledger, instant, limit, permits);
}

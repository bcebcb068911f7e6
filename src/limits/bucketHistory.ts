import { roomAfter } from './bucketRoom.ts';
import {
  type Bucket,
  type BucketHistory,
  dropNewest,
  type FormerRefill,
  heldWithEarlier,
  merge,
  mixed,
  newestIn,
  onlyKept,
  type Step,
  setNewest,
  stepAfter,
} from './bucketSteps.ts';

/**
 * Two steps become one if together they hold at most this part of a full bucket, or, while there are too many, up to half of it: a
 * refund restores the less, the larger they are.
 */
const mergedPart = 8;
/** The most steps of past grants, the number that is kept when there are more, and the most steps of reservations. */
const mostPast = 24;
const keptPast = 20;
const mostAhead = 64;

/**
 * Records a grant of `n` permits at `t` that is never refunded, if the history has no other grants. They need one step only, as no
 * refund asks for the room before each of them. Returns whether it did.
 */
export function keep(history: BucketHistory, t: number, n: number): boolean {
  const { since, until, held, lastAt } = history;
  if (held === 0) {
    setNewest(history, { since: t, until: t, held: n, earlier: undefined });
    history.lastAt = onlyKept;
    return true;
  }
  if (lastAt !== onlyKept || t < since) return false;
  history.until = Math.max(until, t);
  history.held += n;
  return true;
}

/** Records a grant of `n` permits at `t`, which was charged at `moment`, perhaps a millisecond earlier. */
export function join(history: Bucket, now: number, moment: number, t: number, n: number): void {
  const { lastAt, since, until, held, earlier, burst } = history;
  if (t > until && moment !== lastAt) {
    const before = held > 0 ? { since, until, held, earlier } : undefined;
    setNewest(history, { since: t, until: t, held: n, earlier: before });
    history.lastAt = moment;
    // All reservations of a step count as taken at its first moment: permits that come back are not granted before. So steps that
    // are ahead are as much smaller.
    const part = until > now ? mergedPart ** 3 : mergedPart;
    if (before && heldWithEarlier(before) * part <= burst) merge(before);
    limitSteps(history, now);
    return;
  }
  if (t < history.sameSince) joinCharged(history, now, t);
  const after = stepAfter(history, t);
  const step = after ? after.earlier : history;
  if (step && (!after || t <= step.until)) {
    step.until = Math.max(step.until, t);
    step.held += n;
    if (!after && moment !== lastAt) history.lastAt = mixed;
    return;
  }
  after!.earlier = { since: t, until: t, held: n, earlier: step };
  limitSteps(history, now);
}

/**
 * Makes one step of all that follow a grant for `t` among the reservations that were charged when the rate changed, before this
 * grant: so it counts as later than each of them.
 */
function joinCharged(history: BucketHistory, now: number, t: number): void {
  while (history.earlier && history.earlier.until >= t) merge(history);
  history.since = Math.min(history.since, t);
  // A reservation among them was not charged then.
  if (t > now + 1) history.unsureUntil = history.until;
}

/**
 * Keeps the number of steps within its bounds. The newest step stays as it is. The next ones are merged first: many of their
 * permits come back before it matters how exact a step is, which is when it leaves hardly any room in the bucket.
 */
function limitSteps(history: Bucket, now: number): void {
  let ahead = 0;
  let past = 0;
  for (let step: Step | undefined = history; step; step = step.earlier)
    if (step.until > now) ahead++;
    else past++;
  if (ahead > mostAhead) {
    let step = history.earlier!;
    let least = step;
    for (let i = 3; i < ahead; i++) {
      step = step.earlier!;
      if (heldWithEarlier(step) < heldWithEarlier(least)) least = step;
    }
    merge(least);
    return;
  }
  if (past <= mostPast) return;
  const { burst, interval, units } = history;
  const taken = burst * interval - units;
  past = -ahead;
  for (let step: Step | undefined = history; step; step = step.earlier) {
    past++;
    const { earlier } = step;
    if (!earlier || earlier.until > now) continue;
    // Of grants before the bucket was full, no refund restores anything.
    if (roomAfter(history, now, earlier.since, earlier.held, taken, history) <= 0) step.earlier = undefined;
  }
  // Steps of a quarter or half of the bucket, if that is not enough: they restore less than small ones, but more than none.
  for (let part = mergedPart; part > 1; part /= 2)
    for (let step = history.earlier; step; step = step.earlier)
      if (step.until <= now)
        for (; past > keptPast && heldWithEarlier(step) * part <= burst; past--) merge(step);
  let kept = 0;
  for (let step: Step | undefined = history; step; step = step.earlier)
    if (step.until <= now && ++kept === keptPast) step.earlier = undefined;
}

/** Removes `n` permits granted at `t`. */
export function leave(history: BucketHistory, t: number, n: number): void {
  const after = stepAfter(history, t);
  const step = after ? after.earlier : history;
  if (!step || t > step.until) return;
  step.held -= n;
  if (step.held > 0) return;
  if (after) after.earlier = step.earlier;
  else dropNewest(history);
}

/** Removes the reservations later than `until`, which are void. */
export function cut(history: BucketHistory, until: number): void {
  while (history.since > until) dropNewest(history);
  if (history.until <= until) return;
  history.until = history.unsureUntil = until;
  history.lastAt = mixed;
}

/** Another rate comes into force. Reservations keep their moments, although the permits of all of them are charged now. */
export function changeRate(history: Bucket, now: number): void {
  const { sameSince, unsureUntil } = history;
  history.former = formerAfter(history, now);
  // Some were charged at an earlier change.
  if (sameSince > now) history.unsureUntil = Math.max(unsureUntil, sameSince - 1);
  history.sameSince = Math.max(newestIn(history) + 1, now);
  history.lastAt = mixed;
}

/**
 * The refill up to a change of the rate, now: that at the last rate, or that since the change before it, as if the slower rate had
 * been in force all the time. Of these, it is the one that is more.
 */
function formerAfter({ permits, interval, sameSince, former }: Bucket, now: number): FormerRefill {
  const last = { permits, interval, from: sameSince, until: now };
  // A conversion into other units is rounded, and only once.
  if (former?.interval !== interval) return last;
  const slower = Math.min(former.permits, permits);
  return (now - former.from) * slower > (now - sameSince) * permits
    ? { permits: slower, interval, from: former.from, until: now }
    : last;
}

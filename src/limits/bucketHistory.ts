/**
 * The history of a bucket's grants, for refunds and for grants ahead of reservations.
 *
 * Without a refunded grant, the level before every later grant would have been higher, and any surplus above
 * the capacity would have been lost. So a refund restores at most the least room between the level and the
 * capacity just before any of these grants.
 *
 * The permits taken at another moment follow from those taken now: the refill since then is added, and the
 * permits held for later moments are subtracted. The steps record how many are held.
 *
 * The history is itself the newest step, as most buckets of a store have no other. Without grants, this one holds nothing.
 */
export interface BucketHistory extends Step {
  /**
   * The moment at which the grants of the newest step were charged, with no refill between them;
   * {@link closed} if later grants must not join them, {@link mixed} if there was a refill between them, {@link onlyKept} if they are
   * never refunded.
   */
  lastAt: number;
  /** Reservations up to this moment were changed, or charged, in a way that the steps do not show. */
  unsureUntil: number;
  /** Grants for this moment or later were made at the present rate. */
  sameSince: number;
  /** The refill before the last change of the rate, if there was one. */
  former: FormerRefill | undefined;
}

/** At least so much was refilled from `from` to `until`, under former rates. */
interface FormerRefill extends Refill {
  from: number;
  until: number;
}

/** Permits that are held for moments from `since` to `until`. */
interface Step {
  since: number;
  until: number;
  held: number;
  /** The step before it. */
  earlier: Step | undefined;
}

/** The refill of a bucket: `permits` units in a millisecond, of which `interval` are one permit. */
interface Refill {
  permits: number;
  interval: number;
}

interface Bucket extends BucketHistory, Refill {
  burst: number;
  /** The units in the bucket. */
  units: number;
}

export const closed = -1;
export const mixed = -2;
const onlyKept = -3;

/**
 * Two steps become one if together they hold at most this part of a full bucket, or, while there are too many, up to half of it: a
 * refund restores the less, the larger they are.
 */
const mergedPart = 8;
/** The most steps of past grants, the number that is kept when there are more, and the most steps of reservations. */
const mostPast = 24;
const keptPast = 20;
const mostAhead = 64;

/** Forgets the grants of a full bucket: no refund of them can restore anything. */
export function forget(history: BucketHistory): void {
  history.earlier = undefined;
  dropNewest(history);
}

function dropNewest(history: BucketHistory): void {
  setNewest(history, history.earlier ?? { since: -1, until: -1, held: 0, earlier: undefined });
  history.lastAt = mixed;
}

function setNewest(history: BucketHistory, { since, until, held, earlier }: Step): void {
  history.since = since;
  history.until = until;
  history.held = held;
  history.earlier = earlier;
}

/** An upper bound of the newest moment granted or reserved; -1 for none. */
export function newestIn({ until }: BucketHistory): number {
  return until;
}

/** The earliest of the steps that begin after `t`. */
function stepAfter(history: BucketHistory, t: number): Step | undefined {
  let after: Step | undefined;
  for (let step: Step | undefined = history; step && step.since > t; step = step.earlier) after = step;
  return after;
}

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

/** The permits held by a step and the one before it; Infinity if there is none. */
function heldWithEarlier({ held, earlier }: Step): number {
  return held + (earlier?.held ?? Infinity);
}

/** Merges a step with the one before it. */
function merge(step: Step): void {
  const { since, held, earlier } = step.earlier!;
  step.since = since;
  step.held += held;
  step.earlier = earlier;
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

/**
 * A lower bound of the room in the bucket just before each grant that followed `n` permits granted at `t`, in
 * units. `taken` are the units taken now.
 */
export function roomAfter(
  history: BucketHistory,
  now: number,
  t: number,
  n: number,
  taken: number,
  { permits, interval }: Refill,
): number {
  const { lastAt, sameSince, former } = history;
  // Units of refill since a moment; negative if the moment is ahead.
  const refillSince = (moment: number) => {
    if (moment > now) return (now - moment) * permits;
    const present = Math.max(0, now - Math.max(moment, sameSince)) * permits;
    return former ? present + formerRefill(former, moment, interval) : present;
  };
  let later = 0;
  let room = Infinity;
  for (let step: Step | undefined = history; step; step = step.earlier) {
    const { since, until, held } = step;
    if (t > until) return room;
    if (t >= since && step === history && lastAt >= closed) return room;
    const others = t >= since ? held - n : held;
    later += others;
    // A reservation is made for a whole millisecond, so the level before it may exceed the capacity.
    const brim = until > now ? permits - 1 : 0;
    if (others > 0) room = Math.min(room, taken + refillSince(until) - later * interval + brim);
    if (t >= since) return room;
  }
  return 0;
}

/** A lower bound of the refill before the change of the rate, since a moment, in present units. */
function formerRefill({ from, until, ...former }: FormerRefill, moment: number, interval: number): number {
  const units = Math.max(0, until - Math.max(moment, from)) * former.permits;
  if (former.interval === interval) return units;
  // One unit less, as the permits taken were rounded up at the change; and less what the quotient may be rounded up.
  return Math.max(0, Math.floor((units / former.interval) * interval * (1 - 2 ** -50)) - 1);
}

/**
 * A lower bound of the level, in units, from now on until just before `before`: the least level after any
 * grant until then. `units` are those in the bucket once all reservations are charged.
 */
export function leastLevel(
  history: BucketHistory,
  now: number,
  at: number,
  before: number,
  units: number,
  { permits, interval }: Refill,
): number {
  let least = Infinity;
  let level = units;
  for (let step: Step | undefined = history; step && step.until > now; step = step.earlier) {
    const { since, held } = step;
    if (since < before) least = Math.min(least, level + Math.max(0, since - now) * permits);
    if (since > Math.max(at, history.unsureUntil, history.sameSince - 1)) level += held * interval;
  }
  return Math.min(least, level);
}

/** An upper bound of the permits held for moments after `t`. */
export function heldAfter(history: BucketHistory, t: number): number {
  let held = 0;
  for (let step: Step | undefined = history; step && step.until > t; step = step.earlier) held += step.held;
  return held;
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
 * The refill up to a change of the rate, now: that at the last rate, or that since the change before it, as if the slower rate had been
 * in force all the time. Of these, it is the one that is more.
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

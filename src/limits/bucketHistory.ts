/**
 * The history of a bucket's grants, for refunds and for grants ahead of reservations.
 *
 * Without a refunded grant, the level before every later grant would have been higher, and any surplus above
 * the capacity would have been lost. So a refund restores at most the least room between the level and the
 * capacity just before any of these grants.
 *
 * The permits taken at another moment follow from those taken now: the refill since then is added, and the
 * permits held for later moments are subtracted. The steps record how many are held.
 */
export interface BucketHistory {
  /** The newest first. */
  steps: Step[];
  /**
   * The moment at which the grants of the newest step were charged, with no refill between them;
   * {@link closed} if later grants must not join them, {@link mixed} if there was a refill between them.
   */
  lastAt: number;
  /** Reservations up to this moment were changed in a way that the steps do not show. */
  unsureUntil: number;
  /** Grants for this moment or later were made at the present rate. */
  sameSince: number;
}

/** Permits that are held for moments from `since` to `until`. */
interface Step {
  since: number;
  until: number;
  held: number;
}

/** The refill of a bucket: `permits` units in a millisecond, of which `interval` are one permit. */
interface Refill {
  permits: number;
  interval: number;
}

export const closed = -1;
export const mixed = -2;

/**
 * Two steps become one only if together they hold at most this part of a full bucket: a refund restores the less, the larger
 * they are.
 */
const mergedPart = 8;
/** The most steps of past grants, the number that is kept when there are more, and the most steps of reservations. */
const mostPast = 24;
const keptPast = 16;
const mostAhead = 48;

/** Forgets the grants of a full bucket: no refund of them can restore anything. */
export function forget(history: BucketHistory): void {
  history.steps = [];
  history.lastAt = mixed;
}

/** An upper bound of the newest moment granted or reserved; -1 for none. */
export function newestIn({ steps }: BucketHistory): number {
  return steps.length > 0 ? steps[0].until : -1;
}

/**
 * Records a grant of `n` permits at `t`, which is charged at `moment`, perhaps a millisecond earlier. `burst`
 * is the bucket's capacity.
 */
export function join(
  history: BucketHistory,
  now: number,
  moment: number,
  t: number,
  n: number,
  burst: number,
): void {
  const { lastAt } = history;
  if (t > newestIn(history) && moment !== lastAt) {
    // A new array of its length: `unshift` and a spread would make room for 16 more in every bucket.
    const step = { since: t, until: t, held: n };
    const steps = history.steps.length === 0 ? [step] : [step].concat(history.steps);
    history.steps = steps;
    history.lastAt = moment;
    // All reservations of a step count as taken at its first moment: permits that come back are not granted before. So steps that
    // are ahead are as much smaller.
    const part = steps.length > 2 && steps[1].until > now ? mergedPart ** 2 : mergedPart;
    if (steps.length > 2 && heldBy(steps, 2) * part <= burst) merge(steps, 2);
    limitSteps(steps, now, burst);
    return;
  }
  const { steps } = history;
  const place = t > newestIn(history) ? 0 : steps.findIndex(({ since }) => since <= t);
  const step = steps[place];
  if (step && (place === 0 || t <= step.until)) {
    step.until = Math.max(step.until, t);
    step.held += n;
    if (place === 0 && moment !== lastAt) history.lastAt = mixed;
    return;
  }
  steps.splice(place < 0 ? steps.length : place, 0, { since: t, until: t, held: n });
  limitSteps(steps, now, burst);
}

/** The permits held by a step and the one after it. */
function heldBy(steps: readonly Step[], i: number): number {
  return steps[i].held + steps[i - 1].held;
}

/** Merges a step with the one after it. */
function merge(steps: Step[], i: number): void {
  const held = heldBy(steps, i);
  steps.splice(i - 1, 2, { since: steps[i].since, until: steps[i - 1].until, held });
}

/** Keeps the number of steps within its bounds. The newest step stays as it is. */
function limitSteps(steps: Step[], now: number, burst: number): void {
  let ahead = 0;
  while (ahead < steps.length && steps[ahead].until > now) ahead++;
  if (ahead > mostAhead) {
    let place = 2;
    for (let i = 3; i < ahead; i++) if (heldBy(steps, i) < heldBy(steps, place)) place = i;
    merge(steps, place);
    return;
  }
  if (steps.length - ahead <= mostPast) return;
  while (steps.length - ahead > keptPast) {
    let place = steps.length - 1;
    while (place > Math.max(1, ahead) && heldBy(steps, place) * mergedPart > burst) place--;
    if (place > Math.max(1, ahead)) merge(steps, place);
    else steps.pop();
  }
}

/**
 * A lower bound of the room in the bucket just before each grant that followed `n` permits granted at `t`, in
 * units. `taken` are the units taken now.
 */
export function roomAfter(
  { steps, lastAt, sameSince }: BucketHistory,
  now: number,
  t: number,
  n: number,
  taken: number,
  { permits, interval }: Refill,
): number {
  // Milliseconds of refill since a moment; negative if the moment is ahead. Refill at an earlier rate is not
  // counted, as its amount is not known.
  const ran = (moment: number) =>
    moment > now ? now - moment : Math.max(0, now - Math.max(moment, sameSince));
  let later = 0;
  let room = Infinity;
  for (const step of steps) {
    const { since, until, held } = step;
    if (t > until) return room;
    if (t >= since && step === steps[0] && lastAt !== mixed) return room;
    const others = t >= since ? held - n : held;
    later += others;
    // A reservation is made for a whole millisecond, so the level before it may exceed the capacity.
    const brim = until > now ? permits - 1 : 0;
    if (others > 0) room = Math.min(room, taken + ran(until) * permits - later * interval + brim);
    if (t >= since) return room;
  }
  return 0;
}

/**
 * A lower bound of the level, in units, from now on until just before `before`: the least level after any
 * grant until then. `units` are those in the bucket once all reservations are charged.
 */
export function leastLevel(
  { steps, unsureUntil }: BucketHistory,
  now: number,
  at: number,
  before: number,
  units: number,
  { permits, interval }: Refill,
): number {
  let least = Infinity;
  let level = units;
  for (const { since, until, held } of steps) {
    if (until <= now) break;
    if (since < before) least = Math.min(least, level + Math.max(0, since - now) * permits);
    if (since > Math.max(at, unsureUntil)) level += held * interval;
  }
  return Math.min(least, level);
}

/** An upper bound of the permits held for moments after `t`. */
export function heldAfter({ steps }: BucketHistory, t: number): number {
  let held = 0;
  for (const step of steps) if (step.until > t) held += step.held;
  return held;
}

/** Removes `n` permits granted at `t`. */
export function leave(history: BucketHistory, t: number, n: number): void {
  const { steps } = history;
  const place = steps.findIndex(({ since, until }) => since <= t && t <= until);
  if (place < 0) return;
  steps[place].held -= n;
  if (steps[place].held > 0) return;
  steps.splice(place, 1);
  if (place === 0) history.lastAt = mixed;
}

/** Removes the reservations later than `until`, which are void. */
export function cut(history: BucketHistory, until: number): void {
  const { steps } = history;
  while (steps.length > 0 && steps[0].since > until) {
    steps.shift();
    history.lastAt = mixed;
  }
  if (newestIn(history) <= until) return;
  steps[0].until = history.unsureUntil = until;
  history.lastAt = mixed;
}

/**
 * Merges all steps into one when another rate comes into force: all grants then count as taken now, whatever
 * their moments.
 */
export function changeRate(history: BucketHistory, now: number): void {
  const { steps } = history;
  const newest = newestIn(history);
  history.sameSince = Math.max(newest + 1, now);
  history.unsureUntil = Math.max(0, newest);
  history.lastAt = mixed;
  if (steps.length === 0) return;
  const held = steps.reduce((sum, step) => sum + step.held, 0);
  // Grants from now on that come before its reservations join it.
  const since = Math.min(steps[steps.length - 1].since, now);
  history.steps = [{ since, until: newest, held }];
}

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
export interface FormerRefill extends Refill {
  from: number;
  until: number;
}

/** Permits that are held for moments from `since` to `until`. */
export interface Step {
  since: number;
  until: number;
  held: number;
  /** The step before it. */
  earlier: Step | undefined;
}

/** The refill of a bucket: `permits` units in a millisecond, of which `interval` are one permit. */
export interface Refill {
  permits: number;
  interval: number;
}

export interface Bucket extends BucketHistory, Refill {
  burst: number;
  /** The units in the bucket. */
  units: number;
}

export const closed = -1;
export const mixed = -2;
export const onlyKept = -3;

/** Forgets the grants of a full bucket: no refund of them can restore anything. */
export function forget(history: BucketHistory): void {
  history.earlier = undefined;
  dropNewest(history);
}

export function dropNewest(history: BucketHistory): void {
  setNewest(history, history.earlier ?? { since: -1, until: -1, held: 0, earlier: undefined });
  history.lastAt = mixed;
}

export function setNewest(history: BucketHistory, { since, until, held, earlier }: Step): void {
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
export function stepAfter(history: BucketHistory, t: number): Step | undefined {
  let after: Step | undefined;
  for (let step: Step | undefined = history; step && step.since > t; step = step.earlier) after = step;
  return after;
}

/** The permits held by a step and the one before it; Infinity if there is none. */
export function heldWithEarlier({ held, earlier }: Step): number {
  return held + (earlier?.held ?? Infinity);
}

/** Merges a step with the one before it. */
export function merge(step: Step): void {
  const { since, held, earlier } = step.earlier!;
  step.since = since;
  step.held += held;
  step.earlier = earlier;
}

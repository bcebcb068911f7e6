/**
 * What a bucket remembers of its grants, for refunds.
 *
 * Without the refunded grant, the level before every later grant would have been higher, and any surplus
 * above the capacity would have been lost. So a refund restores at most the least room between the level and
 * the capacity just before any of these grants.
 *
 * Just before a grant, at least as much is taken as now, minus the permits held for that moment or later. Two
 * steps, and the last grants separately, record how many these are.
 */
export interface BucketLine {
  /** The newest moment granted or reserved, or later. */
  tail: number;
  /** Permits held for `since1` or later. */
  since1: number;
  held1: number;
  /** Permits held for `since0` or later, before `since1`. */
  since0: number;
  held0: number;
  /**
   * The moment at which the last grants were charged, with no refill between them. -1 if later grants must
   * not join them.
   */
  lastAt: number;
  /** The newest moment granted or reserved before the last grants, or later. */
  lastAfter: number;
  /** The permits of the last grants. */
  lastCount: number;
  /** Grants for this moment or later were made at the present rate. */
  sameSince: number;
}

export function emptyLine(): BucketLine {
  // Not in two lines of spread objects: those take a hundred times as long.
  return {
    tail: -1,
    since1: 0,
    held1: 0,
    since0: 0,
    held0: 0,
    lastAt: -1,
    lastAfter: -1,
    lastCount: 0,
    sameSince: 0,
  };
}

/**
 * Records a grant of `n` permits at `t`, which is charged at `moment`, perhaps a millisecond earlier. `burst`
 * is the bucket's capacity.
 */
export function join(
  line: BucketLine,
  now: number,
  moment: number,
  t: number,
  n: number,
  burst: number,
): void {
  if (moment === line.lastAt) line.lastCount += n;
  else {
    beginStep(line, now, burst);
    line.lastAt = moment;
    line.lastAfter = line.tail;
    line.lastCount = n;
  }
  hold(line, t, n);
  line.tail = Math.max(line.tail, t);
}

/**
 * Starts another step with the last grants, if the present step holds more than half a burst and all earlier
 * grants are due.
 */
function beginStep(line: BucketLine, now: number, burst: number): void {
  const { tail, since1, held1, lastAfter, lastCount } = line;
  if (now < since1 || lastAfter < since1 || held1 * 2 <= burst) return;
  line.since0 = since1;
  line.since1 = lastAfter + 1;
  line.held1 = tail > lastAfter ? lastCount : 0;
  line.held0 = held1 - line.held1;
}

function hold(line: BucketLine, t: number, n: number): void {
  if (t >= line.since1) line.held1 = Math.max(0, line.held1 + n);
  else if (t >= line.since0) line.held0 = Math.max(0, line.held0 + n);
}

/**
 * A lower bound of the room in the bucket just before each grant that followed `n` permits granted at `t`, in
 * units of 1/`interval` of a permit. `taken` is what is taken now; `permits` are refilled per millisecond.
 */
export function roomAfter(
  line: BucketLine,
  now: number,
  t: number,
  n: number,
  taken: number,
  { permits, interval }: { permits: number; interval: number },
): number {
  const { tail, since1, held1, since0, held0, lastAfter, sameSince } = line;
  if (t > lastAfter) return Infinity;
  if (t < since0) return 0;
  // Milliseconds of refill since a moment; negative if the moment is ahead. Refill at an earlier rate is not
  // counted, as its amount is not known.
  const ran = (moment: number) =>
    moment > now ? now - moment : Math.max(0, now - Math.max(moment, sameSince));
  const later = t < since1 ? held1 : held1 - n;
  const room = later > 0 ? taken + ran(tail) * permits - later * interval : Infinity;
  if (t >= since1 || held0 <= n) return room;
  return Math.min(room, taken + ran(Math.min(tail, since1 - 1)) * permits - (held0 - n + held1) * interval);
}

/** Removes `n` permits granted at `t`. */
export function leave(line: BucketLine, t: number, n: number): void {
  hold(line, t, -n);
  if (t <= line.lastAfter) return;
  line.lastCount -= n;
  // The last grants are all refunded, so the ones before them are now the newest.
  if (line.lastCount > 0) return;
  endLast(line);
  shorten(line, line.lastAfter);
}

/** Reservations later than `after` are void, and no moment is later than `tail`. */
export function cut(line: BucketLine, after: number, tail: number): void {
  if (line.lastAt > after) endLast(line);
  if (tail < line.tail) shorten(line, tail);
}

/**
 * Another rate is in force from now on. All grants that are held count as taken now, whatever their moments,
 * so one step holds them.
 */
export function changeRate(line: BucketLine, now: number): void {
  line.sameSince = line.since1 = Math.max(line.tail + 1, now);
  line.held0 += line.held1;
  line.held1 = 0;
  line.lastAt = -1;
}

function endLast(line: BucketLine): void {
  line.lastAt = -1;
  line.lastCount = 0;
}

/** No moment is later than `tail` any more. Later grants come after all grants made until now. */
function shorten(line: BucketLine, tail: number): void {
  line.tail = tail;
  line.lastAfter = Math.min(line.lastAfter, tail);
  if (line.since1 > tail + 1) {
    line.since1 = tail + 1;
    line.held1 = 0;
  }
  if (line.since0 > tail + 1) {
    line.since0 = tail + 1;
    line.held0 = 0;
  }
  line.sameSince = Math.min(line.sameSince, tail + 1);
}

/**
 * What a bucket knows of its grants, for giving back. Taking a grant out of the middle of the line raises the level before
 * every grant of a later moment, and what would then lie above the brim is lost. So it gives back at most the least room
 * between the level and the brim just before any of these.
 *
 * Just before a grant, what is taken is at least what is taken now, less what is held of that moment or later. How much that is,
 * two steps of the line tell, and the last grants apart from them.
 */
export interface BucketLine {
  /** No moment of what is granted or booked is later. */
  tail: number;
  /** Permits that are held of the moment `since1` or later. */
  since1: number;
  held1: number;
  /** Permits that are held of moments from `since0` on, before `since1`. */
  since0: number;
  held0: number;
  /** The last grants that were charged at one moment: nothing has run in between them. Later ones are none of them if it is -1. */
  lastAt: number;
  /** No moment of what was granted before them is later. */
  lastAfter: number;
  /** Their permits. */
  lastCount: number;
  /** What was granted for this moment or later was granted at the rate of now. */
  sameSince: number;
}

export function emptyLine(): BucketLine {
  return {
    ...{ tail: -1, since1: 0, held1: 0, since0: 0, held0: 0 },
    ...{ lastAt: -1, lastAfter: -1, lastCount: 0, sameSince: 0 },
  };
}

/** A grant of `n` permits for the moment `t`, charged at another that may lie a millisecond earlier, of a bucket of `burst`. */
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

/** Where the step holds much, and all that came before it has been granted, another begins with the last grants. */
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
 * The least room before any grant that came after `n` permits of the moment `t`, in units of 1/`interval` of a permit: `taken` are
 * taken now, and `permits` run in with each millisecond.
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
  // What has run in since a moment, or will have by then; at another rate nobody knows what did.
  const ran = (moment: number) =>
    moment > now ? now - moment : Math.max(0, now - Math.max(moment, sameSince));
  const later = t < since1 ? held1 : held1 - n;
  const room = later > 0 ? taken + ran(tail) * permits - later * interval : Infinity;
  if (t >= since1 || held0 <= n) return room;
  return Math.min(room, taken + ran(Math.min(tail, since1 - 1)) * permits - (held0 - n + held1) * interval);
}

/** `n` permits of the moment `t` are given back. */
export function leave(line: BucketLine, t: number, n: number): void {
  hold(line, t, -n);
  if (t <= line.lastAfter) return;
  line.lastCount -= n;
  // With the last grants gone, those before them are the newest.
  if (line.lastCount > 0) return;
  endLast(line);
  shorten(line, line.lastAfter);
}

/** Nothing stands that was booked for later than the moment `after`, and no moment is later than `tail`. */
export function cut(line: BucketLine, after: number, tail: number): void {
  if (line.lastAt > after) endLast(line);
  if (tail < line.tail) shorten(line, tail);
}

/** Another rate is in force from now on. All that is held counts as taken now, whatever its moment: one step holds it. */
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

/** Nothing stands for later than that: what comes for later comes after all that was granted until now. */
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

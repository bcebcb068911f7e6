/**
 * What a bucket knows of its grants, for giving back. Taking a grant out of the middle of the line raises the level before
 * every later one: what would then lie above the brim is lost. So it gives back at most the least room between the level and
 * the brim just before any later grant. Of that, the line keeps two steps, and the last grants apart from them.
 *
 * Rooms are in units of the bucket. "Later" is by the order in which grants were made; a refund knows only a moment: each
 * step begins after the moments of all that were made before it.
 */
export interface BucketLine {
  /** No moment of what is granted or booked is later. */
  tail: number;
  /** The least room before any grant that came after those of the moment `since1` or later. */
  since1: number;
  room1: number;
  /** The same of an earlier step. */
  since0: number;
  room0: number;
  /** The last grants that were charged at one moment: nothing has run in between them. Later ones are none of them if it is -1. */
  lastAt: number;
  /** No moment of what was granted before them is later. */
  lastAfter: number;
  /** The room before the first of them, which the steps do not count yet. */
  lastRoom: number;
  /** Their permits. */
  lastCount: number;
  /** What was granted for this moment or later was granted at the rate of now. */
  sameSince: number;
}

export function emptyLine(cap: number): BucketLine {
  return {
    ...{ tail: -1, since1: 0, room1: cap, since0: 0, room0: cap },
    ...{ lastAt: -1, lastAfter: -1, lastRoom: cap, lastCount: 0, sameSince: 0 },
  };
}

/** A grant for the moment `t`, charged at another that may lie a millisecond earlier, with so much room before it. */
export function join(
  line: BucketLine,
  cap: number,
  room: number,
  moment: number,
  t: number,
  n: number,
): void {
  if (moment === line.lastAt) line.lastCount += n;
  else {
    countLast(line, cap, room);
    line.lastAt = moment;
    line.lastAfter = line.tail;
    line.lastRoom = room;
    line.lastCount = n;
  }
  line.tail = Math.max(line.tail, t);
}

/** The steps count the last grants, as others follow. Where the room has become small, and is large again, a step begins. */
function countLast(line: BucketLine, cap: number, nextRoom: number): void {
  const { lastAfter, lastRoom } = line;
  line.room0 = Math.min(line.room0, lastRoom);
  line.room1 = Math.min(line.room1, lastRoom);
  if (line.room1 * 2 >= cap || (cap - nextRoom) * 2 > cap - line.room1) return;
  line.since0 = line.since1;
  line.room0 = line.room1;
  line.since1 = lastAfter + 1;
  line.room1 = cap;
}

/** What a grant of the moment `t` can give back at most for the sake of those that came after it. */
export function roomSince(line: BucketLine, t: number): number {
  if (t > line.lastAfter) return Infinity;
  if (t >= line.since1) return Math.min(line.room1, line.lastRoom);
  return t >= line.since0 ? Math.min(line.room0, line.lastRoom) : 0;
}

/** `n` permits of the moment `t` are given back, which raises the level by `back`. */
export function leave(line: BucketLine, cap: number, t: number, n: number, back: number): void {
  if (t <= line.lastAfter) {
    line.lastRoom -= back;
    line.room1 -= back;
    line.room0 = t >= line.since1 ? Math.min(line.room0, line.room1) : line.room0 - back;
    return;
  }
  line.lastCount -= n;
  // With the last grants gone, those before them are the newest.
  if (line.lastCount <= 0) {
    endLast(line, cap);
    shorten(line, line.lastAfter);
  }
}

/** The level is raised by what was taken nobody knows when. */
export function raise(line: BucketLine, back: number): void {
  line.lastRoom -= back;
  line.room1 -= back;
  line.room0 -= back;
}

/** Nothing stands that was booked for later than the moment `after`, the level is raised by `back` for it, and no moment is later than `tail`. */
export function cut(line: BucketLine, cap: number, after: number, back: number, tail: number): void {
  const { since0, since1, room0, room1, lastRoom, lastAfter } = line;
  // As if what is cut had cost less: where that leaves room before all that came after it, the steps go on to hold.
  const room = after >= lastAfter ? Infinity : Math.min(after + 1 >= since1 ? room1 : room0, lastRoom);
  if (back > room || after + 1 < since0) {
    line.since0 = line.since1 = line.tail + 1;
    line.room0 = line.room1 = cap;
    line.lastAfter = line.tail;
    endLast(line, cap);
  } else if (after < lastAfter) raise(line, back);
  if (line.lastAt > after) {
    line.room0 = Math.min(line.room0, line.lastRoom);
    line.room1 = Math.min(line.room1, line.lastRoom);
    endLast(line, cap);
  }
  if (tail < line.tail) shorten(line, tail);
}

/** Under another rate, what is taken goes on to be taken: so do the rooms, which are what was taken before a grant. */
export function convert(line: BucketLine, roomOf: (room: number) => number): void {
  line.room0 = roomOf(line.room0);
  line.room1 = roomOf(line.room1);
  line.lastRoom = roomOf(line.lastRoom);
  line.sameSince = line.tail + 1;
  line.lastAt = -1;
}

function endLast(line: BucketLine, cap: number): void {
  line.lastAt = -1;
  line.lastRoom = cap;
  line.lastCount = 0;
}

/** Nothing stands for later than that: what comes for later comes after all that was granted until now. */
function shorten(line: BucketLine, tail: number): void {
  line.tail = tail;
  line.lastAfter = Math.min(line.lastAfter, tail);
  line.since1 = Math.min(line.since1, tail + 1);
  line.since0 = Math.min(line.since0, line.since1);
  line.sameSince = Math.min(line.sameSince, tail + 1);
}

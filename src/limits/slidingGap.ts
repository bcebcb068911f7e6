/** What is read of the state of a sliding window. */
interface State {
  readonly permits: number;
  readonly interval: number;
  readonly resolution: number;
  readonly coarsest: number;
  readonly total: number;
  readonly log: number[];
  readonly head: number;
}

/** The most entries ahead that are examined, and the most of the oldest ones. */
const gapLimit = 256;

/**
 * Whether every window stays within the limit with `n` more permits: the window that ends now, and each
 * window that ends with a reservation earlier than `before`. Of an entry only the slot is known, so its
 * grants may lie at the first millisecond of the slot. But `unused` permits of the slot of `before` lie at
 * `before`, if all slots are of one resolution.
 */
export function hasGap(
  state: State,
  now: number,
  at: number,
  n: number,
  before: number,
  _isFreed: boolean,
  unused = 0,
): boolean {
  const { log, head, resolution, coarsest, interval, permits, total } = state;
  const own = coarsest === resolution ? Math.ceil(before / resolution) * resolution : 0;
  let taken = total;
  let ahead = log.length;
  for (; ahead > head && log[ahead - 2] - coarsest >= at; ahead -= 2) {
    if (log.length - ahead === 2 * gapLimit) return false;
    taken -= log[ahead - 1];
  }
  let oldest = head;
  let end = now;
  for (let index = ahead; end < Math.min(before, at + interval); index += 2) {
    for (; oldest < ahead && log[oldest] <= end - interval; oldest += 2) {
      if (oldest - head === 2 * gapLimit) return false;
      taken -= log[oldest + 1];
    }
    if (taken + n > permits) return false;
    if (index === log.length) return true;
    taken += log[index + 1];
    if (log[index] === own) taken -= unused;
    end = log[index] - coarsest + 1;
  }
  return true;
}

/**
 * The first moment, `t` or later, at which `n` permits are free ahead of the reservations. Infinity if none is known. All permits
 * within an interval before or after it count, so that every window stays within the limit.
 */
export function freeBefore(
  { log, head, coarsest, interval, permits, total }: State,
  t: number,
  n: number,
): number {
  let free = t;
  let taken = total;
  let ahead = log.length;
  for (; ahead > head && log[ahead - 2] - coarsest >= free + interval; ahead -= 2) {
    if (log.length - ahead === 2 * gapLimit) return Infinity;
    taken -= log[ahead - 1];
  }
  for (let oldest = head; oldest < head + 2 * gapLimit && oldest < log.length; oldest += 2) {
    if (taken + n <= permits && log[oldest] > free - interval) return free;
    free = Math.max(free, log[oldest] + interval);
    taken -= log[oldest + 1];
    for (; ahead < log.length && log[ahead] - coarsest < free + interval; ahead += 2) taken += log[ahead + 1];
  }
  return Infinity;
}

/** Records `n` permits in a slot before the last one. */
export function insert({ log, head }: Pick<State, 'log' | 'head'>, slot: number, n: number): void {
  let place = log.length;
  while (place > head && log[place - 2] >= slot) place -= 2;
  if (log[place] === slot) log[place + 1] += n;
  else log.splice(place, 0, slot, n);
}

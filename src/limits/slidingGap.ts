/** The log in the state of a sliding window. */
interface Log {
  readonly permits: number;
  readonly interval: number;
  readonly resolution: number;
  readonly coarsest: number;
  readonly total: number;
  readonly times: number[];
  readonly counts: number[];
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
  state: Log,
  now: number,
  at: number,
  n: number,
  before: number,
  _isFreed: boolean,
  unused = 0,
): boolean {
  const { times, counts, head, resolution, coarsest, interval, permits, total } = state;
  const own = coarsest === resolution ? Math.ceil(before / resolution) * resolution : 0;
  let taken = total;
  let ahead = times.length;
  for (; ahead > head && times[ahead - 1] - coarsest >= at; ahead--) {
    if (times.length - ahead === gapLimit) return false;
    taken -= counts[ahead - 1];
  }
  let oldest = head;
  let end = now;
  for (let index = ahead; end < Math.min(before, at + interval); index++) {
    for (; oldest < ahead && times[oldest] <= end - interval; oldest++) {
      if (oldest - head === gapLimit) return false;
      taken -= counts[oldest];
    }
    if (taken + n > permits) return false;
    if (index === times.length) return true;
    taken += counts[index];
    if (times[index] === own) taken -= unused;
    end = times[index] - coarsest + 1;
  }
  return true;
}

/** Records `n` permits in a slot before the last one. */
export function insert(
  { times, counts, head }: Pick<Log, 'times' | 'counts' | 'head'>,
  slot: number,
  n: number,
): void {
  let place = times.length;
  while (place > head && times[place - 1] >= slot) place--;
  if (times[place] === slot) counts[place] += n;
  else {
    times.splice(place, 0, slot);
    counts.splice(place, 0, n);
  }
}

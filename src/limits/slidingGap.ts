/** The part of a sliding window's state that is its log. */
interface Log {
  readonly permits: number;
  readonly interval: number;
  readonly coarsest: number;
  readonly total: number;
  readonly times: number[];
  readonly counts: number[];
  readonly head: number;
}

/** At most so many entries that lie ahead are looked at, and as many of the oldest. */
const gapLimit = 256;

/**
 * Whether `n` permits more leave every window within the limit: the one that ends now, and each that ends with what is booked
 * for a later moment before `before`. Of an entry only its slot is known: it may come with the first millisecond of that.
 */
export function hasGap(state: Log, now: number, at: number, n: number, before: number): boolean {
  const { times, counts, head, coarsest, interval, permits, total } = state;
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
    end = times[index] - coarsest + 1;
  }
  return true;
}

/** Records `n` permits in a slot that lies before the last one. */
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

import type { SlidingWindowState } from './slidingWindow.ts';

/** At most so many entries that lie ahead are looked at, and as many of the oldest. */
const gapLimit = 256;

/**
 * Whether `n` permits more leave every window within the limit: the one that ends now, and each that ends with what is booked
 * for a later moment before `before`. Of an entry only its slot is known: it may come with the first millisecond of that.
 */
export function hasGap(
  state: SlidingWindowState,
  now: number,
  at: number,
  n: number,
  before: number,
): boolean {
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
export function insert({ times, counts, head }: SlidingWindowState, slot: number, n: number): void {
  let place = times.length;
  while (place > head && times[place - 1] >= slot) place--;
  if (times[place] === slot) counts[place] += n;
  else {
    times.splice(place, 0, slot);
    counts.splice(place, 0, n);
  }
}

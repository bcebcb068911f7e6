import { type Control, isIdle } from './control.ts';
import type { LedgerState } from './ledgerState.ts';
import type { Repeats } from './repeats.ts';

/** The state of a limiter, or of one of its clients with the scope `client`. */
export class Place {
  control: Control | undefined;
  ledger: LedgerState | undefined;
  /** Whether the store holds this place. If it was dropped, it must be looked up again. */
  isKept = false;

  constructor(readonly key: string) {}
}

/** Calls between two searches for idle places. */
const lookEvery = 32;
/** The places that a search visits. */
const visits = 8;
/** And as many for each place that was added since the last search: more than one, so that idle places cannot accumulate. */
const visitsPerAdded = 2;

/**
 * The places of a store, by family and key: the keys of a group are a family, so that a place needs no name of its own. One call
 * in a few visits some places in turn and drops the idle ones, so that no timer is needed and no call visits all.
 */
export class Places {
  readonly #families = new Map<string, Map<string, Place>>();
  #hand = this.#search();
  #size = 0;
  #calls = 0;
  #added = 0;
  /** The places that the present search still visits, and its time in epoch milliseconds. */
  #visits = 0;
  #time = 0;
  /**
   * The clock's zero in epoch milliseconds. All limiters use that of the first, so that a limiter created after a step of the
   * wall clock agrees with the older ones.
   */
  origin: number | undefined;
  /** By how many milliseconds the clocks of new ledgers are behind the server's. */
  late = 0;
  /** The latest epoch of any dropped ledger. */
  lastEpoch = 0;
  /** The last grant, as far as it can be repeated. */
  repeats: Repeats | undefined;

  /** The place of a key; if it has none, the given one. */
  of(family: string, key: string, place = new Place(key)): Place {
    const places = this.#families.get(family) ?? new Map<string, Place>();
    const known = places.get(key);
    if (known) return known;
    place.isKept = true;
    if (places.size === 0) this.#families.set(family, places);
    places.set(key, place);
    this.#size++;
    this.#added++;
    return place;
  }

  /** Counts a call made at `serverMs`, and brings the states up to date for it. */
  called(serverMs: number): void {
    this.repeats?.settle();
    this.repeats = undefined;
    if (++this.#calls % lookEvery === 0) this.#look(serverMs);
  }

  #look(serverMs: number): void {
    this.#visits = Math.min(visits + visitsPerAdded * this.#added, this.#size);
    this.#added = 0;
    this.#time = serverMs;
    while (this.#visits > 0 && this.#size > 0) if (this.#hand.next().done) this.#hand = this.#search();
  }

  /** Visits as many places as are to be visited now, and drops those that are idle. */
  *#search(): Generator<undefined, void> {
    for (const [family, places] of this.#families) {
      for (const place of places.values()) {
        if (this.#visits === 0) yield;
        this.#visits--;
        if (!isOver(place, this.#time)) continue;
        this.lastEpoch = Math.max(this.lastEpoch, place.ledger?.epoch ?? 0);
        place.isKept = false;
        place.ledger = place.control = undefined;
        places.delete(place.key);
        this.#size--;
      }
      if (places.size === 0) this.#families.delete(family);
    }
  }
}

function isOver({ ledger, control }: Place, serverMs: number): boolean {
  if (control && !isIdle(control, serverMs)) return false;
  if (!ledger) return true;
  const now = serverMs + ledger.shift;
  if (ledger.expires > now) return false;
  for (const { until } of ledger.sequences?.values() ?? []) if (until > now) return false;
  return true;
}

import { type Control, isIdle } from './control.ts';
import type { LedgerState } from './ledgerState.ts';
import type { LastRefunds } from './refund.ts';
import type { Repeats } from './repeats.ts';

/** The state of a limiter, or of one of its clients with the scope `client`. */
export class Place {
  control: Control | undefined;
  ledger: LedgerState | undefined;
  /** The family under which the store holds this place; undefined if it was dropped, so that it must be looked up again. */
  family: string | undefined;

  constructor(readonly key: string) {}
}

/** Calls between two searches for idle places. */
const lookEvery = 32;
/** The places that a search visits. */
const visits = 8;
/** And as many for each place that was added since the last search: more than one, so that idle places cannot accumulate. */
const visitsPerAdded = 2;

/**
 * The places of a store. One call in a few visits some places in turn and drops the idle ones, so that no timer is needed and no
 * call visits all.
 */
export class Places {
  /** In no order. */
  readonly #all: Place[] = [];
  /** Those that can be looked up, by family and key: the keys of a group are a family, so that a place needs no name of its own. */
  readonly #families = new Map<string, Map<string, Place>>();
  #isIndexed: boolean;
  /** The index of the place that is visited next. */
  #next = 0;
  #calls = 0;
  #added = 0;
  /**
   * The clock's zero in epoch milliseconds. All limiters use that of the first, so that a limiter created after a step of the
   * wall clock agrees with the older ones.
   */
  origin: number | undefined;
  /** By how many milliseconds the clocks of new ledgers are behind the server's. */
  late = 0;
  /** The latest epoch of any dropped ledger. */
  lastEpoch = 0;
  /** Of each limiter object. Those of objects that are gone are collected as garbage. */
  readonly #refunds = new WeakMap<object, LastRefunds>();
  /** The last grant, as far as it can be repeated. */
  repeats: Repeats | undefined;

  /** Without an index, each ledger has a key of its own: a hash table beside the group's would take up to a quarter of a new key's time. */
  constructor(isIndexed: boolean) {
    this.#isIndexed = isIndexed;
  }

  /** From now on, this place and all new ones can be looked up. */
  index(place?: Place): void {
    this.#isIndexed = true;
    if (place?.family !== undefined) this.#enter(place.family, place);
  }

  /** The place of a key; if it has none, the given one, which is a ledger's own. */
  of(family: string, key: string, own?: Place): Place {
    const known = this.#families.get(family)?.get(key);
    if (known) return known;
    const place = own ?? new Place(key);
    place.family = family;
    this.#all.push(place);
    this.#added++;
    if (this.#isIndexed || !own) this.#enter(family, place);
    return place;
  }

  #enter(family: string, place: Place): void {
    const places = this.#families.get(family) ?? new Map<string, Place>();
    if (places.size === 0) this.#families.set(family, places);
    places.set(place.key, place);
  }

  /** The last refunds of a limiter object. */
  refundsOf(limiter: object): LastRefunds {
    const known = this.#refunds.get(limiter) ?? { last: 0, until: 0 };
    if (known.until === 0) this.#refunds.set(limiter, known);
    return known;
  }

  /** Counts a call made at `serverMs`, and brings the states up to date for it. */
  called(serverMs: number): void {
    this.repeats?.settle();
    this.repeats = undefined;
    if (++this.#calls % lookEvery === 0) this.#look(serverMs);
  }

  /** Visits some places, and drops those that are idle. */
  #look(serverMs: number): void {
    const all = this.#all;
    const most = Math.min(visits + visitsPerAdded * this.#added, all.length);
    this.#added = 0;
    for (let i = 0; i < most; i++) {
      if (this.#next >= all.length) this.#next = 0;
      const place = all[this.#next];
      if (isOver(place, serverMs)) {
        all[this.#next] = all[all.length - 1];
        all.pop();
        this.#drop(place);
      } else this.#next++;
    }
  }

  #drop(place: Place): void {
    this.lastEpoch = Math.max(this.lastEpoch, place.ledger?.epoch ?? 0);
    const places = this.#families.get(place.family!);
    places?.delete(place.key);
    if (places?.size === 0) this.#families.delete(place.family!);
    place.family = place.ledger = place.control = undefined;
  }
}

function isOver({ ledger, control }: Place, serverMs: number): boolean {
  if (control && !isIdle(control, serverMs)) return false;
  if (!ledger) return true;
  return ledger.expires <= serverMs + ledger.shift;
}

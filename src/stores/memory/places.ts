import type { LedgerConfig } from '../store.ts';
import { type Control, isIdle } from './control.ts';
import type { LedgerState } from './ledgerState.ts';
import type { Repeats } from './repeats.ts';

/** The state of a limiter, or of one of its clients with the scope `client`. */
export class Place {
  control: Control | undefined;
  ledger: LedgerState | undefined;
  /** Whether the store still holds this place. If it was dropped, it must be looked up again. */
  isKept = true;

  constructor(readonly text: string) {}
}

/** Calls between two searches for idle places. */
const lookEvery = 32;
/** The places that a search visits. */
const visits = 8;
/** And as many for each place that was added since the last search: more than one, so that idle places cannot accumulate. */
const visitsPerAdded = 2;

/**
 * The places of a store, by key. One call in a few visits some of them in turn and drops the idle ones, so that
 * no timer is needed and no call visits all.
 */
export class Places {
  readonly #all = new Map<string, Place>();
  #hand = this.#all.values();
  #calls = 0;
  #added = 0;
  /** The latest epoch of any dropped ledger. */
  lastEpoch = 0;
  /** The last grant, as far as it can be repeated. */
  repeats: Repeats | undefined;

  /** The place of a limiter, or of one of its clients with the scope `client`. */
  of({ prefix, name, key }: LedgerConfig, clientId?: string): Place {
    // Joined, as a concatenated string would keep each of its parts for as long as the place lives.
    const text = [prefix, name, key, clientId].map(textOf).join('');
    const known = this.#all.get(text);
    if (known) return known;
    const place = new Place(text);
    this.#all.set(text, place);
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
    const most = visits + visitsPerAdded * this.#added;
    this.#added = 0;
    for (let left = Math.min(most, this.#all.size); left > 0; left--) {
      const { done, value: place } = this.#hand.next();
      if (done) this.#hand = this.#all.values();
      else if (isOver(place, serverMs)) {
        place.isKept = false;
        this.lastEpoch = Math.max(this.lastEpoch, place.ledger?.epoch ?? 0);
        this.#all.delete(place.text);
      }
    }
  }
}

/** One part of a place's key. The length prefix keeps the parts unambiguous. */
function textOf(part: string | undefined): string {
  return part === undefined ? '-' : `${part.length}:${part}`;
}

function isOver({ ledger, control }: Place, serverMs: number): boolean {
  if (control && !isIdle(control, serverMs)) return false;
  if (!ledger) return true;
  const now = serverMs + ledger.shift;
  if (ledger.expires > now) return false;
  for (const { until } of ledger.sequences?.values() ?? []) if (until > now) return false;
  return true;
}

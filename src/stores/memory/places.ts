import type { LedgerConfig } from '../store.ts';
import { type Control, isIdle } from './control.ts';
import type { LedgerState } from './ledgerState.ts';

/** What is kept of a limiter, or of one client of it, that has the limit for itself. */
export class Place {
  control: Control | undefined;
  ledger: LedgerState | undefined;
  /** Whether it is the one that is found: what was dropped is found anew. */
  isKept = true;

  constructor(readonly text: string) {}
}

/** So many calls pass between two looks for places that may be dropped; each sees two for every call. */
const lookEvery = 32;
const looks = 2 * lookEvery;

/**
 * The places of a store, by their texts. Each call moves a hand on, as of a clock, that drops those that say nothing any more:
 * so no timer is needed, and no call pays for all of them.
 */
export class Places {
  readonly #all = new Map<string, Place>();
  #hand = this.#all.values();
  #calls = 0;
  /** The latest epoch of any ledger that was dropped. */
  lastEpoch = 0;

  /** The place of a limiter, or of one client of it that has the limit for itself. */
  of({ prefix, name, key }: LedgerConfig, clientId?: string): Place {
    const text = textOf(prefix) + textOf(name) + textOf(key) + textOf(clientId);
    const known = this.#all.get(text);
    if (known) return known;
    const place = new Place(text);
    this.#all.set(text, place);
    return place;
  }

  /** Counts a call; `serverMs` is the time of it. */
  called(serverMs: number): void {
    if (++this.#calls % lookEvery === 0) this.#look(serverMs);
  }

  #look(serverMs: number): void {
    for (let left = Math.min(looks, this.#all.size); left > 0; left--) {
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

/** A part of a place's text: its length keeps it apart from the next one. */
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

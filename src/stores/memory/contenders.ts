/**
 * The contenders: the clients that hold a reservation or wait for one. The near future is divided among them.
 *
 * A single contender is kept by name, so that a call without contention costs little. The twin of
 * `lua/ledger/contenders.lua`.
 */
export interface Contenders {
  sole: string;
  soleUntil: number;
  /** The moment until which `crowd` may hold a client that still counts. */
  crowdUntil: number;
  /** The moment at which the first client of `crowd` expires: before it, `crowd` need not be searched for expired ones. */
  crowdFrom: number;
  crowd: Map<string, number>;
}

/** The contenders of every ledger that has never had one. Never changed: the second contender creates a new map. */
export const nobody: Contenders = /* @__PURE__ */ Object.freeze({
  sole: '',
  soleUntil: 0,
  crowdUntil: 0,
  crowdFrom: 0,
  crowd: new Map(),
});

/** Whether no client is a contender now. */
export function isCalm({ soleUntil, crowdUntil }: Contenders, now: number): boolean {
  return soleUntil <= now && crowdUntil <= now;
}

/** The number of contenders beside this client. */
export function countOthers(contenders: Contenders, client: string, now: number): number {
  let others = contenders.sole !== client && contenders.soleUntil > now ? 1 : 0;
  if (contenders.crowdUntil > now) {
    if (now >= contenders.crowdFrom) forgetPast(contenders, now);
    others = contenders.crowd.size - (contenders.crowd.has(client) ? 1 : 0);
    if (others === 0) {
      contenders.crowdUntil = 0;
      contenders.sole = client;
      contenders.soleUntil = contenders.crowd.get(client) ?? 0;
    }
  }
  return others;
}

function forgetPast(contenders: Contenders, now: number): void {
  contenders.crowdFrom = Infinity;
  for (const [name, until] of contenders.crowd) {
    if (until <= now) contenders.crowd.delete(name);
    else contenders.crowdFrom = Math.min(contenders.crowdFrom, until);
  }
}

/** Counts the client as a contender until a moment; a past moment removes it. Returns the contenders. */
export function noteContender(known: Contenders, client: string, until: number, now: number): Contenders {
  const stays = until > now;
  if (known === nobody && !stays) return known;
  const contenders = known === nobody ? { ...nobody } : known;
  if (contenders.crowdUntil > now) {
    if (stays) {
      contenders.crowd.set(client, Math.max(until, contenders.crowd.get(client) ?? 0));
      contenders.crowdUntil = Math.max(contenders.crowdUntil, until);
      contenders.crowdFrom = Math.min(contenders.crowdFrom, until);
    } else contenders.crowd.delete(client);
  } else if (contenders.sole === client) {
    contenders.soleUntil = stays ? Math.max(until, contenders.soleUntil) : 0;
  } else if (stays && contenders.soleUntil > now) {
    contenders.crowd = new Map([
      [contenders.sole, contenders.soleUntil],
      [client, until],
    ]);
    contenders.crowdUntil = Math.max(until, contenders.soleUntil);
    contenders.crowdFrom = Math.min(until, contenders.soleUntil);
  } else if (stays) {
    contenders.sole = client;
    contenders.soleUntil = until;
  }
  return contenders;
}

/**
 * Who shares the near future: the clients that hold a reservation or wait for one.
 *
 * One client alone is kept by name, so that a call without contention pays nothing for the counting.
 */
export interface Contenders {
  sole: string;
  soleUntil: number;
  /** Until when `crowd` may hold anyone who counts. */
  crowdUntil: number;
  /** Nobody leaves the crowd before this moment: until then nobody has to be looked for. */
  crowdFrom: number;
  crowd: Map<string, number>;
}

export function noContenders(): Contenders {
  return { sole: '', soleUntil: 0, crowdUntil: 0, crowdFrom: 0, crowd: nobody };
}

/** Never added to: whoever starts a crowd makes one of its own. */
const nobody: Contenders['crowd'] = new Map();

/** Whether no client has counted for a while, this one included. */
export function isCalm({ soleUntil, crowdUntil }: Contenders, now: number): boolean {
  return soleUntil <= now && crowdUntil <= now;
}

/** How many contenders there are, with this client if it `joins` them; at least 1. */
export function countContenders(contenders: Contenders, client: string, joins: boolean, now: number): number {
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
  return Math.max(1, others + (joins ? 1 : 0));
}

function forgetPast(contenders: Contenders, now: number): void {
  contenders.crowdFrom = Infinity;
  for (const [name, until] of contenders.crowd) {
    if (until <= now) contenders.crowd.delete(name);
    else contenders.crowdFrom = Math.min(contenders.crowdFrom, until);
  }
}

/** Remembers the client until a moment; one that is past takes it out. */
export function noteContender(contenders: Contenders, client: string, until: number, now: number): void {
  const stays = until > now;
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
}

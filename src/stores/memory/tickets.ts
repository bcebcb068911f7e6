import type { LedgerState, Ticket } from './ledgerState.ts';
import { callAtPace, mostTickets } from './order.ts';
import { areRare, keptLoad } from './pace.ts';

/** The turn of a client, as the tickets of the clients in front determine it. */
export interface Turn {
  /** Milliseconds by which the waiting clients in front delay this one, if no permits are refunded. */
  delay: number;
  /** The same of all clients in front, without what they are likely to refund: those that were granted call again. */
  expected: number;
  /** Whether no client waits in front, or none that this one must let pass. */
  isFirst: boolean;
  /** Whether the first client has been overtaken for so long that this one must not be granted anything. */
  isBarred: boolean;
}

/**
 * For how long after its turn a client can be overtaken: milliseconds. Of several limits, for so many times as long as the others
 * then leave free permits to it.
 */
const mostDelay = 1000;
const delaysOfSeveral = 3;
/**
 * The others then leave free permits to the first client, whose request may need more, for as long as its permits take at the full
 * rate: of one limit, at least so many milliseconds; of several, at most, as the others may wait for another one.
 */
const leastHold = 1000;
const mostOfSeveral = 4000;

/**
 * The turn of a client. Forgets the clients that have not called again. Clients that take turns are not barred, nor are others
 * unless permits are rare, as a first client that has crashed would stop them all, or unless there are several limits, for a moment:
 * of these, clients that are ahead leave nothing to a larger request.
 */
export function turnOf(ledger: LedgerState, client: string, now: number, mayBar = false): Turn {
  ledger.tickets = ledger.tickets.filter(({ until }) => until > now);
  let delay = 0;
  let expected = 0;
  let hasPassed = false;
  const isPaced = callAtPace(ledger);
  const first = ledger.tickets.find(({ stride }) => stride > 0);
  // Its request does not fit yet. It may be overtaken again, so that free permits are in use.
  const areSeveral = ledger.limits.length > 1;
  let overtaken = Infinity;
  if (first) {
    const hold = areSeveral ? Math.min(mostOfSeveral, first.stride) : Math.max(leastHold, first.stride);
    const most = areSeveral ? hold * delaysOfSeveral : mostDelay;
    // In whole periods: whoever looks, and whenever, finds the same.
    const periods = Math.floor((now - first.due) / (most + hold));
    if (periods > 0) first.due += periods * (most + hold);
    overtaken = first.due + most;
  }
  for (const { client: other, due, stride } of ledger.tickets) {
    if (other === client) {
      // A waiting client whose turn has passed counts as the first, unless its turn came when the first had been overtaken.
      hasPassed = stride > 0 && due <= now && due < overtaken;
      break;
    }
    delay += Math.max(0, stride);
    const load = keptLoad(ledger, Math.abs(stride), isPaced);
    // One that has not called again, as it was likely to, may have no more requests.
    if (stride > 0 || now < due + load || !isPaced) expected += load;
  }
  const isFirst = hasPassed || delay === 0;
  return {
    delay,
    expected,
    isFirst,
    isBarred: mayBar && !isFirst && overtaken <= now && (areSeveral || areRare(ledger)),
  };
}

/**
 * Gives a client a ticket, or renews the one that it has. Its turn is that of the request for which it begins to wait, or, of
 * clients that take turns, its next one.
 */
export function takeTicket(ledger: LedgerState, ticket: Ticket, takesTurns: boolean): void {
  const { tickets } = ledger;
  const own = tickets.find(({ client }) => client === ticket.client);
  if (own) {
    if (takesTurns || own.stride <= 0) own.due = ticket.due;
    own.until = ticket.until;
    own.stride = ticket.stride;
    own.taken = ticket.taken;
  } else if (tickets.length < mostTickets) ledger.tickets = [...tickets, ticket];
}

/** Removes the ticket of a client that has been granted permits: its next request comes after those of the others. */
export function dropTicket(ledger: LedgerState, client: string): void {
  ledger.tickets = ledger.tickets.filter((ticket) => ticket.client !== client);
}

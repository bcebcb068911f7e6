import type { LedgerState, Ticket } from './ledgerState.ts';

/** The turn of a client, as the tickets of the clients in front determine it. */
export interface Turn {
  /** Milliseconds by which the clients in front delay this one. */
  delay: number;
  /** Whether the first client has been overtaken for so long that this one must not be granted anything. */
  isBarred: boolean;
}

/** For how long after its turn a client can be overtaken: milliseconds. */
const mostDelay = 1000;
/**
 * For how long the others then leave free permits to the first client, whose request may need more: as long as its permits take
 * at the full rate, within these bounds in milliseconds.
 */
const leastHold = 1000;
const mostHold = 4000;
/** The most tickets. A client without one is behind all of them. */
const mostTickets = 64;

/** The turn of a client. Forgets the clients that have not called again. Clients that take turns are not barred. */
export function turnOf(ledger: LedgerState, client: string, now: number, mayBar = false): Turn {
  ledger.tickets = ledger.tickets.filter(({ until }) => until > now);
  let delay = 0;
  const first = ledger.tickets.find(({ stride }) => stride > 0);
  // Its request does not fit yet. It may be overtaken again, so that free permits are in use.
  if (first) {
    const hold = Math.min(mostHold, Math.max(leastHold, first.stride));
    if (first.due + mostDelay + hold <= now) first.due = now;
  }
  const overtaken = first ? first.due + mostDelay : Infinity;
  for (const { client: other, due, stride } of ledger.tickets) {
    if (other === client) {
      // A client whose turn has passed counts as the first, unless its turn came when the first had been overtaken.
      if (due <= now && due < overtaken) delay = 0;
      break;
    }
    delay += stride;
  }
  return { delay, isBarred: mayBar && delay > 0 && overtaken <= now };
}

/** Gives a client a ticket, or renews the one that it has. */
export function takeTicket(ledger: LedgerState, ticket: Ticket): void {
  const { tickets } = ledger;
  const own = tickets.find(({ client }) => client === ticket.client);
  if (own) {
    own.until = ticket.until;
    own.stride = ticket.stride;
    own.taken = ticket.taken;
  } else if (tickets.length < mostTickets) ledger.tickets = [...tickets, ticket];
}

/** Removes the ticket of a client that has been granted permits: its next request comes after those of the others. */
export function dropTicket(ledger: LedgerState, client: string): void {
  ledger.tickets = ledger.tickets.filter((ticket) => ticket.client !== client);
}

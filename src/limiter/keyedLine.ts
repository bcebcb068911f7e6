import type { Dispatcher } from '../dispatcher/dispatcher.ts';
import type { NamedLimits } from '../limits/cost.ts';
import type { ControlledLedger } from '../stores/store.ts';
import { LedgerLine, type LineOptions } from './ledgerLine.ts';

/** The group of a line. */
export interface KeyedOwner<L> extends LineOptions {
  /** Whether all requests are refused. */
  readonly closed: boolean;
  /** Opens the ledger of a line in the store of the group. */
  open(line: KeyedLine<unknown, L>): ControlledLedger;
  /** Records that a line is used. */
  use(line: KeyedLine<unknown, L>): void;
}

/**
 * The line of one limiter of a group. Its ledger is opened when it is first used, and each use keeps the limiter in the group.
 *
 * A closed group refuses all calls but refunds.
 */
export class KeyedLine<P, L> extends LedgerLine<P, KeyedOwner<L>> {
  readonly key: string;
  readonly #named: NamedLimits;
  /** The ledger, once it was used. */
  opened: ControlledLedger | undefined;
  /** The limiter over this line, set right after construction. */
  limiter: L | undefined;
  /** Whether it was used since the last visit of the group's clock hand. */
  used = false;

  constructor(owner: KeyedOwner<L>, key: string, named: NamedLimits) {
    super(owner);
    this.key = key;
    this.#named = named;
  }

  override get name(): string {
    return `${this.options.name}:${this.key}`;
  }

  override get named(): NamedLimits {
    return this.#named;
  }

  override get ledger(): ControlledLedger {
    // A line that the group has dropped is not marked as used.
    if (!this.used) this.options.use(this);
    this.opened ??= this.options.open(this);
    return this.opened;
  }

  override get dispatcher(): Dispatcher {
    if (!this.used) this.options.use(this);
    return super.dispatcher;
  }

  override get closed(): boolean {
    return super.closed || this.options.closed;
  }
}

import type { ControlledLedger, LedgerConfig, Reply, Store } from '../../src/stores/store.ts';

/** Milliseconds that a call takes to the store, and its reply back. */
const trip = 1;

/** A store behind a connection that can be frozen: calls sent meanwhile arrive when it thaws. */
export class Wire implements Store {
  readonly #store: Store;
  #held: (() => void)[] | undefined;
  /** Number of calls sent. */
  sent = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  open(config: LedgerConfig): ControlledLedger {
    const ledger = this.#store.open(config);
    const over = <T>(call: (reply: Reply<T>) => void, reply: Reply<T>) => this.#over(call, reply);
    return {
      sync: false,
      source: 'redis',
      get limits() {
        return ledger.limits;
      },
      reserve: (request, reply) => over((done) => ledger.reserve(request, done), reply),
      refund: (refunds, sequence, reply) => over((done) => ledger.refund(refunds, sequence, done), reply),
      decide: (cost, reply, last) => over((done) => ledger.decide(cost, done, last), reply),
      peek: (reply) => over((done) => ledger.peek(done), reply),
      setRate: (change, reply) => over((done) => ledger.setRate(change, done), reply),
      getRate: (reply) => over((done) => ledger.getRate(done), reply),
      pause: (ms, reply) => over((done) => ledger.pause(ms, done), reply),
      forget: (what, reply) => over((done) => ledger.forget(what, done), reply),
    };
  }

  freeze(): void {
    this.#held ??= [];
  }

  thaw(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const work of held) work();
  }

  #over<T>(call: (reply: Reply<T>) => void, reply: Reply<T>): void {
    this.sent++;
    const work = () => setTimeout(() => call((...answer) => setTimeout(() => reply(...answer), trip)), trip);
    if (this.#held) this.#held.push(work);
    else work();
  }
}

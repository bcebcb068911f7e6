import sinon from 'sinon';
import type { Request } from '../../src/dispatcher/request.ts';
import type { LedgerLine } from '../../src/limiter/ledgerLine.ts';
import type { Limit } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Ledger } from '../../src/stores/store.ts';
import { type Ending, openLedger, openLine, type Recorder, recorder } from '../support/lines.ts';
import { type SlowLedger, slowLedger, type Trip } from '../support/slowLedger.ts';

/** A step of a history. Requests are chosen by a number, modulo their count. */
export type Step =
  | { kind: 'ask'; client: number; cost: number; timeout: number }
  | { kind: 'cancel'; request: number }
  | { kind: 'refund'; request: number }
  | { kind: 'trip'; client: number; trip: Trip }
  | { kind: 'advance'; ms: number };

/** A request of a history, and its result. */
export interface Asked {
  /** Its position among all requests. */
  index: number;
  client: number;
  cost: number;
  timeout: number;
  /** The time of the request. */
  at: number;
  request: Request | undefined;
  cancelled: boolean;
  refunded: boolean;
  endings: Ending<Asked>[];
}

/** Processes that share a limit, each with its own dispatcher and wire, on a fake clock. */
export class Fleet {
  readonly clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
  readonly asked: Asked[] = [];
  /** The granted requests, in the order of their callbacks. */
  readonly granted: Asked[] = [];
  readonly ledger: Ledger;
  readonly lines: { line: LedgerLine<number>; wire: SlowLedger; recorder: Recorder<Asked> }[];

  constructor(limit: Limit, trips: readonly Trip[]) {
    const store = memoryStore();
    this.ledger = openLedger(store, limit, 'onlooker');
    this.lines = trips.map((trip, i) => {
      const wire = slowLedger(openLedger(store, limit, `client ${i}`), trip);
      return { line: openLine(limit, wire), wire, recorder: recorder<Asked>() };
    });
  }

  /** The requests that are still pending. */
  get waiting(): Asked[] {
    return this.asked.filter(({ cancelled, endings }) => !cancelled && endings.length === 0);
  }

  /** The granted permits that were not refunded. */
  get standing(): { cost: number; moment: number }[] {
    return this.asked.flatMap(({ cost, refunded, endings: [ending] }) =>
      ending?.what === 'granted' && !refunded ? [{ cost, moment: ending.grant.moment }] : [],
    );
  }

  get available(): number {
    let found = Number.NaN;
    this.ledger.peek((_, available) => {
      found = available![0];
    });
    return found;
  }

  run(step: Step): void {
    if (step.kind === 'advance') this.clock.tick(step.ms);
    else if (step.kind === 'trip') this.lines[step.client % this.lines.length].wire.trip = step.trip;
    else if (step.kind === 'ask') this.#ask(step.client % this.lines.length, step.cost, step.timeout);
    else if (this.asked.length > 0) this.#change(step.kind, this.asked[step.request % this.asked.length]);
    for (const { recorder } of this.lines)
      for (const ending of recorder.endings.splice(0)) {
        ending.data.endings.push(ending);
        if (ending.what === 'granted') this.granted.push(ending.data);
      }
  }

  /** Advances until no request waits. Returns whether that happened. */
  settle(): boolean {
    for (let i = 0; i < 200 && this.waiting.length > 0; i++) this.run({ kind: 'advance', ms: 1000 });
    return this.waiting.length === 0;
  }

  /** Closes every dispatcher. Returns whether all of them became idle within the time. */
  async close(within: number): Promise<boolean> {
    let idle = 0;
    const closing = this.lines.map(({ line }) => line.close().then(() => idle++));
    await this.clock.tickAsync(within);
    if (idle === this.lines.length) await Promise.all(closing);
    this.run({ kind: 'advance', ms: 0 });
    return idle === this.lines.length;
  }

  end(): void {
    sinon.restore();
  }

  #ask(client: number, cost: number, timeout: number): void {
    const { line, recorder } = this.lines[client];
    const at = performance.now();
    const asked: Asked = {
      index: this.asked.length,
      client,
      cost,
      timeout,
      at,
      request: undefined,
      cancelled: false,
      refunded: false,
      endings: [],
    };
    this.asked.push(asked);
    asked.request = line.ask(recorder, cost === 1 ? [1] : [cost], timeout, asked);
  }

  #change(kind: 'cancel' | 'refund', asked: Asked): void {
    const { line } = this.lines[asked.client];
    const [ending] = asked.endings;
    if (kind === 'cancel' && !ending && asked.request) {
      asked.cancelled = true;
      line.cancel(asked.request);
    }
    if (kind === 'refund' && ending?.what === 'granted' && !asked.refunded) {
      asked.refunded = true;
      line.refund(ending.grant);
    }
  }
}

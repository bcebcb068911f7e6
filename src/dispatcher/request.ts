import type { Cost } from '../limits/cost.ts';
import type { Waiter } from '../port/line.ts';
import type { Block } from './block.ts';
import type { Link } from './chain.ts';

/** Where an request stands: not sent, in a call that is under way, booked, or no longer in the line. */
export type Stage = 'queued' | 'sent' | 'booked' | 'gone';

/**
 * Unbooked requests of one cost that may or may not be served in time. For one more of their cost that has no more time than
 * they have, they count: if one of them is not served, it is not served either.
 */
export interface Peers {
  readonly cost: Cost;
  /** The earliest of their deadlines. */
  deadline: number;
  /** Requests. */
  count: number;
}

/** Requests of one waiter that stand next to each other in the line and ask for the same. */
export class Request implements Link<Request> {
  previous: Request | undefined;
  next: Request | undefined;
  /** The requests of the same waiter before and after it. */
  older: Request | undefined;
  newer: Request | undefined;
  stage: Stage = 'queued';
  /** Where its moments are, while it is booked. */
  block: Block | undefined;
  /** When it is refused: at its deadline, or a while later as long as no answer has come. */
  expires: number;
  /** Calls that had been sent when it joined. */
  calls = 0;
  /** Whether it will be served in any case: by the line as it stands, and if nobody else asks. */
  sure: boolean;
  /** Those it stands among that will be served as long as it is, where it is not sure. */
  peers: Peers | undefined;
  /** Its place in the heap of deadlines, or -1. */
  place = -1;

  constructor(
    readonly waiter: Waiter<unknown>,
    readonly cost: Cost,
    /** Requests: more than one only where nothing tells them apart. */
    public count: number,
    /** Milliseconds that the requests may wait. */
    readonly timeout: number,
    /** By the line's clock. */
    readonly deadline: number,
    readonly data: unknown,
  ) {
    this.expires = deadline;
    this.sure = timeout === Infinity;
  }
}

const nobody: Waiter = { granted() {}, denied() {}, failed() {} };

/** What stands for a request that was granted as soon as it was asked for: there is nothing left to cancel. */
export const goneRequest = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ new Request(nobody, [], 0, 0, 0, undefined),
  { stage: 'gone' as const },
);

import type { Clock } from '../clock.ts';
import type { NamedLimits } from '../limits/cost.ts';
import { LimiterEvents } from '../port/events.ts';
import type { Ledger } from '../stores/store.ts';
import type { WorkQueue } from '../workQueue.ts';
import { ClockOffset } from './clockOffset.ts';
import { FairShare } from './fairShare.ts';
import { GrantBounds } from './grantBounds.ts';
import { HopelessRequests } from './hopelessRequests.ts';
import type { Loop } from './loop.ts';
import { Notice } from './notice.ts';
import { Queue } from './queue.ts';
import { Refunds } from './refunds.ts';
import { Reporter } from './reporter.ts';
import { Reservations } from './reservations.ts';
import { WaitEstimate } from './waitEstimate.ts';

/** The options of a dispatcher. */
export interface DispatcherOptions {
  name: string;
  named: NamedLimits;
  ledger: Ledger;
  clock: Clock;
  maxQueue: number;
  /** Identifies the client and its limit in this process, if several dispatchers may share them. */
  client?: string | undefined;
  /** Whether no other limiter can change the limit. */
  alone?: boolean | undefined;
  events?: LimiterEvents | undefined;
  /** Runs the passes of the dispatchers that share it. */
  works?: WorkQueue | undefined;
  /** Whether calls that bypass the dispatcher are in flight. */
  isBusy?: (() => boolean) | undefined;
}

/** The parts that a dispatcher's modules share. */
export interface Parts extends DispatcherOptions {
  readonly events: LimiterEvents;
  readonly reporter: Reporter;
  readonly loop: Loop;
  readonly queue: Queue;
  readonly refunds: Refunds;
  readonly reservations: Reservations;
  readonly fairShare: FairShare;
  readonly notice: Notice;
  readonly clockOffset: ClockOffset;
  readonly waitEstimate: WaitEstimate;
  readonly bounds: GrantBounds;
  readonly hopeless: HopelessRequests;
}

export function partsOf(options: DispatcherOptions, loop: Loop): Parts {
  const { name, named, ledger, clock, maxQueue, client, alone, isBusy } = options;
  const events = options.events ?? new LimiterEvents(name);
  const reporter = new Reporter(named, events, ledger);
  const queue = new Queue(named.limits.length);
  const fairShare = new FairShare(ledger);
  const refunds = new Refunds(ledger, fairShare, reporter, clock);
  const notice = new Notice(alone);
  const reservations = new Reservations(queue, refunds, clock, notice);
  const waitEstimate = new WaitEstimate(ledger, queue, reservations, refunds);
  const bounds = new GrantBounds(ledger, queue, reservations, refunds, fairShare);
  const hopeless = new HopelessRequests(queue, bounds);
  const clockOffset = new ClockOffset();
  // Listed by name: with a spread, V8 takes many times as long.
  return {
    name,
    named,
    ledger,
    clock,
    maxQueue,
    client,
    alone,
    isBusy,
    events,
    reporter,
    loop,
    queue,
    refunds,
    reservations,
    fairShare,
    notice,
    clockOffset,
    waitEstimate,
    bounds,
    hopeless,
  };
}

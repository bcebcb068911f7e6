import { EventEmitter } from 'node:events';
import type { SinonFakeTimers } from 'sinon';
import * as assert from 'uvu/assert';
import { monotonicClock } from '../../src/clock.ts';
import { type Limit, slidingWindow } from '../../src/limits/limit.ts';
import { type FallbackOptions, fallbackOf } from '../../src/stores/fallback/fallbackOptions.ts';
import { fallbackStore } from '../../src/stores/fallback/fallbackStore.ts';
import { timedStore } from '../../src/stores/redis/timedStore.ts';
import type {
  ControlledLedger,
  LedgerConfig,
  Reply,
  ReserveReply,
  ReserveRequest,
  ServiceChange,
  Store,
} from '../../src/stores/store.ts';
import { limitNames } from '../support/limitNames.ts';

/** A connection whose state is set by the test. */
export class FakeRedis extends EventEmitter {
  connects = 0;

  constructor(public status = 'ready') {
    super();
  }

  connect(): Promise<unknown> {
    this.connects++;
    this.status = 'connecting';
    return Promise.reject(new Error('the connection was refused'));
  }

  become(status: string): void {
    this.status = status;
    this.emit(status);
  }

  /** Number of listeners of all events. */
  get listening(): number {
    return this.eventNames().reduce((sum, event) => sum + this.listenerCount(event), 0);
  }
}

type Operation = Exclude<keyof ControlledLedger, 'sync' | 'source' | 'limits'>;

/** One call of a store, answered by the test. */
export interface Call {
  ledger: string;
  operation: Operation;
  /** The arguments of the call, without the callback. */
  args: unknown[];
  reply: (error: Error | null, value?: unknown) => void;
}

/** A fake remote store: records all calls, and has fixed limits. */
export class Remote implements Store {
  readonly calls: Call[] = [];
  limits: LedgerConfig['limits'] | undefined;

  open({ name, limits }: LedgerConfig): ControlledLedger {
    const call =
      (operation: Operation) =>
      (...args: unknown[]) => {
        const [reply] = args.splice(
          args.findIndex((arg) => typeof arg === 'function'),
          1,
        ) as [Call['reply']];
        this.calls.push({ ledger: name, operation, args, reply });
      };
    const remote = this;
    return {
      sync: false,
      source: 'redis',
      get limits() {
        return remote.limits ?? limits;
      },
      reserve: call('reserve'),
      refund: call('refund'),
      decide: call('decide'),
      peek: call('peek'),
      setRate: call('setRate'),
      getRate: call('getRate'),
      pause: call('pause'),
      forget: call('forget'),
    };
  }

  /** The last call. */
  get last(): Call {
    return this.calls[this.calls.length - 1];
  }

  /** The last call of one kind. */
  lastOf(operation: Operation): Call {
    const calls = this.all(operation);
    return calls[calls.length - 1];
  }

  /** Answers the probe (the last call); the call that it was made for follows. */
  answerProbe(): void {
    if (this.last.operation !== 'peek') throw new Error('there is no probe');
    this.last.reply(null, [0]);
  }

  all(operation: Operation): Call[] {
    return this.calls.filter((call) => call.operation === operation);
  }
}

/** The result of a call (pending, an error or a value) and its time. */
export interface Answer<T> {
  at?: number;
  error?: Error | null;
  value?: T;
}

/** Makes a call, and records its result. */
export function answerOf<T>(call: (reply: Reply<T>) => void): Answer<T> {
  const answer: Answer<T> = {};
  call((error, value) => Object.assign(answer, { at: performance.now(), error, value }));
  return answer;
}

/** A request of one permit. */
export function asking(count = 1, cost = [1], maxWait = Infinity): ReserveRequest {
  return { runs: [{ count, cost, maxWait }], horizon: 20, held: 0, epoch: 0 };
}

/** The reply of Redis that grants all of a request at once. */
export function granting({ runs }: ReserveRequest, more: Partial<ReserveReply> = {}): ReserveReply {
  const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
  return { now: 1000.5, epoch: 7, contenders: 1, segments, ...more };
}

/** A fallback over a fake remote store. */
export function setUp(
  options: FallbackOptions = {},
  { status = 'ready', limits = [limit] }: { status?: string; limits?: Limit[] } = {},
) {
  const redis = new FakeRedis(status);
  const remote = new Remote();
  const store = fallbackStore(remote, redis, fallbackOf(options));
  const changes: ServiceChange[] = [];
  const open = (name = 'api', onServiceChange = (change: ServiceChange) => void changes.push(change)) =>
    store.open({
      name,
      prefix: 'sluice',
      clientId: 'me',
      names: limitNames(limits),
      limits,
      clock: monotonicClock(),
      onServiceChange,
    });
  return { redis, remote, store, open, changes, ledger: open() };
}

/** A fake remote store without a fallback, with a timeout per call in milliseconds. */
export function setUpTimed(timeout: number, status = 'ready') {
  const redis = new FakeRedis(status);
  const remote = new Remote();
  const store = timedStore(remote, redis, timeout);
  const rest = { prefix: 'sluice', clientId: 'me', names: [''], limits: [limit], clock: monotonicClock() };
  const open = (name: string) => store.open({ name, ...rest });
  return { redis, remote, open, ledger: open('api') };
}

/**
 * Asserts that no call has a timer: the remaining one fires once, does not keep the process alive, and is not set
 * again.
 */
export function assertNoCalls(clock: SinonFakeTimers, timeout = 500): void {
  clock.tick(timeout + 1);
  assert.is(clock.countTimers(), 0);
}

/** Milliseconds until an unanswered call is given up: the fake clock adds one for the turn after the timer. */
export const givenUp = 501;

/** The limit that the fallback replaces: its half is five. */
export const limit = slidingWindow({ permits: 10, interval: 1000 });

/** Reserves, and returns the source of the grant. */
export function reserving({ ledger }: ReturnType<typeof setUp>, request: ReserveRequest = asking()) {
  return answerOf<ReserveReply & { source?: string }>((reply) =>
    ledger.reserve(request, (error, value) => reply(error, value && { ...value, source: ledger.source })),
  );
}

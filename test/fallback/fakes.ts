import { EventEmitter } from 'node:events';
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

/** A connection whose state the test sets. */
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

  /** How many listeners there are, of all events. */
  get listening(): number {
    return this.eventNames().reduce((sum, event) => sum + this.listenerCount(event), 0);
  }
}

type Operation = Exclude<keyof ControlledLedger, 'sync' | 'source' | 'limits'>;

/** One call of a store that answers when the test says so. */
export interface Call {
  ledger: string;
  operation: Operation;
  /** What it was called with, without the reply. */
  args: unknown[];
  reply: (error: Error | null, value?: unknown) => void;
}

/** A store far away: all it was called with, and what it says of the limits. */
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

  /** Answers the probe, which is the last call: what it was made for follows. */
  answerProbe(): void {
    if (this.last.operation !== 'peek') throw new Error('there is no probe');
    this.last.reply(null, [0]);
  }

  all(operation: Operation): Call[] {
    return this.calls.filter((call) => call.operation === operation);
  }
}

/** How a call ended: nothing yet, an error or a value; and when. */
export interface Answer<T> {
  at?: number;
  error?: Error | null;
  value?: T;
}

/** Makes a call, and keeps how it ends. */
export function answerOf<T>(call: (reply: Reply<T>) => void): Answer<T> {
  const answer: Answer<T> = {};
  call((error, value) => Object.assign(answer, { at: performance.now(), error, value }));
  return answer;
}

/** A request of one run. */
export function asking(count = 1, cost = [1], maxWait = Infinity): ReserveRequest {
  return { runs: [{ count, cost, maxWait }], horizon: 20, held: 0, epoch: 0 };
}

/** What Redis answers that grants all of a request at once. */
export function granting({ runs }: ReserveRequest, more: Partial<ReserveReply> = {}): ReserveReply {
  const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
  return { now: 1000.5, epoch: 7, contenders: 1, segments, ...more };
}

/** A fallback over a store far away. */
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
      names: limits.map((_, i) => (limits.length === 1 ? '' : `limit ${i}`)),
      limits,
      clock: monotonicClock(),
      onServiceChange,
    });
  return { redis, remote, store, open, changes, ledger: open() };
}

/** A store far away without a fallback, of which a call takes at most so many milliseconds. */
export function setUpTimed(timeout: number, status = 'ready') {
  const redis = new FakeRedis(status);
  const remote = new Remote();
  const store = timedStore(remote, redis, timeout);
  const rest = { prefix: 'sluice', clientId: 'me', names: [''], limits: [limit], clock: monotonicClock() };
  const open = (name: string) => store.open({ name, ...rest });
  return { redis, remote, open, ledger: open('api') };
}

/** Milliseconds until a call that Redis does not answer is given up: the fake clock takes one for the turn after the timer. */
export const givenUp = 501;

/** What the fallback takes the place of: its half is five. */
export const limit = slidingWindow({ permits: 10, interval: 1000 });

/** Reserves, and answers who granted. */
export function reserving({ ledger }: ReturnType<typeof setUp>, request: ReserveRequest = asking()) {
  return answerOf<ReserveReply & { source?: string }>((reply) =>
    ledger.reserve(request, (error, value) => reply(error, value && { ...value, source: ledger.source })),
  );
}

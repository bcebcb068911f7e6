import {
  catchError,
  defer,
  EMPTY,
  type Observable,
  of,
  repeat,
  retry,
  Subject,
  type Subscription,
  take,
  tap,
} from 'rxjs';
import {
  acquirePermits,
  fixedWindow,
  fromThrottled,
  memoryStore,
  type Permit,
  RateLimiter,
  throttleDistributed,
} from '../../src/index.ts';

/** The most streams of a try, and the most actions inside each other. */
const mostStreams = 8;
const mostInside = 3;

interface Stream {
  source?: Subject<number>;
  subscription?: Subscription;
}

/** The streams of one try. Nothing comes back to the window, so what is used at the end is what was emitted. */
export class RandomStreams {
  readonly permits: number;
  readonly limiter: RateLimiter;
  readonly #random: () => number;
  readonly #streams: Stream[] = [];
  used = 0;
  #inside = 0;
  #value = 0;

  constructor(random: () => number, store = memoryStore()) {
    this.#random = random;
    this.permits = 3 + this.#below(20);
    const limit = fixedWindow({ permits: this.permits, interval: 1_000_000_000 });
    this.limiter = new RateLimiter({ name: 'api', limit, store });
    if (this.#is(0.6)) this.limiter.events$.subscribe(() => this.#perhaps(0.1));
  }

  #is(probability: number): boolean {
    return this.#random() < probability;
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #perhaps(probability: number): void {
    if (this.#inside < mostInside && this.#is(probability)) this.act();
  }

  act(): void {
    this.#inside++;
    const stream = this.#streams[this.#below(this.#streams.length)];
    const kind = this.#below(8);
    if (!stream || kind === 0) this.#start();
    else if (kind === 1) stream.subscription?.unsubscribe();
    else if (kind === 2 && this.#is(0.4)) stream.source?.error('error of the source');
    else if (kind === 3 && this.#is(0.4)) stream.source?.complete();
    else for (let i = this.#below(4); i >= 0; i--) stream.source?.next(this.#value++);
    this.#inside--;
  }

  #start(): void {
    if (this.#streams.length === mostStreams) return;
    const stream: Stream = {};
    this.#streams.push(stream);
    const perhaps = () => this.#perhaps(0.3);
    const error = () => {
      stream.source?.next(this.#value++);
      perhaps();
    };
    const kinds = [() => this.#pushed(stream), () => this.#pulled(), () => this.#acquired()];
    const result = kinds[this.#below(kinds.length)]();
    const tails = [take<unknown>(2), retry<unknown>(2), repeat<unknown>(2), catchError(() => EMPTY)];
    const tail = tails[this.#below(2 * tails.length)] ?? tap();
    stream.subscription = result.pipe(tail).subscribe({ next: perhaps, error, complete: perhaps });
  }

  #pushed(stream: Stream): Observable<unknown> {
    stream.source = new Subject();
    const cost = (value: number) => 1 + (value % 3);
    const refunded = new Set<number>();
    const calls = <T>(result: T): T => {
      this.#perhaps(0.1);
      if (this.#is(0.05)) throw 'error of a function';
      return result;
    };
    const project = (value: number, permit: Permit) => {
      if (this.#is(0.1)) {
        void permit.refund();
        refunded.add(value);
      }
      return calls(value);
    };
    const options = {
      permits: (value: number) => calls(cost(value)),
      ...(this.#is(0.3) && { timeout: 0, onTimeout: this.#is(0.5) ? ('drop' as const) : ('error' as const) }),
      ...(this.#is(0.4) && {
        maxQueue: 2,
        overflow: (['error', 'dropOldest', 'dropNewest'] as const)[this.#below(3)],
      }),
    };
    const counted = tap((value: number) => {
      if (!refunded.has(value)) this.used += cost(value);
    });
    if (this.#is(0.5))
      return stream.source.pipe(throttleDistributed(this.limiter, { ...options, project }), counted);
    if (this.#is(0.5)) return stream.source.pipe(throttleDistributed(this.limiter, options), counted);
    return stream.source.pipe(
      throttleDistributed(this.limiter),
      tap(() => void this.used++),
    );
  }

  #pulled(): Observable<unknown> {
    const { limiter } = this;
    const perhaps = () => this.#perhaps(0.2);
    function* numbers() {
      for (let i = 0; i < 6; i++) {
        perhaps();
        yield i;
      }
    }
    return defer(() => fromThrottled(numbers(), limiter)).pipe(tap(() => void this.used++));
  }

  #acquired(): Observable<unknown> {
    const source = defer(() => {
      this.used += 2;
      return of(0);
    });
    return source.pipe(acquirePermits(this.limiter, 2));
  }

  end(): void {
    this.#inside = mostInside;
    for (const { subscription } of this.#streams) subscription?.unsubscribe();
  }
}

import type { Subscriber } from 'rxjs';
import type { Grant } from '../port/line.ts';
import { type Item, RequestingSubscriber } from '../throttle/requestingSubscriber.ts';
import type { ThrottlePlan } from '../throttle/throttleOptions.ts';
import type { PulledInput } from './input.ts';
import { OpenInput } from './openInput.ts';

/**
 * One subscription of `fromThrottled` with a group: a `throttleDistributed` whose source is pulled while fewer than `buffer`
 * values wait.
 *
 * An iterable answers at once, and a line may grant at once: a loop avoids recursion.
 */
export class BufferedPull<T, P, R> extends RequestingSubscriber<T, P, R> {
  readonly #buffer: number;
  #input: OpenInput<T> | undefined;
  #isLooping = false;

  constructor(output: Subscriber<R>, plan: ThrottlePlan<T, P, R>, buffer: number) {
    super(output, plan);
    this.#buffer = buffer;
    // After the requests are cancelled: the input may run any code when it is closed.
    output.add(() => this.#input?.close());
  }

  start(input: PulledInput<T>): void {
    try {
      this.#input = new OpenInput<T>(input, this);
    } catch (error) {
      this.error(error);
      return;
    }
    // The subscriber may have unsubscribed before, or while the input was opened.
    if (this.closed) this.#input.close();
    this.#run();
  }

  protected override _next(value: T): void {
    super._next(value);
    this.#run();
  }

  override granted(grant: Grant, item: Item<T, P>): void {
    super.granted(grant, item);
    this.#run();
  }

  #run(): void {
    if (this.#isLooping) return;
    this.#isLooping = true;
    const input = this.#input!;
    while (!this.closed && !input.isPulling && this.waiting < this.#buffer) input.next();
    this.#isLooping = false;
  }
}

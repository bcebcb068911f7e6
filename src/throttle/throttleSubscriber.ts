import { Subscriber } from 'rxjs';

/**
 * One subscription of `throttleDistributed`: completes once the source has completed and no value waits.
 *
 * This is a Subscriber, so that a synchronous source stops at the value at which its consumer unsubscribes.
 */
export abstract class ThrottleSubscriber<T, R> extends Subscriber<T> {
  readonly cancelsAll = true;
  protected readonly output: Subscriber<R>;
  /** Number of waiting values. */
  protected waiting = 0;
  #isCompleted = false;

  constructor(output: Subscriber<R>) {
    super(output);
    this.output = output;
    output.add(() => {
      if (this.waiting > 0) this.cancel();
    });
  }

  /** Cancels the requests of the waiting values. */
  protected abstract cancel(): void;

  protected override _complete(): void {
    this.unsubscribe();
    this.#isCompleted = true;
    this.completeIfDone();
  }

  protected completeIfDone(): void {
    if (this.#isCompleted && this.waiting === 0) this.output.complete();
  }

  failed(error: Error): void {
    if (!this.output.closed) this.output.error(error);
  }
}

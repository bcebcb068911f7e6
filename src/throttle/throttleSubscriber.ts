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
  /** Whether no value is to be emitted any more. */
  protected hasEnded = false;
  #isCompleted = false;

  constructor(output: Subscriber<R>) {
    super(output);
    this.output = output;
    output.add(() => this.#end());
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

  protected override _error(error: unknown): void {
    this.fail(error);
  }

  failed(error: Error): void {
    if (!this.hasEnded) this.fail(error);
  }

  /**
   * Ends with an error. Nothing is requested or granted any more when the consumer receives it: RxJS would drop a value that is
   * granted while the consumer handles the error, and its permits would be lost.
   */
  protected fail(error: unknown): void {
    this.unsubscribe();
    this.#end();
    this.output.error(error);
  }

  #end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.waiting > 0) this.cancel();
  }
}

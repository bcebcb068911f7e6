import { VirtualTimeScheduler } from 'rxjs';

/**
 * Time that advances only when it is told to: each timer fires at exactly its own moment, whenever a frame of the page comes.
 */
export class VirtualTime extends VirtualTimeScheduler {
  /** Runs all timers up to a moment, in milliseconds, and stays there. */
  runUntil(end: number): void {
    this.maxFrames = end;
    this.flush();
    this.frame = Math.max(this.frame, end);
  }
}

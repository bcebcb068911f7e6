import type { Run } from '../../src/stores/store.ts';
import type { Fate } from './timedLedger.ts';

interface Grant {
  at: number;
  permits: number;
  call: number;
}

/** The semantics of a limiter on Redisson's keys in a few lines: a log, and nothing else. Times are milliseconds. */
export class Oracle {
  log: Grant[] = [];

  constructor(
    public rate: number,
    public interval: number,
  ) {}

  get used(): number {
    return this.log.reduce((sum, { permits }) => sum + permits, 0);
  }

  get available(): number {
    return Math.max(0, this.rate - this.used);
  }

  /** Removes expired entries. */
  expire(now: number): void {
    this.log = this.log.filter(({ at }) => at > now - this.interval);
  }

  /** Grants in order; no request passes the remaining ones. `wait` is that of the first of them. */
  acquire(runs: readonly Run[], us: number, call: number): { fates: Fate[]; wait: number } {
    this.expire(Math.floor(us / 1000));
    let wait = 0;
    const fates = runs.map(({ count, cost: [permits], maxWait }) => {
      const fate: Fate = { granted: 0, left: 0, refused: 0, never: 0 };
      for (let i = 0; i < count; i++) {
        if (permits > this.rate) fate.never++;
        else if (wait === 0 && this.rate - this.used >= permits) {
          this.log.push({ at: Math.ceil(us / 1000), permits, call });
          fate.granted++;
        } else {
          const needed = wait || this.waitFor(permits, us);
          if (needed > maxWait) fate.refused++;
          else {
            wait = needed;
            fate.left++;
          }
        }
      }
      return fate;
    });
    return { fates, wait };
  }

  /** Milliseconds until `permits` are free. */
  waitFor(permits: number, us: number): number {
    let free = this.rate - this.used;
    for (const { at, permits: back } of [...this.log].sort((a, b) => a.at - b.at)) {
      free += back;
      if (free >= permits) return Math.max(1, (at + this.interval) * 1000 - us) / 1000;
    }
    return Infinity;
  }

  /** Refunds permits, the newest of the given ones first. */
  takeBack(permits: number, from: (grant: Grant) => boolean = () => true): void {
    let left = permits;
    for (let i = this.log.length - 1; i >= 0 && left > 0; i--) {
      const grant = this.log[i];
      if (!from(grant)) continue;
      const taken = Math.min(left, grant.permits);
      grant.permits -= taken;
      left -= taken;
    }
    this.log = this.log.filter(({ permits: some }) => some > 0);
  }
}

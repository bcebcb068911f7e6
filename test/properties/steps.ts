import type { Run } from '../../src/stores/store.ts';
import type { LimitSpec } from './specs.ts';

/** What a client gives back of one of its grants: of how many requests, and how much of each limit in percent. */
export interface Pick {
  /** Which of the client's grants and reservations, in percent of their line. */
  place: number;
  count: number;
  parts: readonly number[];
}

/** One thing that happens. Plain data, so that the same history can be replayed on any store. */
export type Step =
  | { kind: 'advance'; us: number }
  /** The server's clock is set back. */
  | { kind: 'stepBack'; ms: number }
  | { kind: 'reserve'; client: number; runs: readonly Run[]; horizon: number; held: number }
  /** With `inLine`, behind the last moment that the client holds booked. */
  | { kind: 'decide'; client: number; cost: readonly number[]; inLine?: boolean }
  | { kind: 'peek'; client: number }
  | { kind: 'refund'; client: number; picks: readonly Pick[] }
  /** Gives back every `every`th grant or reservation, of all that the client has or of those that lie ahead. */
  | { kind: 'cancel'; client: number; every: number; newestFirst: boolean; ahead: boolean }
  /** The client's last refund arrives once more. */
  | { kind: 'resend'; client: number }
  /** Gives permits of each limit back, from what was granted last. */
  | { kind: 'release'; client: number; permits: readonly number[] }
  /** Permits of each limit were used beyond what was granted. */
  | { kind: 'owe'; client: number; permits: readonly number[] }
  | { kind: 'pause'; client: number; ms: number }
  /** Forgets what was granted; with `rate`, the stored rate, too. */
  | { kind: 'forget'; client: number; rate: boolean }
  | { kind: 'getRate'; client: number }
  /** Stores a rate; with `ifAbsent`, only where none is stored. */
  | {
      kind: 'setRate';
      client: number;
      limits: readonly LimitSpec[];
      ifAbsent: boolean;
      keepState: boolean;
    };

export interface History {
  startUs: number;
  limits: readonly LimitSpec[];
  steps: readonly Step[];
}

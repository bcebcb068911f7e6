import type { Run } from '../../src/stores/store.ts';
import type { LimitSpec } from './specs.ts';

/** A refund of one grant: of `count` requests, and of `parts` percent of each limit. */
export interface Pick {
  /** The position among the client's grants and reservations, in percent. */
  place: number;
  count: number;
  parts: readonly number[];
}

/** A step that gives permits back, or charges more. */
export type Refunding =
  | { kind: 'refund'; client: number; picks: readonly Pick[] }
  /** Refunds each `every`th grant or reservation of the client; with `ahead`, of its reservations only. */
  | { kind: 'cancel'; client: number; every: number; newestFirst: boolean; ahead: boolean }
  /** Releases permits of each limit, from the newest grants. */
  | { kind: 'release'; client: number; permits: readonly number[] }
  /** Charges permits used beyond the granted ones. */
  | { kind: 'owe'; client: number; permits: readonly number[] };

/** A step of a history. Plain data, so that it can be replayed on any store. */
export type Step =
  | Refunding
  | { kind: 'advance'; us: number }
  /** The server's clock is set back. */
  | { kind: 'stepBack'; ms: number }
  | {
      kind: 'reserve';
      client: number;
      runs: readonly Run[];
      horizon: number;
      held: number;
      /** Asks for moments before the client's last reservation. */
      earlier?: boolean;
      /** After the client's last reservation, even if `held` is 0. */
      inLine?: boolean;
    }
  /** With `inLine`, after the client's last reservation. */
  | { kind: 'decide'; client: number; cost: readonly number[]; inLine?: boolean }
  | { kind: 'peek'; client: number }
  /** Several of these in one call. */
  | { kind: 'batch'; client: number; parts: readonly Refunding[] }
  /** Sends the client's last refund again. */
  | { kind: 'resend'; client: number }
  | { kind: 'pause'; client: number; ms: number }
  /** Forgets all grants; with `rate`, the stored rate too. */
  | { kind: 'forget'; client: number; rate: boolean }
  | { kind: 'getRate'; client: number }
  /** Stores a rate; with `ifAbsent`, only if none is stored. */
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

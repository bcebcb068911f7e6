import type { Asker, EncodedScript } from './encoded.ts';
import type { Words } from './words.ts';

/** A key or an argument of a script. */
type Parameter = string | number | Buffer;

/** A script as a command of a connection. */
export interface Script {
  (keys: readonly string[], args: readonly Parameter[]): Promise<unknown>;
  /** The script with so many keys for encoded calls, if the connection takes them. */
  encoded?(keys: number): EncodedScript | undefined;
  /**
   * The error of an encoded call. If a replica of a cluster has received the call, it looks up the nodes of the slots, and returns
   * the error of a call whose slot moves: when ioredis has lost the connections to all masters, it may send every call to a replica,
   * and would never look them up again.
   */
  errorOf?(error: unknown): unknown;
  /** Its calls that may share a call of another script, if the connection takes such calls. */
  shared?: SharedCalls;
}

/** The calls of a connection that leave in this turn of the event loop. */
export interface SharedCalls {
  add(call: SharedCall): void;
  /** Sends all of them. No later call overtakes them. */
  send(): void;
}

/** A call that may share one with others. */
export interface SharedCall extends Asker {
  readonly keys: Words;
  /** The arguments by which calls may share one. */
  readonly shared: Words;
  /** Whether it shares no call after all. It only waits for its turn. */
  readonly isAlone: boolean;
  /** Makes it alone. */
  send(): void;
}

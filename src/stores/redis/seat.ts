import type { LedgerConfig } from '../store.ts';
import { encoded } from './encoded.ts';
import { escaped, type Keys, keysOf } from './keys.ts';
import { type Caller, KnownRate, type Place, ScriptCalls } from './scriptCalls.ts';
import type { Scripts } from './scripts.ts';
import { specOf } from './spec.ts';

type Config = Omit<LedgerConfig, 'clock'>;

/** What the ledgers of a group's keys have in common, so that each of them is small. */
export class Seat implements Caller {
  readonly #config: Config;
  readonly scripts: Scripts;
  /** For tests alone: the server's time in microseconds. */
  readonly serverTime: (() => number) | undefined;
  /** The client as the scripts name it. */
  readonly client: string;
  readonly clientText: string;
  /** The rate of the limiters' own limits. */
  readonly own: KnownRate;

  constructor(config: Config, scripts: Scripts, serverTime?: () => number) {
    this.#config = config;
    this.scripts = scripts;
    this.serverTime = serverTime;
    this.client = escaped(config.clientId);
    this.clientText = encoded(this.client);
    this.own = new KnownRate(config.limits, specOf(config.names, config.limits), false);
  }

  get name(): string {
    return this.#config.name;
  }

  get names(): readonly string[] {
    return this.#config.names;
  }

  /** Whether a ledger of that configuration belongs here. */
  suits({ name, prefix, scope, clientId, names, limits }: Config): boolean {
    const own = this.#config;
    return (
      own.limits === limits &&
      own.names === names &&
      own.name === name &&
      own.prefix === prefix &&
      own.scope === scope &&
      own.clientId === clientId
    );
  }

  keysOf(key: string | undefined): Keys {
    const { prefix, name, names, scope, clientId } = this.#config;
    return keysOf(prefix, name, names, scope === 'client' ? clientId : undefined, key);
  }
}

/** What a ledger calls the scripts with: its keys, and the rate that it knows. */
export class Tools {
  readonly calls: ScriptCalls;
  /** The keys that most scripts are given. */
  readonly shared: readonly string[];
  readonly #seat: Seat;
  readonly #keys: Keys;
  readonly #text: string;
  #ofClient: Place | undefined;
  #ofLine: Place | undefined;

  constructor(seat: Seat, key: string | undefined) {
    const keys = seat.keysOf(key);
    this.#seat = seat;
    this.#keys = keys;
    this.shared = [keys.ledger, keys.contenders, keys.control, ...keys.logs];
    this.#text = this.shared.map(encoded).join('');
    this.calls = new ScriptCalls(seat, keys.control);
  }

  /** For the scripts that reserve and decide: they are told which client calls, and have a quick way. */
  get ofClient(): Place {
    const { client, clientText } = this.#seat;
    this.#ofClient ??= { keys: this.shared, before: [client], text: this.#text + clientText, isQuick: true };
    return this.#ofClient;
  }

  get ofAnyone(): Place {
    return { keys: this.shared, before: [], text: this.#text, isQuick: false };
  }

  /**
   * For refunds. Their sequence counts from 1 in every limiter: another one of the same client, or of its next life, has a
   * key of its own.
   */
  get ofLine(): Place {
    if (this.#ofLine) return this.#ofLine;
    const { ledger, control, logs } = this.#keys;
    const sequence = this.#keys.sequence(`${this.#seat.client}:${globalThis.crypto.randomUUID()}`);
    const keys = [ledger, sequence, control, ...logs];
    this.#ofLine = { keys, before: [], text: keys.map(encoded).join(''), isQuick: false };
    return this.#ofLine;
  }
}

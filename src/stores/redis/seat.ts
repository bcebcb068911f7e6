import type { LedgerConfig } from '../store.ts';
import { escaped, type Keys, keysOf } from './keys.ts';
import { type KnownRate, LimitedScript, ScriptCalls } from './scriptCalls.ts';
import type { Script, Scripts } from './scripts.ts';
import { specOf } from './spec.ts';

type Config = Omit<LedgerConfig, 'clock'>;

/** What the ledgers of a group's keys have in common, so that each of them is small. */
export class Seat {
  readonly #config: Config;
  readonly scripts: Scripts;
  /** For tests alone: the server's time in microseconds. */
  readonly serverTime: (() => number) | undefined;
  /** The client as the scripts name it. */
  readonly client: string;
  /** The rate of the limiters' own limits. */
  readonly own: KnownRate;

  constructor(config: Config, scripts: Scripts, serverTime?: () => number) {
    this.#config = config;
    this.scripts = scripts;
    this.serverTime = serverTime;
    this.client = escaped(config.clientId);
    this.own = { limits: config.limits, spec: specOf(config.names, config.limits), stored: false };
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
  readonly shared: readonly string[];
  readonly #seat: Seat;
  readonly #keys: Keys;
  #reserve: LimitedScript | undefined;
  #refund: LimitedScript | undefined;
  #decide: LimitedScript | undefined;

  constructor(seat: Seat, key: string | undefined) {
    const keys = seat.keysOf(key);
    const { name, names, serverTime, own } = seat;
    this.#seat = seat;
    this.#keys = keys;
    this.shared = [keys.ledger, keys.contenders, keys.control, ...keys.logs];
    this.calls = new ScriptCalls({ name, names, own, control: keys.control, serverTime });
  }

  get reserve(): LimitedScript {
    this.#reserve ??= this.#ofClient(this.#seat.scripts.reserve);
    return this.#reserve;
  }

  get decide(): LimitedScript {
    this.#decide ??= this.#ofClient(this.#seat.scripts.decide);
    return this.#decide;
  }

  get peek(): LimitedScript {
    return new LimitedScript(this.#seat.scripts.peek, this.shared, []);
  }

  get refund(): LimitedScript {
    const { ledger, control, logs } = this.#keys;
    const { client, scripts } = this.#seat;
    // The sequence counts from 1 in every limiter: another one of the same client, or of its next life, has a key of its own.
    this.#refund ??= new LimitedScript(
      scripts.refund,
      [ledger, this.#keys.sequence(`${client}:${globalThis.crypto.randomUUID()}`), control, ...logs],
      [],
    );
    return this.#refund;
  }

  #ofClient(script: Script): LimitedScript {
    return new LimitedScript(script, this.shared, [this.#seat.client], true);
  }
}

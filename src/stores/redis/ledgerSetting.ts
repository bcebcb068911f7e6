import type { Limit } from '../../limits/limit.ts';
import type { LedgerConfig } from '../store.ts';
import { escaped, KeySpace } from './keys.ts';
import type { Scripts } from './scripts.ts';
import { argumentOf, specOf } from './spec.ts';
import { type Words, wordsOf } from './words.ts';

type Config = Omit<LedgerConfig, 'clock'>;

/** Limits that a client expects to be in force. */
export class KnownRate {
  /** The first arguments of the scripts: these limits, whether they were stored, and the client. */
  readonly words: Words;

  constructor(
    client: string,
    readonly limits: readonly Limit[],
    readonly spec: string,
    readonly isStored: boolean,
  ) {
    this.words = wordsOf([argumentOf(spec), (isStored ? '1' : '0') + client]);
  }
}

/** The data that the ledgers of a group's keys share, so that each of them is small. */
export class LedgerSetting {
  readonly #config: Config;
  readonly scripts: Scripts;
  /** For tests only, which compare the scripts with their twins at one time: the server's time in microseconds. */
  readonly serverTime: (() => number) | undefined;
  /** The client as the scripts name it. */
  readonly client: string;
  readonly keySpace: KeySpace;
  /** The limits of the code, which are in force unless others are stored. */
  readonly own: KnownRate;

  constructor(config: Config, scripts: Scripts, serverTime?: () => number) {
    const { prefix, name, names, limits, scope, clientId } = config;
    this.#config = config;
    this.scripts = scripts;
    this.serverTime = serverTime;
    this.client = escaped(clientId);
    this.keySpace = new KeySpace(prefix, name, names, scope === 'client' ? clientId : undefined);
    this.own = new KnownRate(this.client, limits, specOf(names, limits), false);
  }

  /** The limiter's name, for messages. */
  get name(): string {
    return this.#config.name;
  }

  get names(): readonly string[] {
    return this.#config.names;
  }

  /** Whether a ledger with this configuration can use it. */
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
}

import { otherNames } from '../limitNames.ts';
import type { LedgerConfig } from '../store.ts';
import type { Control } from './control.ts';
import type { Places } from './places.ts';

/** The data that the ledgers of a group's keys share, so that each of them is small. */
export class Setting {
  readonly config: LedgerConfig;
  readonly places: Places;
  /** The family of the limiters' places. With the scope `client`, these hold the control that all clients share. */
  readonly family: string;
  /** The family of this client's own places, with the scope `client`. */
  readonly own: string | undefined;

  constructor(config: LedgerConfig, places: Places) {
    const { prefix, name, key, scope, clientId } = config;
    const parts = key === undefined ? [prefix] : [prefix, name];
    this.config = config;
    this.places = places;
    this.family = JSON.stringify(parts);
    this.own = scope === 'client' ? JSON.stringify([parts, clientId]) : undefined;
  }

  /** The error if the stored rate has other limit names than the limiters. No operation is possible then. */
  misnamed({ limits, names }: Control): TypeError | undefined {
    return limits && otherNames(this.config.names, names);
  }

  /** The server's time in whole microseconds. */
  clockUs(): number {
    return Math.round((this.places.origin! + this.config.clock.now()) * 1000);
  }

  /** The same for a call, which the store counts. */
  serverUs(): number {
    const us = this.clockUs();
    this.places.called(us / 1000);
    return us;
  }

  /** Whether a ledger with this configuration can use it. */
  suits({ name, prefix, scope, clientId, names, limits, clock, key }: LedgerConfig): boolean {
    const { config } = this;
    return (
      config.limits === limits &&
      config.names === names &&
      config.name === name &&
      config.prefix === prefix &&
      config.scope === scope &&
      config.clientId === clientId &&
      config.clock === clock &&
      (config.key === undefined) === (key === undefined)
    );
  }
}

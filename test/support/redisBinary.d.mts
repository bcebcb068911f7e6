/** Where the programs of one Redis (or Valkey) installation lie. */
export interface RedisBinary {
  readonly server: string;
  readonly cli: string;
}

/** The server and the command line client that the tests start; installs them, or throws with the line to run. */
export function redisBinary(): RedisBinary;

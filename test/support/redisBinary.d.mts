/** The paths of the programs of one installation of Redis (or Valkey). */
export interface RedisBinary {
  readonly server: string;
  readonly cli: string;
}

/** The server and the command line client that the tests start; installs them, or throws an error with the command to run. */
export function redisBinary(): RedisBinary;

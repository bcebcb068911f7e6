/** How many dispatchers have waiting requests, by the client that they belong to. The others have no entry. */
const waiting = new Map<string, number>();

/** Knows whether other dispatchers of the same client on the same limit have waiting requests: the store counts them as one. */
export class Siblings {
  readonly #client: string | undefined;
  #waits = false;

  constructor(client: string | undefined) {
    this.#client = client;
  }

  /** Whether another one has waiting requests. */
  get wait(): boolean {
    return this.#client !== undefined && (waiting.get(this.#client) ?? 0) > (this.#waits ? 1 : 0);
  }

  /** Notes whether this dispatcher has waiting requests. */
  note(waits: boolean): void {
    const client = this.#client;
    if (client === undefined || waits === this.#waits) return;
    this.#waits = waits;
    const count = (waiting.get(client) ?? 0) + (waits ? 1 : -1);
    if (count > 0) waiting.set(client, count);
    else waiting.delete(client);
  }
}

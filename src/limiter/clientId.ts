const ids = new WeakMap<object, string>();

/** A random client id, the same for all limiters of one connection. */
export function clientIdOf(connection: object): string {
  let id = ids.get(connection);
  if (id === undefined) {
    id = globalThis.crypto.randomUUID();
    ids.set(connection, id);
  }
  return id;
}

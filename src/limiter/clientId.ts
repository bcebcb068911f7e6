const ids = new WeakMap<object, string>();

/** A random client id, the same for all limiters of one connection. */
export function clientIdOf(connection: object): string {
  let id = ids.get(connection);
  if (id === undefined) {
    // `randomUUID` is missing in pages without https.
    const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
    id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    ids.set(connection, id);
  }
  return id;
}

/** The digits of a call number, and their base. A number is used again only long after its entries have expired. */
const digits = 7;
const base = 36;

/** The 13 bytes that identify a call: the six of the line, a limiter object, and seven digits of the call's number. */
export function bytesOf(line: string, call: number): string {
  return line + (call % base ** digits).toString(base).padStart(digits, '0');
}

/**
 * The entry of the first request of a call, in Redisson's format: see lua/redisson/state/members.lua. It is a string if each of
 * its bytes is ASCII.
 */
export function entryOf(bytes: string, permits: number): string | Buffer {
  const weight = [0, 8, 16, 24].map((bits) => (permits >>> bits) & 255);
  const entry = `\x10${bytes}\0\0\0${String.fromCharCode(...weight)}`;
  return weight.every((byte) => byte < 128) ? entry : Buffer.from(entry, 'latin1');
}

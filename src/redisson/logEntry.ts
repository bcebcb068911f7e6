/** Digits that name a call of a line, and their base: they come round again long after its entries have expired. */
const digits = 7;
const base = 36;

/** What names a call among those of all lines, of which each has six characters: 13 bytes. */
export function bytesOf(line: string, call: number): string {
  return line + (call % base ** digits).toString(base).padStart(digits, '0');
}

/**
 * The entry in the log of the first request of a call, as Redisson writes them: see lua/redisson/state/members.lua. It is
 * text as long as each of its bytes is a character.
 */
export function entryOf(bytes: string, permits: number): string | Buffer {
  const weight = [0, 8, 16, 24].map((bits) => (permits >>> bits) & 255);
  const entry = `\x10${bytes}\0\0\0${String.fromCharCode(...weight)}`;
  return weight.every((byte) => byte < 128) ? entry : Buffer.from(entry, 'latin1');
}

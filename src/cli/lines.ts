import type { Readable } from 'node:stream';

/**
 * The lines of a stream, without their newlines, in batches of those that are already there.
 *
 * Nothing is read before it is asked for. A character stands for a byte (latin1), so that any bytes pass unchanged, a
 * carriage return before the newline included.
 *
 * @param input the stream; a last line need not end with a newline
 * @param most lines of a batch
 */
export async function* batchesOf(input: Readable, most: number): AsyncGenerator<string[], void, undefined> {
  let rest = '';
  for await (const chunk of input) {
    const text: string = chunk.toString('latin1');
    // The rest is not searched again: a long line would cost the square of its length.
    if (!text.includes('\n')) {
      rest += text;
      continue;
    }
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (let i = 0; i < lines.length; i += most) yield lines.slice(i, i + most);
  }
  if (rest !== '') yield [rest];
}

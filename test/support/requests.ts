/** One request as it travels from a client to Redis. */
export interface RequestFrame {
  /** The command's name, in capitals. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** Splits the bytes that a client sends to Redis (RESP arrays of bulk strings) into requests. */
export class RequestReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Takes the arrived bytes, and returns the requests completed by them. */
  read(chunk: Buffer): RequestFrame[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: RequestFrame[] = [];
    for (let frame = this.#next(); frame; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): RequestFrame | undefined {
    const count = header(this.#rest, 0, '*');
    if (!count) return undefined;
    let at = count.end;
    let name = '';
    for (let i = 0; i < count.value; i++) {
      const length = header(this.#rest, at, '$');
      const end = length ? length.end + length.value + 2 : Number.POSITIVE_INFINITY;
      if (!length || end > this.#rest.length) return undefined;
      if (i === 0) name = this.#rest.toString('latin1', length.end, end - 2).toUpperCase();
      at = end;
    }
    const bytes = this.#rest.subarray(0, at);
    this.#rest = this.#rest.subarray(at);
    return { name, bytes };
  }
}

function header(buffer: Buffer, at: number, sign: string): { value: number; end: number } | undefined {
  const newline = buffer.indexOf('\r\n', at);
  if (newline < 0) return undefined;
  const line = buffer.toString('latin1', at, newline);
  if (line[0] !== sign) throw new Error(`expected ${sign}, a client sent ${JSON.stringify(line)}`);
  return { value: Number(line.slice(1)), end: newline + 2 };
}

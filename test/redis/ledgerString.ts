import {
  bucketFields,
  byName,
  fieldsOfWindow,
  fixedFields,
  type LimitPicture,
  type Picture,
  unknown,
  unsigned,
} from './picture.ts';

/** A ledger in Redis: the string, the contenders with their scores, and the log of each limit. */
export interface Held {
  ledger: Buffer;
  contenders: string[];
  logs: Buffer[][];
}

class Reader {
  at = 0;
  constructor(readonly data: Buffer) {}

  double = (): number => {
    this.at += 8;
    return unsigned(this.data.readDoubleLE(this.at - 8));
  };

  /** A whole number of up to seven bytes, without a sign. */
  integer(size: number): number {
    this.at += size;
    const low = Math.min(size, 6);
    const high = size > low ? this.data[this.at - 1] * 2 ** 48 : 0;
    return high + this.data.readUIntLE(this.at - size, low);
  }

  integers(...sizes: number[]): number[] {
    return sizes.map((size) => this.integer(size));
  }

  /** A moment of six bytes, or -1. */
  moment(): number {
    this.at += 6;
    return this.data.readIntLE(this.at - 6, 6);
  }

  doubles(count: number): number[] {
    return Array.from({ length: count }, this.double);
  }

  text(): string {
    const length = this.integer(4);
    this.at += length;
    return this.data.toString('utf8', this.at - length, this.at);
  }

  get isAtEnd(): boolean {
    return this.at === this.data.length;
  }
}

type Numbers = Pick<Picture, 'epoch' | 'seen' | 'expires' | 'spec' | 'limits'> & { calm?: number };
type Rare = Omit<Picture, keyof Numbers | 'crowd'>;

/**
 * Reads the string of `lua/ledger/format.lua`: a head of `lua/heads` and the rare part, or the full form. It may be marked as not
 * calm after a change of the control.
 */
export function readLedger(
  { ledger, contenders, logs }: Held,
  now: number,
  mayBeMarked = false,
): Picture & Known {
  const reader = new Reader(ledger);
  const kind = String.fromCharCode(reader.integer(1));
  const version = reader.integer(1);
  if (version !== 21) throw new Error(`a ledger of version ${version}`);
  const isWhole = kind === 'w';
  const { calm, kept, ...common } = isWhole ? headOfWhole(reader) : headOfSmall(reader);
  const { epoch, seen } = common;
  const { spec, limits, rare } = isWhole
    ? readWhole(reader, logs)
    : readSmall(kind, reader, logs[0] ?? [], { epoch, seen });
  if (!reader.isAtEnd) throw new Error(`${ledger.length - reader.at} bytes too many in the ledger`);
  const isMarked = mayBeMarked && calm === 2 ** 48 - 1;
  if (calm !== undefined && !isMarked && Math.max(calm, seen) !== Math.max(calmOf(rare), seen))
    throw new Error(`a ledger that is calm from ${calm}, not ${calmOf(rare)}`);
  const crowd = rare.crowdUntil > now ? pairsOf(contenders).sort(byName) : [];
  return { ...common, ...rare, spec, limits, crowd, calm, kept };
}

/** What a head tells of its ledger besides the state. A whole ledger has no `calm`. */
interface Known {
  calm: number | undefined;
  kept: number;
}

type Head = Pick<Picture, 'epoch' | 'seen' | 'expires'> & { calm?: number; kept: number };

function headOfWhole(reader: Reader): Head {
  const [epoch, seen, expires] = reader.doubles(3);
  return { epoch, seen, expires, kept: expires + reader.integer(4) };
}

function headOfSmall(reader: Reader): Head {
  const epoch = reader.integer(7);
  const [calm, kept, seen, expires] = reader.integers(6, 6, 6, 6);
  return { epoch, seen, expires, calm, kept };
}

/** The moment from which there are no contenders, reservations or pause. */
export function calmOf({
  shift,
  holes,
  pausedUntil,
  soleUntil,
  crowdUntil,
  pacedUntil,
  frontiers,
}: Rare): number {
  if (shift > 0 || holes.length > 0) return 2 ** 48 - 1;
  return Math.min(
    2 ** 48 - 1,
    Math.max(pausedUntil, soleUntil, crowdUntil, pacedUntil, Math.ceil(Math.max(...frontiers))),
  );
}

function readWhole(reader: Reader, logs: Buffer[][]): { spec: string; limits: LimitPicture[]; rare: Rare } {
  const sizes: Record<string, number> = { s: 12, f: 9, t: 15 };
  const spec = reader.text();
  const kinds = [...reader.text()];
  const limits = kinds.map((kind, i) => {
    const numbers = reader.doubles(sizes[kind]);
    if (kind === 't') {
      // The number of the steps stands before the fields that few ledgers have.
      const [count] = numbers.splice(6, 1);
      if (kinds.length === 1) numbers[bucketFields - 1] = unknown;
      numbers.push(...reader.doubles(3 * count));
    }
    if (kind === 'f') {
      const [most, ...earlier] = earlierIn(reader);
      numbers.splice(fixedFields - 2, 0, most);
      numbers.push(...earlier);
    }
    return limitOf(kind, numbers, logs[i]);
  });
  return { spec, limits, rare: readRare(reader, limits.length) };
}

function readSmall(
  kind: string,
  reader: Reader,
  log: Buffer[],
  { epoch, seen }: Pick<Picture, 'epoch' | 'seen'>,
): { spec: string; limits: LimitPicture[]; rare: Rare } {
  const rareOf = (count: number) => (reader.isAtEnd ? undefined : reader.doubles(count));
  /** The numbers of the limit, and its text. */
  const limitIn = () => {
    const limit = reader.integers(7, 7, 7);
    const sum = reader.integer(7);
    if (sum !== limit[0] + 2 * limit[1] + 3 * limit[2] + 1)
      throw new Error(`the checksum ${sum} of ${limit}`);
    const text = `${kind}${limit}]`;
    const found = reader.data.toString('latin1', reader.at, reader.at + text.length);
    if (found !== text) throw new Error(`the text ${found} of the limit ${text}`);
    reader.at += text.length;
    return limit;
  };
  const picture = (limit: number[], numbers: number[], entries: [number, number][] = []) => {
    const spec = JSON.stringify([['', kind, ...limit]]);
    const rare = reader.isAtEnd ? nothingRare(epoch) : readRare(reader, 1);
    // A fixed window stores the shift of its ledger.
    if (kind === 'f') numbers.splice(fixedFields - limit.length - 1, 0, rare.shift);
    return { spec, limits: [{ kind, numbers: [...limit, ...numbers], log: entries }], rare };
  };
  if (kind === 'f') {
    const [used, newest, reserved, start, stop] = reader.integers(7, 6, 7, 6, 6);
    const limit = limitIn();
    const earlier = reader.isAtEnd ? [0] : earlierIn(reader);
    return picture(limit, [start, stop, used, newest, reserved, ...earlier]);
  }
  if (kind === 't') {
    const units = reader.double();
    const lastAt = reader.moment();
    const count = reader.integer(1);
    const newest = reader.integers(6, 6, 6);
    const limit = limitIn();
    const earlier = Array.from({ length: Math.max(0, count - 1) }, () => reader.integers(6, 6, 6));
    const steps = count > 0 ? [newest, ...earlier.reverse()].flat() : [];
    const changes = rareOf(7) ?? Array(7).fill(0);
    return picture(limit, [units, seen, lastAt, ...changes, unknown, ...steps]);
  }
  const [total, newest, openCount, openTime, count, purged] = reader.integers(7, 6, 7, 6, 1, 6);
  const limit = limitIn();
  const pairs = Array.from({ length: count === 255 ? 1 : count }, (): [number, number] => [
    reader.integer(6),
    reader.integer(4),
  ]);
  const [coarsest, under] = rareOf(2) ?? [limit[2], 0];
  const [oldest, length] = count === 255 ? pairs[0] : [0, 0];
  const entries = count === 255 ? listOf(log, oldest, length) : pairs;
  if (openTime > 0) entries.push([openTime, openCount]);
  return picture(limit, [coarsest, total, newest, purged - 1, under], entries);
}

/** The most permits of a forgotten window, and the windows before the last. */
function earlierIn(reader: Reader): number[] {
  const [count, most] = reader.doubles(2);
  return [most, ...reader.doubles(fieldsOfWindow * count)];
}

function nothingRare(epoch: number): Rare {
  const none = { shift: 0, pausedUntil: 0, soleUntil: 0, crowdUntil: 0, frontiers: [0], pacedUntil: 0 };
  const counts = {
    granted: 0,
    returned: 0,
    freed: 0,
    movedAt: 0,
    lateAt: 0,
    credit: 0,
    largest: 0,
    largestUntil: 0,
    farthest: 0,
    farthestUntil: 0,
  };
  return {
    born: epoch,
    refundable: epoch,
    ...none,
    ...counts,
    sole: '',
    voids: [],
    holes: [],
    tickets: [],
    debts: [],
  };
}

function readRare(reader: Reader, limits: number): Rare {
  const { double } = reader;
  const [born, refundable, shift, pausedUntil, soleUntil, crowdUntil] = reader.doubles(6);
  const [pacedUntil, granted, returned, freed, movedAt, lateAt, credit] = reader.doubles(7);
  const [largest, largestUntil, farthest, farthestUntil] = reader.doubles(4);
  const [voidCount, holeCount, ticketCount] = reader.doubles(3);
  const sole = reader.text();
  const voids = Array.from({ length: voidCount }, () => ({ epoch: double(), from: double() }));
  const holes = Array.from({ length: holeCount }, () => {
    const [moment, count] = reader.doubles(2);
    return { moment, cost: reader.doubles(limits), count };
  });
  const tickets = Array.from({ length: ticketCount }, () => {
    const [due, until, stride, taken] = reader.doubles(4);
    return { client: reader.text(), due, until, stride, taken };
  });
  const frontiers = reader.doubles(limits);
  const debts: Rare['debts'] = [];
  while (!reader.isAtEnd) {
    const [limit, until, permits, tail] = reader.doubles(4);
    debts.push({ limit: limit - 1, until, permits, tail });
  }
  return {
    ...{ born, refundable, shift, pausedUntil, soleUntil, crowdUntil, frontiers, pacedUntil },
    ...{
      granted,
      returned,
      freed,
      movedAt,
      lateAt,
      credit,
      largest,
      largestUntil,
      farthest,
      farthestUntil,
      sole,
      voids,
      holes,
      tickets,
      debts,
    },
  };
}

/** A sliding window keeps its newest entry in the string, and the earlier ones in the list. */
function limitOf(kind: string, numbers: number[], list: Buffer[]): LimitPicture {
  if (kind !== 's') return { kind, numbers, log: [] };
  const [oldest, length, openTime, openCount, under] = numbers.slice(7);
  const log = length > 0 ? listOf(list, oldest, length) : [];
  if (openTime > 0) log.push([openTime, openCount]);
  return { kind, numbers: [...numbers.slice(0, 7), under], log };
}

function listOf(list: Buffer[], oldest: number, length: number): [number, number][] {
  if (list.length !== length) throw new Error(`a list of ${list.length} entries, not of ${length}`);
  const log = list.map((entry): [number, number] => [entry.readDoubleLE(0), entry.readDoubleLE(8)]);
  if (log[0][0] !== oldest) throw new Error(`the oldest entry is of ${log[0][0]}, not ${oldest}`);
  return log;
}

function pairsOf(members: string[]): [string, number][] {
  return members.flatMap((member, i): [string, number][] =>
    i % 2 ? [] : [[member, Number(members[i + 1])]],
  );
}

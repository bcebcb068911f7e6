import { byName, type LimitPicture, type Picture, unsigned } from './picture.ts';

/** What Redis holds of a ledger: the string, the contenders with their scores, and the log of each limit. */
export interface Held {
  ledger: Buffer;
  contenders: string[];
  logs: Buffer[][];
}

const sizes: Record<string, number> = { s: 11, f: 14, t: 17 };

/** Reads the string of `lua/ledger/state.lua`: doubles, three texts after their lengths, the states, and what was given back or made void. */
export function readLedger({ ledger, contenders, logs }: Held, now: number): Picture {
  let at = 0;
  const double = () => {
    at += 8;
    return unsigned(ledger.readDoubleLE(at - 8));
  };
  const text = () => {
    const length = ledger.readUInt32LE(at);
    at += 4 + length;
    return ledger.toString('utf8', at - length, at);
  };
  const version = double();
  if (version !== 3) throw new Error(`a ledger of version ${version}`);
  const [epoch, born, refundable, shift, seen] = [double(), double(), double(), double(), double()];
  const [expires, pausedUntil, soleUntil, crowdUntil] = [double(), double(), double(), double()];
  const [frontier, pacedUntil, granted, returned] = [double(), double(), double(), double()];
  const [freed, movedAt, credit, voidCount, holeCount] = [double(), double(), double(), double(), double()];
  const [sole, spec, kinds] = [text(), text(), text()];
  const limits = [...kinds].map((kind, i) =>
    limitOf(kind, Array.from({ length: sizes[kind] }, double), logs[i]),
  );
  const voids = Array.from({ length: voidCount }, () => ({ epoch: double(), from: double() }));
  const holes = Array.from({ length: holeCount }, () => {
    const [moment, count] = [double(), double()];
    return { moment, cost: limits.map(double), count };
  });
  if (at !== ledger.length) throw new Error(`${ledger.length - at} bytes too many in the ledger`);
  const crowd = crowdUntil > now ? pairsOf(contenders).sort(byName) : [];
  return {
    ...{ epoch, shift, seen, expires, frontier, pacedUntil, soleUntil, sole, crowdUntil, crowd },
    ...{
      born,
      refundable,
      granted,
      returned,
      freed,
      movedAt,
      credit,
      voids,
      holes,
      pausedUntil,
      spec,
      limits,
    },
  };
}

/** A sliding window keeps its newest entry in the string, and those before it in the list. */
function limitOf(kind: string, numbers: number[], list: Buffer[]): LimitPicture {
  if (kind !== 's') return { kind, numbers, log: [] };
  const [oldest, length, openTime, openCount] = numbers.slice(7);
  if (list.length !== length) throw new Error(`a list of ${list.length} entries, not of ${length}`);
  const log = list.map((entry): [number, number] => [entry.readDoubleLE(0), entry.readDoubleLE(8)]);
  if (openTime > 0) log.push([openTime, openCount]);
  if (log.length > 0 && log[0][0] !== oldest)
    throw new Error(`the oldest entry is of ${log[0][0]}, not ${oldest}`);
  return { kind, numbers: numbers.slice(0, 7), log };
}

function pairsOf(members: string[]): [string, number][] {
  return members.flatMap((member, i): [string, number][] =>
    i % 2 ? [] : [[member, Number(members[i + 1])]],
  );
}

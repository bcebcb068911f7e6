import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../limits/limit.ts';
import { invalid, oneOf, show } from '../../validate.ts';
import { otherNames } from '../limitNames.ts';
import { escaped } from './keys.ts';

/** One limit as the scripts read it: its name in the keys, its kind, permits, interval, and one further number. */
type SpecEntry = [name: string, kind: string, permits: number, interval: number, extra: number];

/** The further number of a limit: the resolution, the alignment or the burst. */
function extraOf(limit: Limit): number {
  if (limit.kind === 'slidingWindow') return limit.resolution;
  if (limit.kind === 'fixedWindow') return limit.align === 'epoch' ? 1 : 0;
  return limit.burst;
}

const kinds = { slidingWindow: 's', fixedWindow: 'f', tokenBucket: 't' } as const;

/** The text of limits as the scripts read it, with the names as in the keys of their logs. */
export function specOf(names: readonly string[], limits: readonly Limit[]): string {
  return JSON.stringify(
    limits.map((limit, i): SpecEntry => {
      const { kind, permits, interval } = limit;
      return [escaped(names[i]), kinds[kind], permits, interval, extraOf(limit)];
    }),
  );
}

/**
 * The text of limits as an argument: that of a single limit without a name is short, as the ledger contains it. Its bracket tells
 * where it ends, so no text begins with another one.
 */
export function argumentOf(spec: string): string {
  const [, kind, numbers] = /^\[\["","([sft])",(\d+,\d+,\d+\])\]$/.exec(spec) ?? [];
  return kind ? kind + numbers : spec;
}

/**
 * The limits of a text that is stored at `key`, in the order of the names; undefined for an empty list.
 *
 * Throws if the text is invalid, or if its limits have other names, so that permits could not be charged to them.
 */
export function limitsOf(names: readonly string[], spec: string, key: string): readonly Limit[] | undefined {
  const stored = storedIn(spec, key);
  if (stored.length === 0) return undefined;
  const wrong = otherNames(
    names.map(escaped),
    stored.map(([name]) => name),
  );
  if (wrong) throw wrong;
  return stored.map(([, limit]) => limit);
}

/** The limits of a text by their names. Any program may have written the text. */
function storedIn(spec: string, key: string): [name: string, limit: Limit][] {
  try {
    const entries = JSON.parse(spec) as SpecEntry[];
    return entries.map((entry) => [entry[0], limitOf(entry)]);
  } catch (error) {
    const expected = '[[name, kind, permits, interval, extra], …]';
    const reason = (error as Error).message;
    throw new TypeError(`the key ${key} holds no rate: expected ${expected}, got ${show(spec)}: ${reason}`);
  }
}

function limitOf([name, kind, permits, interval, extra]: SpecEntry): Limit {
  if (typeof name !== 'string') throw invalid('name', 'a string', name);
  // The factory would fill in a default that the scripts do not know.
  if (typeof extra !== 'number') throw invalid('extra', 'a number', extra);
  if (kind === kinds.slidingWindow) return slidingWindow({ permits, interval, resolution: extra });
  if (kind === kinds.fixedWindow)
    return fixedWindow({ permits, interval, align: extra === 1 ? 'epoch' : 'first' });
  oneOf('kind', kind, Object.values(kinds));
  return tokenBucket({ permits, interval, burst: extra });
}

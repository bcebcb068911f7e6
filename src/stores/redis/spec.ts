import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../limits/limit.ts';
import { otherNames } from '../storedNames.ts';
import { escaped } from './keys.ts';

/** One limit as the scripts read it: its name in the keys, its kind, permits, interval, and one number more. */
type SpecEntry = [name: string, kind: string, permits: number, interval: number, extra: number];

/** The extra number of a limit in the scripts, after its permits and interval. */
function extraOf(limit: Limit): number {
  if (limit.kind === 'slidingWindow') return limit.resolution;
  if (limit.kind === 'fixedWindow') return limit.align === 'epoch' ? 1 : 0;
  return limit.burst;
}

const kinds = { slidingWindow: 's', fixedWindow: 'f', tokenBucket: 't' } as const;

/** The limits as the scripts read them, named as in the keys of their logs. */
export function specOf(names: readonly string[], limits: readonly Limit[]): string {
  return JSON.stringify(
    limits.map((limit, i): SpecEntry => {
      const { kind, permits, interval } = limit;
      return [escaped(names[i]), kinds[kind], permits, interval, extraOf(limit)];
    }),
  );
}

/**
 * The limits of a text that another client has stored, in the order of the names; undefined for an empty list.
 *
 * Throws where they have other names than this limiter's: what it asks for cannot be charged to them.
 */
export function limitsOf(names: readonly string[], spec: string): readonly Limit[] | undefined {
  const entries = JSON.parse(spec) as SpecEntry[];
  if (entries.length === 0) return undefined;
  const stored = entries.map(([name]) => name);
  const wrong = otherNames(names.map(escaped), stored);
  if (wrong) throw wrong;
  return entries.map(limitOf);
}

function limitOf([, kind, permits, interval, extra]: SpecEntry): Limit {
  if (kind === kinds.slidingWindow) return slidingWindow({ permits, interval, resolution: extra });
  if (kind === kinds.fixedWindow)
    return fixedWindow({ permits, interval, align: extra === 1 ? 'epoch' : 'first' });
  return tokenBucket({ permits, interval, burst: extra });
}

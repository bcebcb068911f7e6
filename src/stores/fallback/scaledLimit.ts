import {
  fixedWindow,
  type Limit,
  longestInterval,
  slidingWindow,
  type TokenBucket,
  tokenBucket,
} from '../../limits/limit.ts';

/**
 * A limit scaled by `ratio`, rounded down. It can grant at least one permit, and all its numbers are safe integers.
 *
 * A window has fewer permits; if that would be none, one permit in a longer interval, up to the longest possible. A bucket
 * refills more slowly and holds less.
 */
export function scaledLimit(limit: Limit, ratio: number): Limit {
  if (limit.kind === 'tokenBucket') return scaledBucket(limit, ratio);
  const rate = fewer(limit, ratio);
  if (limit.kind === 'fixedWindow') return fixedWindow({ ...rate, align: limit.align });
  return slidingWindow({ ...rate, resolution: limit.resolution });
}

interface Rate {
  permits: number;
  interval: number;
}

/** A rate with fewer permits, or with one permit and a longer interval. */
function fewer({ permits, interval }: Rate, ratio: number): Rate {
  const part = Math.floor(permits * ratio);
  if (part >= 1) return { permits: part, interval };
  return { permits: 1, interval: Math.min(longestInterval, Math.ceil(interval / (permits * ratio))) };
}

function scaledBucket(limit: TokenBucket, ratio: number): TokenBucket {
  const part = Math.floor(limit.burst * ratio);
  const slower = { permits: limit.permits, interval: Math.ceil(limit.interval / ratio) };
  const fits =
    slower.interval <= longestInterval &&
    Math.max(slower.permits, part) * slower.interval <= Number.MAX_SAFE_INTEGER;
  const rate = fits ? slower : fewer(limit, ratio);
  const burst = Math.max(1, Math.min(part, Math.floor(Number.MAX_SAFE_INTEGER / rate.interval)));
  return tokenBucket({ ...rate, burst });
}

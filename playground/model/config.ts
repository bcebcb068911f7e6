import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/index.ts';

/** All that can be chosen on the page. Times in milliseconds. */
export interface Config {
  kind: 'slidingWindow' | 'fixedWindow' | 'tokenBucket' | 'leakyBucket';
  permits: number;
  interval: number;
  /** Of a sliding window; 0 for the default. */
  resolution: number;
  /** Of a fixed window. */
  align: 'first' | 'epoch';
  /** Of a token bucket; 0 for the default. */
  burst: number;
  processes: number;
  arrivals: 'steady' | 'bursts' | 'poisson' | 'hand';
  /** Requests a second of each process. */
  rate: number;
  /** The length of a pause. */
  pause: number;
}

export const defaults: Readonly<Config> = {
  kind: 'slidingWindow',
  permits: 5,
  interval: 1_000,
  resolution: 0,
  align: 'first',
  burst: 0,
  processes: 3,
  arrivals: 'poisson',
  rate: 1.6,
  pause: 1_500,
};

/** The values that each choice may have. */
export const choices = {
  kind: ['slidingWindow', 'fixedWindow', 'tokenBucket', 'leakyBucket'],
  align: ['first', 'epoch'],
  arrivals: ['steady', 'bursts', 'poisson', 'hand'],
} as const;

/** The least and the greatest value of each number, and the step of its control. */
export const ranges = {
  permits: { least: 1, greatest: 50, step: 1 },
  interval: { least: 100, greatest: 10_000, step: 50 },
  resolution: { least: 0, greatest: 10_000, step: 1 },
  burst: { least: 0, greatest: 50, step: 1 },
  processes: { least: 1, greatest: 8, step: 1 },
  rate: { least: 0.2, greatest: 20, step: 0.2 },
  pause: { least: 100, greatest: 10_000, step: 50 },
} as const;

/** A number of the configuration from its text, brought into its range; its default if the text is not a number. */
export function numberOf(name: keyof typeof ranges, text: string): number {
  const { least, greatest, step } = ranges[name];
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) return defaults[name];
  const rounded = step < 1 ? Math.round(value * 10) / 10 : Math.round(value);
  return Math.min(greatest, Math.max(least, rounded));
}

/** The choices that only one kind of limit has. */
export const onlyOf: Readonly<Partial<Record<keyof Config, Config['kind']>>> = {
  resolution: 'slidingWindow',
  align: 'fixedWindow',
  burst: 'tokenBucket',
};

/** The limit of a configuration. */
export function limitOf({ kind, permits, interval, resolution, align, burst }: Config): Limit {
  switch (kind) {
    case 'slidingWindow':
      return slidingWindow({
        permits,
        interval,
        ...(resolution > 0 && { resolution: Math.min(resolution, interval) }),
      });
    case 'fixedWindow':
      return fixedWindow({ permits, interval, align });
    case 'tokenBucket':
      return tokenBucket({ permits, interval, ...(burst > 0 && { burst }) });
    case 'leakyBucket':
      return leakyBucket({ permits, interval });
  }
}

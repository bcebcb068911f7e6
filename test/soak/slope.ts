/** A measurement: epoch milliseconds, and bytes. */
export type Sample = readonly [at: number, bytes: number];

/**
 * The growth of the bytes, by least squares over the last two thirds of the samples: megabytes a minute; NaN for fewer
 * than ten.
 */
export function slopeOf(samples: readonly Sample[]): number {
  const late = samples.slice(Math.floor(samples.length / 3));
  if (late.length < 10) return Number.NaN;
  const mean = (of: (sample: Sample) => number) =>
    late.reduce((sum, sample) => sum + of(sample), 0) / late.length;
  const [t, y] = [mean(([at]) => at), mean(([, bytes]) => bytes)];
  const covariance = mean(([at, bytes]) => (at - t) * (bytes - y));
  return ((covariance / mean(([at]) => (at - t) ** 2)) * 60_000) / 2 ** 20;
}

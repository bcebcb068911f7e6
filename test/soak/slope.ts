/** A measurement: epoch milliseconds, and bytes. */
export type Sample = readonly [at: number, bytes: number];

/** Milliseconds of samples that show a growth: a process that has just started grows. */
const least = 60_000;
/** The same for a run that is shorter. */
const fewest = 10;

/**
 * The steepest growth, in megabytes a minute; undefined if all are too short. Series of less than a minute count only if no
 * series is longer.
 */
export function steepest(all: readonly (readonly Sample[])[]): number | undefined {
  const late = all.map((samples) => samples.slice(Math.floor(samples.length / 3)));
  const long = late.filter((samples) => samples.length > 0 && samples.at(-1)![0] - samples[0][0] >= least);
  const judged = long.length > 0 ? long : late.filter(({ length }) => length >= fewest);
  return judged.length > 0 ? Math.max(...judged.map(slopeOf)) : undefined;
}

/** The growth of the bytes, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [t, y] = [mean(([at]) => at), mean(([, bytes]) => bytes)];
  const covariance = mean(([at, bytes]) => (at - t) * (bytes - y));
  return ((covariance / mean(([at]) => (at - t) ** 2)) * 60_000) / 2 ** 20;
}

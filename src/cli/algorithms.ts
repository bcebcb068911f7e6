import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../index.ts';
import { UsageError } from './failure.ts';

const makers: Record<string, (permits: number, interval: number, burst?: number) => Limit> = {
  'sliding-window': (permits, interval) => slidingWindow({ permits, interval }),
  'fixed-window': (permits, interval) => fixedWindow({ permits, interval }),
  'token-bucket': (permits, interval, burst) => tokenBucket({ permits, interval, burst }),
  'leaky-bucket': (permits, interval) => leakyBucket({ permits, interval }),
};

/** The values of `--algorithm`; the first is the default. */
export const algorithms = Object.keys(makers);

const optionOf: Record<string, string> = { permits: '--limit', interval: '--interval', burst: '--burst' };

/** Returns the limit of the options. Throws UsageError with the names of the command line. */
export function limitOf(options: {
  algorithm: string;
  limit: number;
  interval: number | undefined;
  burst?: number | undefined;
}): Limit {
  const { algorithm, limit, interval = 1_000, burst } = options;
  if (burst !== undefined && algorithm !== 'token-bucket')
    throw new UsageError(`--burst: expected with --algorithm token-bucket only, got ${algorithm}`);
  try {
    return makers[algorithm](limit, interval, burst);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(message.replace(/\b(permits|interval|burst)\b/g, (word) => optionOf[word]));
  }
}

import type { Config } from './model/config.ts';

/** What the limit of a configuration promises, in a sentence. */
export function promiseOf({ kind, permits, interval, align, burst }: Config): string {
  const count = (n: number) => `${n} permit${n === 1 ? '' : 's'}`;
  const ms = `${interval} ms`;
  switch (kind) {
    case 'slidingWindow':
      return `No window of ${ms}, wherever it starts, sees more than ${count(permits)}. The window up to now is drawn.`;
    case 'fixedWindow':
      return align === 'first'
        ? `A window of ${ms} starts with its first permit, and sees at most ${count(permits)}.`
        : `A window starts at each multiple of ${ms}, and sees at most ${count(permits)}.`;
    case 'tokenBucket':
    case 'leakyBucket': {
      const most = kind === 'leakyBucket' ? 1 : burst || permits;
      return `Any ${ms} see at most ${count(most + permits)}: a burst of ${most}, and ${permits} that the bucket is refilled with.`;
    }
  }
}

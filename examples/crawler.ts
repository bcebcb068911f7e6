import type { Redis } from 'ioredis';
import { mergeMap, type Observable } from 'rxjs';
import { fromThrottled, leakyBucket, RateLimiterGroup } from 'rxjs-sluice';

export interface Page {
  url: string;
  /** Undefined if the host cannot be reached, or does not respond in time. */
  response: Response | undefined;
}

/** Two pages a second from each host, for all processes together. */
export const hostLimits = (redis?: Redis) =>
  new RateLimiterGroup({ name: 'hosts', limit: leakyBucket({ permits: 2, interval: 1_000 }), redis });

/**
 * The URLs in a text of one on each line, such as a Node stream with an encoding. Other lines are skipped. Nothing is read
 * before it is needed.
 */
export async function* urlsOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of text) {
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    yield* lines.filter(isUrl);
  }
  if (isUrl(rest)) yield rest;
}

const isUrl = (line: string) => /^https?:/.test(line) && URL.canParse(line);

export interface CrawlOptions {
  /** URLs that may wait for their hosts. While fewer wait, the next one is read. */
  buffer?: number;
  /** Milliseconds that a page may take. This bounds the calls in progress: at two pages a second, 20 for each host. */
  timeout?: number;
}

/**
 * Loads the pages of URLs at the rate of each host. A slow host does not delay the others, as long as the buffer holds URLs of
 * others as well.
 */
export function crawl(
  urls: AsyncIterable<string> | Iterable<string>,
  hosts: RateLimiterGroup,
  { buffer = 1_024, timeout = 10_000 }: CrawlOptions = {},
): Observable<Page> {
  return fromThrottled(urls, hosts, { key: (url) => new URL(url).host, buffer }).pipe(
    mergeMap(async (url) => ({ url, response: await load(url, timeout) })),
  );
}

const load = (url: string, timeout: number) =>
  fetch(url, { signal: AbortSignal.timeout(timeout) }).catch(() => undefined);

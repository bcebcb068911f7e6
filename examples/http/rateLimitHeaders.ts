import type { Decision, Limit } from 'rxjs-sluice';

/**
 * The fields of a response as draft-ietf-httpapi-ratelimit-headers-10 defines them, and Retry-After for a denied request:
 *
 *     RateLimit-Policy: "default";q=100;w=60
 *     RateLimit: "default";r=50;t=30
 */
export function rateLimitHeaders(
  { granted, limit: quota, remaining, retryAfter, resetAfter }: Decision,
  limit: Limit,
  policy = 'default',
): Record<string, string> {
  // A bucket has its burst as quota, and needs this long to fill.
  const window = limit.kind === 'tokenBucket' ? (quota * limit.interval) / limit.permits : limit.interval;
  const reset = seconds(granted ? resetAfter : retryAfter);
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${Math.max(1, seconds(window))}`,
    RateLimit: `"${policy}";r=${remaining};t=${reset}`,
    ...(granted ? {} : { 'Retry-After': String(reset) }),
  };
}

/** Rounded up: a client that comes back then is not too early. */
const seconds = (ms: number) => Math.ceil(ms / 1_000);

import type { Request, RequestHandler } from 'express';
import type { RateLimiterGroup } from 'rxjs-sluice';
import { keyOf, limitOf, type User } from './plans.ts';
import { rateLimitHeaders } from './rateLimitHeaders.ts';

/** A middleware that responds with 429 to a user beyond the limit of the plan, and adds the RateLimit fields to each response. */
export function rateLimit(group: RateLimiterGroup, userOf: (request: Request) => User): RequestHandler {
  return async (request, response, next) => {
    const key = keyOf(userOf(request));
    const decision = await group.get(key).decide();
    response.set(rateLimitHeaders(decision, limitOf(key)));
    if (decision.granted) next();
    else response.status(429).json({ error: 'Too Many Requests' });
  };
}

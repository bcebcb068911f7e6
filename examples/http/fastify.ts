import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { RateLimiterGroup } from 'rxjs-sluice';
import { keyOf, limitOf, type User } from './plans.ts';
import { rateLimitHeaders } from './rateLimitHeaders.ts';

export interface RateLimitOptions {
  group: RateLimiterGroup;
  userOf: (request: FastifyRequest) => User;
}

/** A plugin that responds with 429 to a user beyond the limit of the plan, and adds the RateLimit fields to each response. */
export const rateLimit: FastifyPluginAsync<RateLimitOptions> = async (app, { group, userOf }) => {
  app.addHook('onRequest', async (request, reply) => {
    const key = keyOf(userOf(request));
    const decision = await group.get(key).decide();
    reply.headers(rateLimitHeaders(decision, limitOf(key)));
    if (!decision.granted) return reply.code(429).send({ error: 'Too Many Requests' });
  });
};

// The hook applies to the routes of the app that registers the plugin, and not only to those of the plugin.
Object.assign(rateLimit, { [Symbol.for('skip-override')]: true });

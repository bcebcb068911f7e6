import { createServer } from 'node:http';
import express from 'express';
import { fastify } from 'fastify';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rateLimit as middleware } from '../../examples/http/express.ts';
import { rateLimit as plugin } from '../../examples/http/fastify.ts';
import { plans, type User, userLimits } from '../../examples/http/plans.ts';
import { rateLimitHeaders } from '../../examples/http/rateLimitHeaders.ts';
import { fixedWindow, tokenBucket } from '../../src/index.ts';
import { listen } from './httpServer.ts';

const userOf = ({ headers }: { headers: { [name: string]: unknown } }): User => ({
  id: String(headers['x-user']),
  plan: headers['x-plan'] as User['plan'],
});

/** Starts a server of a framework with the example; returns its URL, and what closes it. */
const frameworks: Record<string, () => Promise<[url: string, close: () => unknown]>> = {
  async Express() {
    const app = express();
    app.use(middleware(userLimits(), userOf));
    app.get('/', (_, response) => void response.send('done'));
    const server = createServer(app);
    return [await listen(server), () => server.close() && server.closeAllConnections()];
  },
  async Fastify() {
    const app = fastify({ forceCloseConnections: true });
    await app.register(plugin, { group: userLimits(), userOf });
    app.get('/', async () => 'done');
    return [await app.listen({ port: 0, host: '127.0.0.1' }), () => app.close()];
  },
};

for (const [framework, start] of Object.entries(frameworks)) {
  const test = suite<{ call: (id: string, plan: string) => Promise<Response>; close: () => unknown }>(
    framework,
  );
  test.before.each(async (context) => {
    const [url, close] = await start();
    const call = (id: string, plan: string) => fetch(url, { headers: { 'x-user': id, 'x-plan': plan } });
    Object.assign(context, { call, close });
  });
  test.after.each(({ close }) => close() as Promise<void>);

  test('the eleventh call of a user with the plan free is 429', async ({ call }) => {
    for (let i = 1; i <= 10; i++) {
      const response = await call('ada', 'free');
      assert.equal([response.status, await response.text()], [200, 'done']);
      assert.is(response.headers.get('RateLimit-Policy'), '"default";q=10;w=60');
      assert.match(response.headers.get('RateLimit')!, new RegExp(`^"default";r=${10 - i};t=6[01]$`));
      assert.not(response.headers.has('Retry-After'));
    }
    const refused = await call('ada', 'free');
    assert.equal([refused.status, await refused.json()], [429, { error: 'Too Many Requests' }]);
    const [, seconds] = /^"default";r=0;t=(\d+)$/.exec(refused.headers.get('RateLimit')!)!;
    assert.is(refused.headers.get('Retry-After'), seconds);
    assert.ok(Number(seconds) >= 55 && Number(seconds) <= 61, seconds);
  });

  test('each user has a limit, which is that of the plan', async ({ call }) => {
    for (let i = 1; i <= 11; i++) await call('ada', 'free');
    const [bob, pro] = [await call('bob', 'free'), await call('ada', 'pro')];
    assert.equal([bob.status, pro.status], [200, 200]);
    assert.is(pro.headers.get('RateLimit-Policy'), '"default";q=50;w=5');
    assert.match(pro.headers.get('RateLimit')!, /^"default";r=49;t=1$/);
  });

  test.run();
}

const test = suite('the fields of a response');
const decision = { granted: true, limit: 100, remaining: 50, retryAfter: 0, resetAfter: 29_001 };

test('are as in the draft', () => {
  const limit = fixedWindow({ permits: 100, interval: 60_000 });
  assert.equal(rateLimitHeaders(decision, limit), {
    'RateLimit-Policy': '"default";q=100;w=60',
    RateLimit: '"default";r=50;t=30',
  });
});

test('of a denied request have the time after which it may be repeated', () => {
  const denied = { ...decision, granted: false, remaining: 0, retryAfter: 1_200, resetAfter: 60_000 };
  assert.equal(rateLimitHeaders(denied, plans.free, 'by-plan'), {
    'RateLimit-Policy': '"by-plan";q=100;w=60',
    RateLimit: '"by-plan";r=0;t=2',
    'Retry-After': '2',
  });
});

test('of a bucket have the time in which it fills, in whole seconds', () => {
  const policyOf = (permits: number, burst: number) =>
    rateLimitHeaders({ ...decision, limit: burst }, tokenBucket({ permits, burst, interval: 1_000 }))[
      'RateLimit-Policy'
    ];
  assert.is(policyOf(10, 35), '"default";q=35;w=4');
  assert.is(policyOf(10, 1), '"default";q=1;w=1');
});

test.run();

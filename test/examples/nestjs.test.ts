import 'reflect-metadata';
import { createServer } from 'node:http';
import { HttpException, Module, UseInterceptors } from '@nestjs/common';
import { ExternalContextCreator, NestFactory } from '@nestjs/core';
import express, { type Request } from 'express';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { userLimits } from '../../examples/http/plans.ts';
import { RateLimitInterceptor, ThrottleInterceptor } from '../../examples/nestjs/interceptors.ts';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { listen } from './httpServer.ts';

const test = suite('a NestJS interceptor');
const userOf = ({ headers }: Request) => ({ id: String(headers['x-user']), plan: 'free' as const });

/** Runs `work` with the URL of a Nest controller behind an interceptor. Its HTTP is that of Express, by hand. */
async function withController(
  interceptor: object,
  work: (url: string, calls: number[]) => Promise<void>,
): Promise<void> {
  const calls: number[] = [];
  class Controller {
    hello() {
      calls.push(performance.now());
      return 'done';
    }
  }
  // As the decorators do, which need another setting of the compiler than these tests have.
  UseInterceptors(interceptor as never)(Controller);
  class AppModule {}
  Module({ providers: [Controller] })(AppModule);
  const context = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const controller = context.get(Controller);
  const handler = context
    .get(ExternalContextCreator, { strict: false })
    .create(controller, controller.hello, 'hello');
  const app = express();
  app.get('/', (request, response, next) =>
    handler(request, response, next).then(
      (body) => response.send(body),
      (error) => response.status(error instanceof HttpException ? error.getStatus() : 500).end(),
    ),
  );
  const server = createServer(app);
  try {
    await work(await listen(server), calls);
  } finally {
    server.close();
    server.closeAllConnections();
    await context.close();
  }
}

test('responds with 429 beyond the limit of a user, and does not call the handler', () =>
  withController(new RateLimitInterceptor(userLimits(), userOf), async (url, calls) => {
    const call = (user: string) => fetch(url, { headers: { 'X-User': user } });
    for (let i = 1; i <= 10; i++) assert.is(await (await call('ada')).text(), 'done');
    const refused = await call('ada');
    assert.is(refused.status, 429);
    assert.is(refused.headers.get('RateLimit-Policy'), '"default";q=10;w=60');
    assert.match(refused.headers.get('RateLimit')!, /^"default";r=0;t=[56]\d$/);
    assert.match(refused.headers.get('Retry-After')!, /^[56]\d$/);
    assert.is(calls.length, 10);
    assert.is((await call('bob')).status, 200);
  }));

test('lets the handler wait for a permit', () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 1, interval: 300 }) });
  return withController(new ThrottleInterceptor(limiter), async (url, calls) => {
    const started = performance.now();
    const responses = await Promise.all([fetch(url), fetch(url)]);
    assert.equal(
      responses.map(({ status }) => status),
      [200, 200],
    );
    assert.ok(calls[1] - started >= 299, `${calls[1] - started} ms`);
  });
});

test('responds with 503 if the wait would be longer than its timeout', () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 1, interval: 60_000 }) });
  return withController(new ThrottleInterceptor(limiter, 100), async (url, calls) => {
    const statuses = [(await fetch(url)).status, (await fetch(url)).status];
    assert.equal(statuses, [200, 503]);
    assert.is(calls.length, 1);
  });
});

test.run();

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  RateLimiter,
  RateType,
  RedissonRateLimiter,
  StoreError,
  StoreUnavailableError,
  slidingWindow,
} from '../../src/index.ts';
import { clientName } from '../support/anyClient.ts';
import { removeFolder, temporaryFolder } from '../support/leftovers.ts';
import { freePort } from '../support/ports.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { rulesOf } from './guide.ts';

interface Context {
  server: RedisServer;
  folder: string;
  port: number;
  /** The certificate of the server. */
  ca: Buffer;
  opened: Redis[];
  connect(options: RedisOptions): Redis;
}

const test = suite<Context>('TLS and passwords');
const limit = slidingWindow({ permits: 5, interval: 60_000 });
const names = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=sluice';

test.before(async (context) => {
  context.folder = temporaryFolder();
  const [key, certificate] = ['key.pem', 'cert.pem'].map((name) => join(context.folder, name));
  const ends = [
    '-keyout',
    key,
    '-out',
    certificate,
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  ];
  execFileSync('openssl', [...names.split(' '), ...ends], { stdio: 'ignore' });
  context.ca = readFileSync(certificate);
  context.port = await freePort();
  context.server = await startRedis({
    config: [
      `tls-port ${context.port}`,
      `tls-cert-file ${certificate}`,
      `tls-key-file ${key}`,
      'tls-auth-clients no',
    ],
  });
  await context.server.command('ACL', 'SETUSER', 'guided', 'on', '>secret', ...rulesOf('sluice'));
});
test.before.each((context) => {
  context.opened = [];
  context.connect = (options) => {
    const redis = new Redis({ host: '127.0.0.1', port: context.port, retryStrategy: () => 50, ...options });
    redis.on('error', () => {});
    context.opened.push(redis);
    return redis;
  };
});
test.after.each(({ opened }) => {
  for (const redis of opened) redis.disconnect();
});
test.after(async ({ server, folder }) => {
  await server.stop();
  removeFolder(folder);
});

test('a limiter works over TLS with a user and a password, given to ioredis', async ({ connect, ca }) => {
  const redis = connect({ tls: { ca }, username: 'guided', password: 'secret' });
  const limiter = new RateLimiter({ name: 'tls', limit, redis });
  const permits = await Promise.all([limiter.acquire(2), limiter.acquire()]);
  assert.equal(
    permits.map(({ source }) => source),
    ['redis', 'redis'],
  );
  await permits[0].refund();
  assert.is(await limiter.availablePermits(), 4);
  assert.ok((await limiter.decide(4)).granted);
  assert.not(await limiter.tryAcquire());
  await limiter.close();
});

test('a Redisson limiter works over TLS', async ({ connect, ca }) => {
  const limiter = new RedissonRateLimiter(connect({ tls: { ca } }), 'tls');
  await limiter.setRate(RateType.OVERALL, 3, 60_000);
  assert.ok(await limiter.tryAcquire(2));
  assert.is(await limiter.availablePermits(), 1);
  await limiter.close();
});

const failures: [
  title: string,
  options: (on: Context) => RedisOptions,
  error: typeof StoreError | typeof StoreUnavailableError,
  message: RegExp,
][] = [
  [
    'a server whose certificate is not trusted',
    () => ({ tls: { maxVersion: 'TLSv1.2' } }),
    StoreUnavailableError,
    /Redis cannot be reached/,
  ],
  ['no TLS', () => ({}), StoreUnavailableError, /Connection|closed|ECONNRESET|terminated/],
  [
    'a wrong password',
    ({ ca }) => ({ tls: { ca }, username: 'guided', password: 'wrong' }),
    // GLIDE reports that it cannot connect.
    clientName === 'valkey-glide' ? StoreUnavailableError : StoreError,
    /WRONGPASS|NOPERM|NOAUTH/,
  ],
];

for (const [title, options, type, message] of failures)
  test(`grants nothing with ${title}`, async (context) => {
    // One attempt: ioredis may leave the errors of later ones without a listener.
    const redis = context.connect({ retryStrategy: () => null, ...options(context) });
    const limiter = new RateLimiter({ name: 'tls', limit, redis, storeTimeout: 500 });
    const error = await limiter.acquire().catch((reason: Error) => reason);

    assert.instance(error, type);
    assert.match((error as Error).message, message);
    await limiter.close();
  });

test.run();

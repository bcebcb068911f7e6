import { once } from 'node:events';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, StoreError, StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { promise } from '../support/campaign.ts';
import { type RespServer, startRespServer } from '../support/respServer.ts';
import { until } from '../support/until.ts';
import { endOf } from './endOf.ts';

const limit = slidingWindow({ permits: 5, interval: 1_000 });

let server: RespServer;
let redis: Redis;
test.before(async () => {
  server = await startRespServer();
  redis = new Redis({
    port: server.port,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 1,
    maxRetriesPerRequest: 1,
  });
  redis.on('error', () => {});
});
test.after(async () => {
  redis.disconnect();
  await server.close();
});

/** Makes one request of a limiter that gives up a reply which does not end in time. */
async function request(timeout = 10_000): Promise<unknown> {
  // An invalid message has closed the connection.
  if (redis.status !== 'ready') await once(redis, 'ready');
  const fallback = { mode: 'reject', timeout, cooldown: 1 } as const;
  const limiter = new RateLimiter({ name: 'wire', limit, redis, fallback });
  const end = await endOf(limiter.acquire());
  const { queued, reserved } = limiter.stats();
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  await limiter.close();
  return end;
}

function shown(end: unknown): string {
  return end instanceof Error ? `${end.name}: ${end.message}` : fc.stringify(end);
}

const crlf = '\r\n';
const text = (value: string) => `$${Buffer.byteLength(value)}${crlf}${value}${crlf}`;

/** Values of RESP3 that are not whole numbers (ioredis passes on `true` and a big 1 as 1). */
const { tree } = fc.letrec<{ tree: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    fc
      .constantFrom('_', '#f', ',1.5', ',inf', ',-inf', ',nan', '+OK', '+', '$-1', '*-1')
      .map((s) => s + crlf),
    fc.constantFrom(
      '=7\r\ntxt:abc\r\n',
      '-ERR wrong\r\n',
      '!9\r\nERR wrong\r\n',
      '*0\r\n',
      '%0\r\n',
      '~0\r\n',
    ),
    fc
      .string({ unit: 'binary', maxLength: 20 })
      .filter((s) => !/^-?\d+$/.test(s))
      .map(text),
  ),
  tree: fc.oneof(
    { depthSize: 'small' },
    tie('leaf'),
    fc
      .array(tie('tree'), { minLength: 1, maxLength: 8 })
      .map((items) => `*${items.length}${crlf}${items.join('')}`),
    fc
      .array(tie('tree'), { minLength: 1, maxLength: 4 })
      .map((items) => `~${items.length}${crlf}${items.join('')}`),
    fc
      .array(fc.tuple(tie('leaf'), tie('tree')), { minLength: 1, maxLength: 3 })
      .map((pairs) => `%${pairs.length}${crlf}${pairs.flat().join('')}`),
  ),
}));

/** The bytes that arrive at once. */
const parted = (whole: fc.Arbitrary<string>) =>
  fc.tuple(whole, fc.array(fc.nat({ max: 200 }), { maxLength: 3 })).map(([bytes, cuts]) => {
    const buffer = Buffer.from(bytes);
    const ends = [...new Set(cuts.filter((cut) => cut > 0 && cut < buffer.length))].sort((a, b) => a - b);
    return [...ends, buffer.length].map((end, i) => buffer.subarray(ends[i - 1] ?? 0, end));
  });

/** Messages without a call. */
const pushes = fc
  .array(
    fc.constantFrom(
      ['invalidate', 'key'],
      ['message', 'channel', 'text'],
      ['pmessage', 'a*', 'ab', 'text'],
      ['subscribe', 'channel'],
      ['unsubscribe', 'channel'],
      ['server-cpu-usage', '1'],
    ),
    { maxLength: 4 },
  )
  .map((all) => all.map((words) => `>${words.length}${crlf}${words.map(text).join('')}`).join(''));

const wrong = parted(fc.tuple(pushes, tree).map((all) => all.join('')));
promise(
  'fails with StoreError on a reply of another type, after any pushed messages',
  400,
  wrong,
  async (parts) => {
    server.reply = { parts };
    const end = await request();
    assert.instance(end, StoreError, shown(end));
  },
);

const right = parted(pushes.map((before) => `${before}:1700000000000000${crlf}`));
promise('finds a valid reply between pushed messages', 200, right, async (parts) => {
  server.reply = { parts };
  const end = await request();
  assert.not(end instanceof Error, shown(end));
});

const garbage = parted(
  fc
    .tuple(fc.constantFrom('@', '?', '\0', '{', 'HTTP/1.1 400 Bad Request'), fc.string())
    .map((all) => `${all.join('')}${crlf}`),
);
promise(
  'breaks the connection on bytes that are no reply: rejects the request, and grants the next one',
  100,
  garbage,
  async (parts) => {
    server.reply = { parts };
    const end = await request();
    assert.ok(end instanceof StoreError || end instanceof StoreUnavailableError, shown(end));
    server.reply = { parts: [':1700000000000000\r\n'] };
    await until('the next request is served', async () => !((await request()) instanceof Error));
  },
);

/** The beginning of a valid reply. */
const unfinished = fc.tuple(fc.nat({ max: 40 }), fc.boolean()).map(([length, closes]) => ({
  parts: ['*7\r\n:1700000000000000\r\n:7\r\n:1\r\n:-1\r\n:-1\r\n:1\r\n:0\r\n'.slice(0, length)],
  closes,
}));
promise('gives up a reply that does not end in time, without a grant', 24, unfinished, async (reply) => {
  // On the same connection, this reply would continue an earlier one, or that of a call that is still in flight.
  const closed = redis.status === 'ready' ? once(redis, 'close') : undefined;
  redis.disconnect(true);
  await closed;
  server.reply = reply;
  const end = await request(150);
  assert.instance(end, StoreUnavailableError, shown(end));
});

test.run();

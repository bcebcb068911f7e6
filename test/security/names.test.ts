import { once } from 'node:events';
import * as assert from 'uvu/assert';
import {
  type LimiterEvent,
  RateLimiter,
  RateLimiterGroup,
  RateType,
  RedissonRateLimiter,
  slidingWindow,
} from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';

const test = redisSuite('names');
const limit = slidingWindow({ permits: 5, interval: 60_000 });

/** Would be code in a script, in a pattern, in JSON, or in the protocol. */
const code = `x"] ]]'}\r\n*1\r\nPING\r\n redis.call('SET', 'pwned', 1) --`;

test('names, prefixes, client ids and keys never reach the text of a script', async ({
  redis,
  connect,
  server,
}) => {
  const observer = connect();
  // A command that it sends while the monitor starts would confuse the monitor.
  await observer.ping();
  const monitor = await observer.monitor();
  const texts = { plain: new Set<string>(), named: new Set<string>() };
  let kind: keyof typeof texts = 'plain';
  monitor.on('monitor', (_time: string, [command, text]: string[]) => {
    if (/^eval/i.test(command)) texts[kind].add(text);
  });
  // Each connection sends the text of a script once, and its hash from then on.
  const use = async (own: typeof kind, name: string) => {
    kind = own;
    await server.command('SCRIPT', 'FLUSH');
    const connection = connect();
    const options = { name, prefix: name, clientId: name, redis: connection };
    const limiter = new RateLimiter({ ...options, limit: { [name]: limit, other: limit } });
    const group = new RateLimiterGroup({ ...options, limit });
    const redisson = new RedissonRateLimiter(connection, name, { clientId: name });
    const permit = await limiter.acquire({ [name]: 1 });
    await permit.refund();
    await limiter.decide(1);
    await limiter.availablePermits();
    await limiter.setRate({ [name]: limit, other: limit });
    await limiter.pauseFor(1);
    await limiter.reset();
    await group.get(name).acquire();
    await redisson.trySetRate(RateType.PER_CLIENT, 5, 1_000);
    await (await redisson.acquire()).refund();
    await redisson.availablePermits();
    await redisson.release(1);
    await redisson.expire(1_000);
    await Promise.all([limiter.close(), group.close(), redisson.close()]);
    // The monitor is behind the last call.
    const last = once(monitor, 'monitor');
    await connection.ping();
    await last;
  };
  await use('plain', 'plain');
  await use('named', code);
  monitor.disconnect();
  assert.ok(texts.plain.size >= 12, `${texts.plain.size} scripts`);
  assert.equal([...texts.named].sort(), [...texts.plain].sort());
  assert.is(await redis.exists('pwned'), 0);
});

for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])
  test(`${name} is a name like any other: of a limiter, a limit, a client and a key`, async ({ redis }) => {
    const record = <T>(value: T) => Object.fromEntries([[name, value]]) as Record<string, T>;
    const options = { name, prefix: name, clientId: name, redis };
    const limiter = new RateLimiter({ ...options, limit: record(limit) });
    const events: LimiterEvent[] = [];
    limiter.events$.subscribe((event) => events.push(event));
    const permit = await limiter.acquire(record(3));
    assert.is(await limiter.availablePermits(), 2);
    assert.equal(Object.entries(await limiter.availablePermits({ detail: true })), [[name, 2]]);
    assert.not((await limiter.decide(3)).granted);
    await limiter.setRate(record(limit));
    assert.equal(Object.keys((await limiter.getRate()).limit), [name]);
    await permit.refund();
    assert.ok(events.length >= 2);
    for (const event of events) assert.is(Object.getPrototypeOf(event), Object.prototype);

    const group = new RateLimiterGroup({ ...options, limit });
    await group.get(name).acquire(4);
    assert.is(await group.get(name).availablePermits(), 1);
    assert.is(await group.get('other').availablePermits(), 5);
    await Promise.all([limiter.close(), group.close()]);
    for (const unknown of ['permits', 'limit', 'polluted']) assert.not(unknown in {});
  });

test.run();

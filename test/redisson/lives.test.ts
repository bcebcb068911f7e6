// Limiters from their first rate to their end and beyond, at a time of the test's own: whatever is done to them, what ours
// grant goes by the log as it lay before the call, and the keys agree and live as long as they are needed.
import type fc from 'fast-check';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import { promise } from '../support/campaign.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { replay } from './lives/replay.ts';
import { type Life, ofOurs, withHands, withJvm } from './lives/steps.ts';

let server: RedisServer;
let redis: Redis;
test.before(async () => {
  server = await startRedis();
  redis = new Redis(server.port);
});
test.after(async () => {
  redis.disconnect();
  await server.stop();
});

function lives(title: string, values: fc.Arbitrary<Life>): void {
  promise(title, 60, values, (life) => replay(redis, life));
}

lives('the log decides, `value` agrees, and both last: clients of ours', ofOurs);
lives('the log decides, `value` agrees, and both last: changes by hand as well', withHands);
lives('the log decides, `value` agrees, and both last: a JVM client takes as well', withJvm);

test.run();

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { RateLimiter } from '../../src/index.ts';
import { limitOf } from '../properties/specs.ts';
import { limit, requests } from './blocked.ts';
import { Requests } from './requests.ts';

/*
 * A process that requests permits while its event loop is blocked for a second. Its argument is the port of the server;
 * it reports to its parent when it received each grant.
 */

const redis = new Redis(Number(process.argv[2]));
await redis.ping();
const asked = new Requests(new RateLimiter({ name: 'blocked', limit: limitOf(limit), redis }));
asked.askMany(requests);
await sleep(300);
const till = performance.now() + 1000;
while (performance.now() < till);
await asked.allEnded();
const sights = asked.endings.map(({ index, receivedAt, permit }) => ({
  index,
  receivedAt,
  grantedAt: permit?.grantedAt,
}));
process.send!(sights, () => redis.disconnect());

import type { Redis } from 'ioredis';
import { createClient } from 'redis';
import { nodeRedis } from '../../src/index.ts';

/** What the store takes of a connection. */
const ofStore = /^(sluice_|status$|on$|off$|listenerCount$|connect$|defineCommand$)/;
/** What only ioredis has, and the store would use. */
const ofIoredis = /^(nodes|options|scriptsSet|sendCommand|stream)$/;

/**
 * With SLUICE_CLIENT=node-redis, a connection over which the store uses node-redis, while the test itself uses ioredis; or else
 * the connection of ioredis itself.
 */
export function withClient(redis: Redis, port: number): Redis {
  if (process.env.SLUICE_CLIENT !== 'node-redis') return redis;
  const client = createClient({ socket: { port, reconnectStrategy: () => 20 } }).on('error', () => {});
  client.connect().catch(() => {});
  redis.on('error', () => {});
  const adapter = nodeRedis(client);
  return new Proxy(redis, {
    has: (_, name) => !ofIoredis.test(String(name)) && name in redis,
    get(_, name) {
      if (name === 'disconnect')
        return () => {
          redis.disconnect();
          client.destroy();
        };
      if (ofIoredis.test(String(name))) return undefined;
      const target = ofStore.test(String(name)) ? adapter : redis;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

import { GlideClient, Logger } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis5';
import { nodeRedis, type RedisClient, valkeyGlide } from '../../src/index.ts';

// It prints a warning for each error reply, the one for an unknown script included.
Logger.setLoggerConfig('off');

/** A connection of one kind of client. */
export interface Opened {
  redis: RedisClient;
  close(): unknown;
}

/** A kind of client. */
export interface Kind {
  title: string;
  open(port: number): Promise<Opened>;
}

const socket = (port: number) => ({ port, reconnectStrategy: () => 20 });

/** The clients that have an adapter. */
export const kinds: Kind[] = [
  {
    title: 'node-redis 6',
    async open(port) {
      const client = createClient({ socket: socket(port) });
      client.on('error', () => {});
      await client.connect();
      return { redis: nodeRedis(client), close: () => client.destroy() };
    },
  },
  {
    title: 'node-redis 5',
    async open(port) {
      const client = createClient5({ socket: socket(port) });
      client.on('error', () => {});
      await client.connect();
      return { redis: nodeRedis(client), close: () => client.destroy() };
    },
  },
  {
    title: 'Valkey GLIDE',
    async open(port) {
      const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }] });
      return { redis: valkeyGlide(client), close: () => client.close() };
    },
  },
];

/** The client that the others share their limits with. */
export const ioredis: Kind = {
  title: 'ioredis',
  async open(port) {
    const redis = new Redis({ port });
    return { redis, close: () => redis.disconnect() };
  },
};

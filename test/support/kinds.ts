import { GlideClient, GlideClusterClient, Logger, ProtocolVersion } from '@valkey/valkey-glide';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import { createClient, createCluster, createSentinel } from 'redis';
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis5';
import { type NodeRedisClient, nodeRedis, type RedisClient, valkeyGlide } from '../../src/index.ts';

// It prints a warning for each error reply, the one for an unknown script included.
Logger.setLoggerConfig('off');

/** A connection of one kind of client, which may still be opening. */
export interface Opened {
  redis: RedisClient;
  /** Is settled when the connection is open, or cannot be opened. */
  opening: Promise<unknown>;
  close(): unknown;
}

type Node = { host: string; port: number };

/** A kind of client, with the counterparts of the options of ioredis. */
export interface Kind {
  title: string;
  open(options: RedisOptions): Opened;
  openCluster(nodes: Node[], options: ClusterOptions): Opened;
}

/** The functions that open connections of a version of node-redis. */
interface NodeRedis {
  createClient: typeof createClient;
  createCluster: typeof createCluster;
  createSentinel: typeof createSentinel;
}

function openedBy(made: object): Opened {
  const client = made as NodeRedisClient & { connect(): Promise<unknown>; destroy(): unknown };
  client.on('error', () => {});
  const opening = client.connect();
  opening.catch(() => {});
  return {
    redis: nodeRedis(client),
    opening,
    async close() {
      try {
        await client.destroy();
      } catch {
        // It is closed already.
      }
    },
  };
}

function nodeRedisKind(title: string, { createClient, createCluster, createSentinel }: NodeRedis): Kind {
  return {
    title,
    open(options) {
      const { host, port, username, password, keyPrefix, db: database, retryStrategy, tls } = options;
      const reconnectStrategy = (retries: number) => retryStrategy?.(retries) ?? false;
      const common = { username, password, keyPrefix, database };
      const { sentinels, name, enableOfflineQueue, protocol, commandTimeout } = options;
      if (sentinels)
        return openedBy(
          createSentinel({ name: name!, sentinelRootNodes: sentinels as Node[], nodeClientOptions: common }),
        );
      return openedBy(
        createClient({
          ...common,
          RESP: protocol as 2,
          disableOfflineQueue: enableOfflineQueue === false,
          commandOptions: { timeout: commandTimeout },
          socket: { host, port, reconnectStrategy, ...(tls && { ...tls, tls: true }) },
        }),
      );
    },
    openCluster: (nodes) =>
      openedBy(createCluster({ rootNodes: nodes.map(({ host, port }) => ({ socket: { host, port } })) })),
  };
}

/** The counterparts of options that the clients of GLIDE share. */
const glideOptions = ({ username, password, protocol, commandTimeout, db }: RedisOptions) => ({
  lazyConnect: true,
  requestTimeout: commandTimeout ?? 60_000,
  connectionBackoff: { numberOfRetries: 1, factor: 20, exponentBase: 1 },
  protocol: protocol === 2 ? ProtocolVersion.RESP2 : ProtocolVersion.RESP3,
  databaseId: db,
  ...(password && { credentials: { username, password } }),
});

/** A client that is created while calls are made. */
function glide(created: Promise<GlideClient | GlideClusterClient>, isCluster: boolean): Opened {
  const client = {
    customCommand: async (words: string[], options: { decoder: number }) =>
      (await created).customCommand(words, options as object),
    ...(isCluster && { invokeScriptWithRoute: true }),
  };
  return { redis: valkeyGlide(client), opening: created, close: async () => (await created).close() };
}

/** The clients that have an adapter, by their names in SLUICE_CLIENT. */
export const kinds: Record<string, Kind> = {
  'node-redis-6': nodeRedisKind('node-redis 6', { createClient, createCluster, createSentinel }),
  'node-redis-5': nodeRedisKind('node-redis 5', {
    createClient: createClient5,
    createCluster: createCluster5,
    createSentinel: createSentinel5,
  } as unknown as NodeRedis),
  'valkey-glide': {
    title: 'Valkey GLIDE',
    open(options) {
      const { host = '127.0.0.1', port, tls } = options;
      const security = tls && {
        useTLS: true,
        advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: tls.ca as Buffer } },
      };
      const address = { addresses: [{ host, port }] };
      return glide(GlideClient.createClient({ ...address, ...glideOptions(options), ...security }), false);
    },
    openCluster: (nodes, { redisOptions = {} }) =>
      glide(GlideClusterClient.createClient({ addresses: nodes, ...glideOptions(redisOptions) }), true),
  },
};

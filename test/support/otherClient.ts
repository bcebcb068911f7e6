// With SLUICE_CLIENT, the tests import this module as `ioredis`: over its connections, the store uses another client, and the
// test itself uses ioredis.
import { type ClusterOptions, Redis as Ioredis, Cluster as IoredisCluster, type RedisOptions } from 'ioredis';
import { clientName, lackedOf } from './anyClient.ts';
import { kinds, type Opened } from './kinds.ts';

const kind = kinds[clientName!];

/** The members of a connection that the store uses. */
const ofStore = /^(sluice_|status$|options$|off$|listenerCount$|defineCommand$|nodes$)/;
/** The events of the store's connection; all other events are those of the test's own connection. */
const ofConnection = /^(ready|close|end|error)$/;
/** The members that only ioredis has, and that the store would use. */
const ofIoredis = /^(scriptsSet|sendCommand|stream)$/;

/** The arguments of ioredis's `new Redis(…)`, as options. */
function optionsOf(args: unknown[]): RedisOptions {
  const options: RedisOptions = {};
  for (const arg of args) {
    if (typeof arg === 'object') Object.assign(options, arg);
    else if (/^\d+$/.test(String(arg))) options.port = Number(arg);
    else options.port = Number(new URL(String(arg)).port);
  }
  return { retryStrategy: (times) => Math.min(times * 50, 2_000), ...options };
}

function checked<T extends RedisOptions | ClusterOptions>(options: T): T {
  const lacked = lackedOf(options);
  if (lacked) throw new Error(`${kind.title} has no ${lacked}: see anyClient.ts`);
  return options;
}

function overClient(ioredis: Ioredis | IoredisCluster, { redis, opening, close }: Opened): unknown {
  ioredis.on('error', () => {});
  const own = redis as unknown as Record<string, unknown>;
  const ends = {
    disconnect() {
      ioredis.disconnect();
      close();
    },
    async quit() {
      ends.disconnect();
    },
    connect: () => opening,
    on(event: string, listener: (...args: unknown[]) => void) {
      if (ofConnection.test(event)) redis.on(event, listener);
      else ioredis.on(event, listener);
    },
    once(event: string, listener: (...args: unknown[]) => void) {
      const first = (...args: unknown[]) => {
        redis.off(event, first);
        listener(...args);
      };
      redis.on(event, first);
    },
  };
  const targetOf = (name: string): object => {
    if (Object.hasOwn(ends, name)) return ends;
    return ofStore.test(name) ? own : ioredis;
  };
  return new Proxy(ioredis, {
    has: (_, name) => !ofIoredis.test(String(name)) && name in targetOf(String(name)),
    set: (_, name, value) => Reflect.set(targetOf(String(name)), name, value),
    get(_, name) {
      if (ofIoredis.test(String(name))) return undefined;
      const target = targetOf(String(name));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The `Redis` of ioredis, over which the store uses the other client. */
export function Redis(...args: unknown[]) {
  const options = checked(optionsOf(args));
  const { commandTimeout, enableOfflineQueue, ...rest } = options;
  return overClient(new Ioredis({ ...rest, lazyConnect: true }), kind.open(options));
}

/** The `Cluster` of ioredis, over which the store uses the other client. */
export function Cluster(...[nodes, options = {}]: ConstructorParameters<typeof IoredisCluster>) {
  const cluster = new IoredisCluster(nodes, { ...checked(options), lazyConnect: true });
  return overClient(cluster, kind.openCluster(nodes as never, options));
}

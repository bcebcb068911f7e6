import { type RedisServer, startRedis } from './redisServer.ts';
import { until } from './until.ts';

const group = 'sluice';
const retrying = { within: 30_000 };

/** Starts a master, its replica and three sentinels, and waits until all of them know each other. */
export async function startSentinels(): Promise<RedisSentinel> {
  const started: RedisServer[] = [];
  const start = async (...args: Parameters<typeof startRedis>) => {
    const server = await startRedis(...args);
    started.push(server);
    return server;
  };
  try {
    // Without the delay a master waits five seconds for further replicas before it serves the first.
    const config = ['repl-diskless-sync-delay 0'];
    const master = await start({ config });
    const replica = await start({ config: [...config, `replicaof ${master.host} ${master.port}`] });
    await until('the replica follows', () => follows(replica));
    const watch = [
      `sentinel monitor ${group} ${master.host} ${master.port} 2`,
      `sentinel down-after-milliseconds ${group} 1000`,
      `sentinel failover-timeout ${group} 3000`,
    ];
    const sentinels = await Promise.all([1, 2, 3].map(() => start({ config: watch, sentinel: true })));
    const trio = new RedisSentinel([master, replica], sentinels);
    await trio.settled();
    return trio;
  } catch (error) {
    await Promise.all(started.map((server) => server.stop()));
    throw error;
  }
}

/** A master, a replica and the three sentinels that watch them (two must agree), for the tests. */
export class RedisSentinel {
  /** The name that ioredis passes to the sentinels. */
  readonly name = group;

  /** Wraps servers started by `startSentinels`. */
  constructor(
    readonly nodes: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  /** The sentinels for `new Redis({ sentinels, name })`. */
  get addresses(): { host: string; port: number }[] {
    return this.sentinels.map(({ host, port }) => ({ host, port }));
  }

  /** The master, according to one sentinel. */
  async master(asked = this.sentinels[0]): Promise<RedisServer> {
    const address = (await asked.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', group)) as [string, string];
    const master = this.nodes.find(({ port }) => port === Number(address[1]));
    if (!master) throw new Error(`the sentinels report an unknown master: ${address}`);
    return master;
  }

  /** Makes the sentinels promote the replica while the master is available, and returns the new master. */
  async failover(): Promise<RedisServer> {
    const old = await this.master();
    // Refused while the sentinel has not yet found the replica, or still remembers another failover.
    await until('a failover begins', () => this.sentinels[0].command('SENTINEL', 'FAILOVER', group));
    return this.masterAfter(old);
  }

  /**
   * Waits until every sentinel names another master than the old one (killed or frozen, say), and it accepts writes.
   */
  async masterAfter(old: RedisServer): Promise<RedisServer> {
    return until(
      'the sentinels promote the replica',
      async () => {
        const named = await Promise.all(this.sentinels.map((sentinel) => this.master(sentinel)));
        const [master] = named;
        if (master === old || named.some((other) => other !== master)) return false;
        return (await infoSays(master, 'role:master')) && master;
      },
      retrying,
    );
  }

  /**
   * Waits until each sentinel knows the replica and the two other sentinels, and the replica has all the data.
   * The sentinels take ten seconds to make a replica of an old master, be it one that a failover replaced or one that
   * was killed and started again.
   */
  async settled(): Promise<void> {
    await until('the sentinels know each other', async () => {
      const views = await Promise.all(this.sentinels.map((s) => s.command('SENTINEL', 'MASTER', group)));
      return views.every((view) => {
        const fields = view as string[];
        const field = (name: string) => Number(fields[fields.indexOf(name) + 1]);
        return field('num-slaves') === 1 && field('num-other-sentinels') === 2;
      });
    });
    const master = await this.master();
    const replicas = this.nodes.filter((node) => node !== master);
    await until(
      'the replica follows',
      async () => (await Promise.all(replicas.map(follows))).every(Boolean),
      retrying,
    );
  }

  /** Stops the sentinels and the servers. */
  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.nodes].map((server) => server.stop()));
  }
}

function follows(replica: RedisServer): Promise<boolean> {
  return infoSays(replica, 'master_link_status:up');
}

async function infoSays(server: RedisServer, line: string): Promise<boolean> {
  return String(await server.command('INFO', 'replication')).includes(`${line}\r`);
}

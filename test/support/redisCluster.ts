import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { redisBinary } from './redisBinary.mjs';
import { type RedisServer, startRedis } from './redisServer.ts';
import { openSlot, type SlotMove } from './slotMove.ts';
import { until } from './until.ts';

type SlotRange = [first: number, last: number, master: [host: string, port: number, id: string]];

/**
 * Starts three masters that share the slots, and waits until each reports the state of the cluster as ok.
 *
 * @param options `nodeTimeout`: milliseconds after which a node that does not reply has failed (5,000 by default)
 */
export async function startCluster({ nodeTimeout = 5_000 } = {}): Promise<RedisCluster> {
  const config = [
    'cluster-enabled yes',
    'cluster-config-file nodes.conf',
    `cluster-node-timeout ${nodeTimeout}`,
    'repl-diskless-sync-delay 0',
  ];
  const nodes = await Promise.all([1, 2, 3].map(() => startRedis({ config })));
  const cluster = new RedisCluster(nodes, config);
  try {
    const addresses = nodes.map(({ host, port }) => `${host}:${port}`);
    await promisify(execFile)(redisBinary().cli, ['--cluster', 'create', ...addresses, '--cluster-yes']);
    await cluster.settled();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

/** A cluster of three masters for the tests. */
export class RedisCluster {
  readonly replicas: RedisServer[] = [];

  /** Wraps servers joined by `redis-cli`, and their common configuration. */
  constructor(
    readonly nodes: readonly RedisServer[],
    private readonly config: readonly string[],
  ) {}

  /** Starts a replica of a master, and waits until it has all data and every node knows it. */
  async addReplica(master: RedisServer): Promise<RedisServer> {
    const replica = await startRedis({ config: this.config });
    this.replicas.push(replica);
    const id = String(await master.command('CLUSTER', 'MYID'));
    const ownId = String(await replica.command('CLUSTER', 'MYID'));
    await replica.command('CLUSTER', 'MEET', master.host, master.port);
    await until('the replica knows its master', () => replica.command('CLUSTER', 'REPLICATE', id));
    await until('the replica follows', async () => {
      const info = String(await replica.command('INFO', 'replication'));
      if (!info.includes('master_link_status:up\r')) return false;
      const views = await Promise.all(this.nodes.map((node) => node.command('CLUSTER', 'NODES')));
      return views.every((view) => new RegExp(`${ownId} .*slave ${id}`).test(String(view)));
    });
    return replica;
  }

  /**
   * Promotes a replica as soon as a node says that its master has failed, and waits until the node sends clients there.
   * By hand, as an election that misses its votes on a busy machine starts again only after four node timeouts.
   */
  async promote(replica: RedisServer, master: RedisServer, asked: RedisServer): Promise<void> {
    const failed = new RegExp(`:${master.port}@\\d+ [\\w,]*\\bfail\\b(?!\\?)`);
    await until(
      'the master has failed',
      async () => failed.test(String(await asked.command('CLUSTER', 'NODES'))),
      { within: 30_000 },
    );
    // It may have won an election meanwhile, and then refuses.
    await replica.command('CLUSTER', 'FAILOVER', 'TAKEOVER').catch(() => {});
    await until('the replica is promoted', async () => {
      const slots = (await asked.command('CLUSTER', 'SLOTS')) as SlotRange[];
      const ports = slots.map(([, , [, port]]) => port);
      return ports.includes(replica.port) && !ports.includes(master.port);
    });
  }

  /** The startup nodes for `new Cluster(…)` of ioredis. */
  get addresses(): { host: string; port: number }[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  /** The slot of a key. */
  async slotOf(key: string): Promise<number> {
    return Number(await this.nodes[0].command('CLUSTER', 'KEYSLOT', key));
  }

  /** The node that serves a slot, according to one node. */
  async ownerOf(slot: number, asked = this.nodes[0]): Promise<RedisServer> {
    const ranges = (await asked.command('CLUSTER', 'SLOTS')) as SlotRange[];
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    const owner = [...this.nodes, ...this.replicas].find(({ port }) => port === range?.[2][1]);
    if (!owner) throw new Error(`no node serves slot ${slot}`);
    return owner;
  }

  /** Starts to move a slot to another node; the slot stays half moved until the move is finished. */
  async openSlot(slot: number, to?: RedisServer): Promise<SlotMove> {
    const from = await this.ownerOf(slot);
    const target = to ?? this.nodes.find((node) => node !== from)!;
    return openSlot(slot, from, target, this.nodes);
  }

  /** Moves a slot and its keys to another node; clients learn of it by MOVED. */
  async moveSlot(slot: number, to?: RedisServer): Promise<SlotMove> {
    const move = await this.openSlot(slot, to);
    await move.moveKeys();
    await move.finish();
    return move;
  }

  /** Waits until every node sees every slot served, and the same owners. */
  async settled(): Promise<void> {
    await until('the cluster is well', async () => {
      const states = await Promise.all(this.nodes.map((node) => node.command('CLUSTER', 'INFO')));
      if (!states.every((state) => String(state).includes('cluster_state:ok'))) return false;
      const slots = await Promise.all(this.nodes.map((node) => node.command('CLUSTER', 'SLOTS')));
      return new Set(slots.map((slot) => JSON.stringify((slot as SlotRange[]).sort(byFirst)))).size === 1;
    });
  }

  /** Stops every node. */
  async stop(): Promise<void> {
    await Promise.all([...this.nodes, ...this.replicas].map((node) => node.stop()));
  }
}

function byFirst(a: SlotRange, b: SlotRange): number {
  return a[0] - b[0];
}

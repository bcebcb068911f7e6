import type { RedisServer } from './redisServer.ts';

/** A slot on its way from one node to another. */
export interface SlotMove {
  readonly slot: number;
  readonly from: RedisServer;
  readonly to: RedisServer;
  /** Sends the keys the old owner still holds, and says how many: it answers ASK when asked for them from then on. */
  moveKeys(): Promise<number>;
  /** Makes the new owner known to every node: the old one answers MOVED from then on. */
  finish(): Promise<void>;
}

/** Opens a slot for its move: a key that the old owner does not hold is answered with ASK, one it holds is served. */
export async function openSlot(
  slot: number,
  from: RedisServer,
  to: RedisServer,
  nodes: readonly RedisServer[],
): Promise<SlotMove> {
  const [fromId, toId] = await Promise.all([from, to].map((node) => node.command('CLUSTER', 'MYID')));
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));

  async function moveKeys(): Promise<number> {
    const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 10_000)) as string[];
    if (keys.length > 0) await from.command('MIGRATE', to.host, to.port, '', 0, 5_000, 'KEYS', ...keys);
    return keys.length;
  }

  async function finish(): Promise<void> {
    // The new owner first: were the old one first, each would send the client to the other until the news spread.
    const others = nodes.filter((node) => node !== to && node !== from);
    for (const node of [to, from, ...others]) {
      await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
    }
  }

  return { slot, from, to, moveKeys, finish };
}

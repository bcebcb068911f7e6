import type { RedisServer } from './redisServer.ts';

/** A slot that is being moved from one node to another. */
export interface SlotMove {
  readonly slot: number;
  readonly from: RedisServer;
  readonly to: RedisServer;
  /** Sends the remaining keys of the old owner, and returns their number: it replies ASK for them from then on. */
  moveKeys(): Promise<number>;
  /** Announces the new owner to every node: the old one replies MOVED from then on. */
  finish(): Promise<void>;
}

/** Opens a slot for its move: the old owner replies ASK for a missing key, and serves the others. */
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
    // The new owner first: with the old one first, each would redirect the client to the other until the change has
    // spread.
    const others = nodes.filter((node) => node !== to && node !== from);
    for (const node of [to, from, ...others]) {
      await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
    }
  }

  return { slot, from, to, moveKeys, finish };
}

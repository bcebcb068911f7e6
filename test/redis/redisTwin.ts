import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { type Scripts, scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { assemble } from '../../tools/lua.mjs';
import { type Call, type CallReply, callLedger } from '../properties/calls.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
import { readControl } from './controlString.ts';
import { type Held, readLedger } from './ledgerString.ts';
import type { Outcome } from './memoryTwin.ts';
import type { Config, Scope } from './twins.ts';

/** The most milliseconds that a slow server takes until it tells how long a key lives. */
const late = 1000;

/** The scripts with or without their fast path. */
export type Path = 'quick' | 'slow';

/** The outcome of a call, and whether it took the fast path. */
export interface WatchedOutcome extends Outcome {
  wasQuick: boolean;
  /** The moment from which a small ledger is calm. */
  calm: number | undefined;
}

/** Ledgers in Redis at the times of the calls. Reads their keys after each call. */
export function redisTwin(
  redis: Redis,
  scope: Scope,
  way: Path = 'quick',
): (config: Config, call: Call) => Promise<WatchedOutcome> {
  let serverUs = 0;
  const watch = watchOf(redis, way);
  /** By the number of a client and its limits. */
  const ledgers = new Map<string, ControlledLedger>();
  /** When the ledgers' keys would have expired, of the fleet or of each client. */
  const ends = new Map<number, number>();

  function ledgerOf(config: Config, client: number): ControlledLedger {
    const name = { name: 'n', prefix: 'p', scope, clientId: `client ${client}` };
    const place = `${client} ${JSON.stringify(config)}`;
    const ledger =
      ledgers.get(place) ?? openRedisLedger({ ...name, ...config }, watch.scripts, () => serverUs);
    ledgers.set(place, ledger);
    return ledger;
  }

  // One call at a time: a ledger that did not know the rate in force calls once more.
  return async (config, call) => {
    serverUs = call.serverUs;
    const reply = await new Promise<CallReply>((resolve, reject) => {
      callLedger(ledgerOf(config, call.client), call, (error, answer) =>
        error ? reject(error) : resolve(answer),
      );
    });
    const { held, ttl, contendersTtl, control, sequence: known, wasQuick } = watch.look!;
    const sequence = known ? { last: known.readDoubleLE(0), until: known.readDoubleLE(8) } : undefined;
    const outcome = { reply, control: readControl(control), sequence, wasQuick };
    if (!held.ledger) return { ...outcome, state: undefined, calm: undefined };
    const mayMark = !['reserve', 'decide', 'refund', 'peek'].includes(call.kind);
    const { shift } = readLedger(held, 0, mayMark);
    const now = Math.floor(call.serverUs / 1000) + shift;
    const { calm, kept, ...state } = readLedger(held, now, mayMark);
    // Later milliseconds are not exact.
    const saves = !mayMark && kept < 2 ** 53;
    // A little less on a slow server. A call that does not renew the key leaves it persistent.
    const isKept = ttl === -1 ? kept >= state.expires : ttl <= kept - now && ttl >= kept - now - late;
    if (saves && !isKept) throw new Error(`the ledger's key lives for ${ttl} ms, not ${kept - now}`);
    const whose = scope === 'client' ? call.client : 0;
    if (ttl >= 0) ends.set(whose, now + ttl);
    else if (saves && kept - late > ends.get(whose)!) throw new Error('the key expires before its ledger');
    if (contendersTtl > Math.max(0, state.crowdUntil - now))
      throw new Error(`the contenders live for ${contendersTtl} ms`);
    const need = state.expires - now;
    if (saves && !wasQuick && kept - now > Math.max(2, 5 * need))
      throw new Error(`the ledger's key lives for ${kept - now} ms, but needs ${need}`);
    return { ...outcome, state, calm };
  };
}

interface Look {
  held: Held | (Omit<Held, 'ledger'> & { ledger: null });
  /** The time to live of the ledger's key, in ms. */
  ttl: number;
  contendersTtl: number;
  control: Buffer | null;
  /** Of the client that has refunded. */
  sequence: Buffer | null;
  wasQuick: boolean;
}

interface Watch {
  scripts: Scripts;
  /** The keys after the last call. */
  look: Look | undefined;
}

const watches: Record<Path, WeakMap<Redis, Watch>> = { quick: new WeakMap(), slow: new WeakMap() };

/** One watch for each connection, since each definition of a script sends its full text. */
function watchOf(redis: Redis, way: Path): Watch {
  const known = watches[way].get(redis);
  if (known) return known;
  const scripts = watched(redis, way, (look) => {
    watch.look = look;
  });
  const watch: Watch = { scripts, look: undefined };
  watches[way].set(redis, watch);
  return watch;
}

/** The parts of the fast path in a script. */
const quickParts = ['reserve', 'decide'].flatMap((script) =>
  assemble(fileURLToPath(new URL(`../../lua/${script}.lua`, import.meta.url))).parts.filter(({ file }) =>
    file.includes('/lua/quick/'),
  ),
);

const quickMark = 'took the fast path';

/** The part of a script that writes the grant of its fast path, with a mark that it sets. */
function marked(save: string): string {
  const taken = /^if (\w+) and /.exec(save)![1];
  return save.replace(`if ${taken} then`, (line) => `${line} redis.call('SET', '${quickMark}', '1') `);
}

/** A script without its fast path, or with a mark that it sets on its fast path. */
function textOf(lua: string, way: Path): string {
  const parts = quickParts.filter(({ text }) => lua.includes(text));
  return parts.reduce((rest, { file, text }) => {
    if (way === 'slow') return rest.replace(text, () => '');
    return file.endsWith('/save.lua') ? rest.replace(text, marked) : rest;
  }, lua);
}

/**
 * The scripts, each call in one transaction with reads of the keys. The keys are made persistent: the server's time differs
 * from the test's, and only the scripts decide what has expired.
 */
function watched(redis: Redis, way: Path, onLook: (look: Look) => void): Scripts {
  const connection: Record<string, unknown> = {
    defineCommand(name: string, { lua, numberOfKeys }: { lua: string; numberOfKeys: number }) {
      redis.defineCommand(`${name}_${way}`, { lua: textOf(lua, way), numberOfKeys });
      connection[name] = (...args: string[]) => {
        return transact(redis, `${name}_${way}`, args, numberOfKeys).then(([answer, look]) => {
          onLook(look);
          return answer;
        });
      };
    },
  };
  return scriptsOf(connection as unknown as Redis);
}

async function transact(
  redis: Redis,
  script: string,
  args: string[],
  count: number,
): Promise<[unknown, Look]> {
  const keys = args.slice(0, count);
  const [ledger, second] = keys;
  // A decision may have the ledger and the control only.
  const [control, ...logs] = count === 2 ? [second, `${ledger}:log:`] : keys.slice(2);
  const contenders = `${ledger}:contenders`;
  const multi = redis.multi() as unknown as Record<string, (...args: unknown[]) => unknown> & {
    exec(): Promise<[Error | null, unknown][]>;
  };
  multi[script](...args);
  multi.pttl(ledger);
  multi.del(quickMark);
  multi.pttl(contenders);
  for (const key of new Set([...keys, contenders, ...logs])) multi.persist(key);
  multi.getBuffer(ledger);
  multi.getBuffer(control);
  // The other scripts have the contenders there.
  multi.getBuffer(script.startsWith('sluice_refund') ? second : 'none');
  multi.zrange(contenders, 0, -1, 'WITHSCORES');
  for (const log of logs) multi.lrangeBuffer(log, 0, -1);
  const replies = (await multi.exec()).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const lists = replies.splice(replies.length - logs.length) as Buffer[][];
  const [string, steering, sequence, members] = replies.splice(replies.length - 4);
  const held = { ledger: string as Buffer, contenders: members as string[], logs: lists };
  const known = {
    ...{ held, ttl: replies[1] as number, contendersTtl: replies[3] as number },
    ...{ control: steering as Buffer | null, sequence: sequence as Buffer | null },
  };
  return [replies[0], { ...known, wasQuick: replies[2] === 1 }];
}

import type { Redis } from 'ioredis';
import { openRedisLedger } from '../../src/stores/redis/redisStore.ts';
import { type Scripts, scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { Ledger } from '../../src/stores/store.ts';
import type { Call, CallReply } from '../properties/world.ts';
import { type Held, readLedger } from './ledgerString.ts';
import type { Outcome } from './memoryTwin.ts';
import type { Config } from './twins.ts';

/** A ledger in Redis under a time that is handed in, with a look at its keys after each call. */
export function redisTwin(redis: Redis): (config: Config, call: Call) => Promise<Outcome> {
  let serverUs = 0;
  let look: Promise<Look>;
  const scripts = watched(redis, (taken) => {
    look = taken;
  });
  const ledgers = new Map<number, Ledger>();

  function ledgerOf(config: Config, client: number): Ledger {
    const name = { name: 'n', prefix: 'p', clientId: `client ${client}` };
    const ledger = ledgers.get(client) ?? openRedisLedger({ ...name, ...config }, scripts, () => serverUs);
    ledgers.set(client, ledger);
    return ledger;
  }

  return async (config, call) => {
    serverUs = call.serverUs;
    const asked = ask(ledgerOf(config, call.client), call);
    const [reply, { held, ttl }] = await Promise.all([asked, look]);
    const shifted = readLedger(held, 0);
    const now = Math.floor(call.serverUs / 1000) + shifted.shift;
    const state = readLedger(held, now);
    // A little less where the server was slow to say so.
    const lives = state.expires - now;
    if (ttl > lives || ttl < lives - 1000) throw new Error(`a ledger that lives for ${ttl} ms, not ${lives}`);
    return { reply, state };
  };
}

interface Look {
  held: Held;
  /** Milliseconds for which the server would have kept the ledger. */
  ttl: number;
}

/**
 * The scripts, each call in one transaction with a look at the keys. The keys are made to stay: the server's time is
 * another than the test's, and what is past by the test's is for the scripts to know.
 */
function watched(redis: Redis, onLook: (look: Promise<Look>) => void): Scripts {
  const connection: Record<string, unknown> = {
    defineCommand(name: string, definition: { lua: string; numberOfKeys: number }) {
      redis.defineCommand(name, definition);
      connection[name] = (...args: string[]) => {
        const answers = transact(redis, name, args, definition.numberOfKeys);
        onLook(answers.then(([, look]) => look));
        return answers.then(([answer]) => answer);
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
  const [ledger, , , ...logs] = args.slice(0, count);
  const contenders = `${ledger}:contenders`;
  const multi = redis.multi() as unknown as Record<string, (...args: unknown[]) => unknown> & {
    exec(): Promise<[Error | null, unknown][]>;
  };
  multi[script](...args);
  multi.pttl(ledger);
  for (const key of new Set([...args.slice(0, count), contenders])) multi.persist(key);
  multi.getBuffer(ledger);
  multi.zrange(contenders, 0, -1, 'WITHSCORES');
  for (const log of logs) multi.lrangeBuffer(log, 0, -1);
  const replies = (await multi.exec()).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const [string, members] = replies.splice(replies.length - logs.length - 2, 2);
  const lists = replies.splice(replies.length - logs.length) as Buffer[][];
  const held = { ledger: string as Buffer, contenders: members as string[], logs: lists };
  return [replies[0], { held, ttl: replies[1] as number }];
}

function ask(ledger: Ledger, call: Call): Promise<CallReply> {
  return new Promise((resolve, reject) => {
    const reply = (error: Error | null, answer?: unknown) =>
      error ? reject(error) : resolve(answer as CallReply);
    if (call.kind === 'peek') ledger.peek(reply);
    else if (call.kind === 'decide') ledger.decide(call.cost, reply);
    else if (call.kind === 'refund') ledger.refund(call.refunds, call.sequence, reply);
    else ledger.reserve(call.request, reply);
  });
}

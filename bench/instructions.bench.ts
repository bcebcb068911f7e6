import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/index.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { which } from '../test/support/systemPackage.mjs';
import { until } from '../test/support/until.ts';
import {
  type Ask,
  decider,
  leastAsk,
  ledgerOf,
  minute,
  ofUser,
  peerAsk,
  permits,
  reserver,
  steppingClock,
} from './support/serverAsks.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many instructions does a call take of the server, compared with the script of rate-limiter-flexible and the least possible one?';

const calls = 200;

/** Counts the instructions of a server, which is run by valgrind. */
class Counter {
  #dumps = 0;

  constructor(
    readonly redis: Redis,
    readonly pid: number,
    readonly folder: string,
  ) {}

  /** The instructions of one call, as a mean of many that are sent together. */
  async of(ask: Ask): Promise<number> {
    this.#control('--zero');
    await Promise.all(Array.from({ length: calls }, ask));
    this.#control('--dump');
    const number = ++this.#dumps;
    const written = async () => {
      const file = readdirSync(this.folder).find((name) => name.endsWith(`.${number}`));
      const counts = file ? readFileSync(join(this.folder, file), 'utf8') : '';
      return counts.includes('totals:') && /^summary: (\d+)/m.exec(counts);
    };
    const [, sum] = await until('the counts are written', written);
    return Number(sum) / calls;
  }

  #control(option: string): void {
    execFileSync('callgrind_control', [option, String(this.pid)], { stdio: 'ignore' });
  }
}

/** Calls of one limiter: those that a fast path serves, and one that shares the limit with two clients that wait. */
async function oneLimiter(counter: Counter): Promise<void> {
  const { redis } = counter;
  const nothing = (await redis.script('LOAD', 'return 1')) as string;
  const rows: (string | number)[][] = [
    ['PING', await counter.of(() => redis.ping())],
    ['a script that does nothing', await counter.of(() => redis.evalsha(nothing, 0))],
  ];
  for (const [title, limit, step] of [
    ['reserve, fixed window', fixedWindow({ permits: 1e6, interval: minute }), 1],
    ['reserve, sliding window, same slot', slidingWindow({ permits: 1e6, interval: minute }), 0],
    ['reserve, sliding window, new slot', slidingWindow({ permits: 1e6, interval: minute }), 60],
    ['reserve, token bucket', tokenBucket({ permits: 1e6, interval: minute }), 1],
  ] as const) {
    await redis.flushall();
    const ask = reserver(ledgerOf(redis, limit, steppingClock(step)));
    // Longer than an interval, so that entries expire.
    for (let i = 0; i < (step > 1 ? 1_200 : calls); i++) await ask();
    rows.push([title, await counter.of(ask)]);
  }
  printTable(['instructions of the server', 'one call'], rows);
}

/** One decision of a user: of a new one, a known one, and one that is refused. */
async function manyUsers(counter: Counter, alone: Redis): Promise<void> {
  const { redis } = counter;
  const rows: (string | number)[][] = [];
  const asksOf = (limit: Limit, options: object) => [
    peerAsk(redis, options),
    decider(alone, limit, options),
    decider(redis, limit, options),
    leastAsk(redis, options),
  ];
  for (const [title, limit] of ofUser) {
    const counts: Record<string, number[]> = { new: [], known: [], refused: [] };
    const granted = asksOf(limit, { count: calls });
    const refused = asksOf(limit, { count: calls, granted: false });
    // The server compiles each script once.
    const first = asksOf(limit, { count: 2 });
    for (const [i, ask] of granted.entries()) {
      await redis.flushall();
      await Promise.all([first[i](), first[i]()]);
      await redis.flushall();
      counts.new.push(await counter.of(ask));
      let sum = 0;
      for (let pass = 2; pass <= permits; pass++) sum += await counter.of(ask);
      counts.known.push(sum / (permits - 1));
      counts.refused.push(await counter.of(refused[i]));
    }
    for (const [name, all] of Object.entries(counts))
      rows.push([`${title}, ${name}`, ...all, ...all.slice(1).map((count) => count / all[0])]);
  }
  printTable(
    [
      'instructions of the server, one user',
      ...['peer', 'ours', 'together', 'floor', 'ratio', 'together / peer', 'floor / peer'],
    ],
    rows,
  );
}

export async function run(): Promise<void> {
  if (!which('callgrind_control')) {
    console.log('No valgrind on the PATH: nothing is counted.');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'instructions-'));
  const under = ['valgrind', '--quiet', '--tool=callgrind', `--callgrind-out-file=${join(folder, 'out')}`];
  // Its own work between two calls is counted too.
  const server = await startRedis({ under, config: ['hz 1', 'dynamic-hz no'] });
  const redis = new Redis(server.port);
  // Without a ready check, each decision is a call of its own, as with one caller.
  const alone = new Redis(server.port, { enableReadyCheck: false });
  try {
    const counter = new Counter(redis, server.pid, folder);
    await oneLimiter(counter);
    console.log();
    await manyUsers(counter, alone);
  } finally {
    redis.disconnect();
    alone.disconnect();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

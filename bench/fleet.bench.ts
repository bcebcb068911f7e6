import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { jain } from '../test/fleet/measures.ts';
import { startRedis } from '../test/support/redisServer.ts';
import type { Share } from './support/fleetProcess.ts';
import { printTable } from './support/table.ts';

export const question = 'How much of a limit do eight saturated processes use, how fairly, and how late?';

const worker = fileURLToPath(new URL('./support/fleetProcess.ts', import.meta.url));
const register = new URL('../test/support/register.mjs', import.meta.url).href;
const processes = 8;
const lasts = 9_000;
/** Whole seconds that do not count: the burst of the first window turns into even grants until the third one. */
const settling = 3;

/** Runs a fleet that uses all of a limit, given in permits a second. */
async function shares(port: number, permits: number): Promise<Share[]> {
  const children = Array.from({ length: processes }, () =>
    fork(worker, [port, permits, lasts].map(String), { execArgv: ['--import', register] }),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  const answers = children.map(async (child) => {
    const [share] = await once(child, 'message');
    return share as Share;
  });
  for (const child of children) child.send('begin');
  return Promise.all(answers);
}

export async function run(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const permits of [100, 1_000, 20_000]) {
    const server = await startRedis();
    const all = await shares(server.port, permits);
    await server.stop();
    const first = Math.min(...all.flatMap(({ seconds }) => Object.keys(seconds).map(Number)));
    // Whole seconds in which every process takes part.
    const whole = Array.from({ length: lasts / 1_000 - settling - 1 }, (_, i) => first + settling + i);
    const within = ({ seconds }: Share) => whole.reduce((sum, second) => sum + (seconds[second] ?? 0), 0);
    const parts = all.map(within);
    const used = parts.reduce((sum, part) => sum + part, 0) / (permits * whole.length);
    const sum = (of: 'calls' | 'granted') => all.reduce((total, share) => total + share[of], 0);
    const worst = (of: 'late' | 'timer') =>
      all.map((share) => share[of]).sort((a, b) => a - b)[processes >> 1];
    rows.push([
      permits.toLocaleString('en'),
      ...[used, jain(parts), sum('calls') / sum('granted'), worst('late'), worst('timer')],
    ]);
  }
  printTable(['permits/s', 'used', 'Jain', 'calls/permit', 'late p99 ms', 'bare timer p99 ms'], rows);
}

/*
 * `npm run test:soak [-- --seconds 60 --seed N]`: eight processes share three limits on a real Redis under faults. The
 * checker of test/history checks their histories; a failure prints the seed, and the schedule that repeats it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { breachesOf, countsOf } from '../history/check.ts';
import { readHistories } from '../history/histories.ts';
import { HistoryWriter } from '../history/writer.ts';
import { bundled } from '../support/bundled.ts';
import { killAtExit, killNow } from '../support/leftovers.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redisServer.ts';
import { anySeed } from '../support/seed.mjs';
import { limits } from './limits.ts';
import { type Disturbance, scheduleOf } from './schedule.ts';
import { type Sample, steepest } from './slope.ts';

const processes = 8;
/** Allowed growth of a heap, or of Redis, in megabytes a minute, in a run of five minutes or more. */
const mostGrowth = 2;
/** Milliseconds that the processes have to end after the last request. */
const grace = 60_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(anySeed()) },
  },
});
const [length, seed] = [Number(values.seconds) * 1_000, Number(values.seed)];
const schedule = scheduleOf(seed, length, processes);
console.log(`${processes} processes for ${length / 1_000} s, ${schedule.length} faults, --seed ${seed}`);

process.env.SLUICE_SEED = String(seed);
// Kept after a failure.
const folder = mkdtempSync(join(tmpdir(), 'rxjs-sluice-soak-'));
for (const name of Object.keys(limits)) mkdirSync(join(folder, name));
const writers = Object.keys(limits).map((name) => new HistoryWriter(join(folder, name), 'faults'));
const server = await startRedis({ config: ['appendonly yes', 'appendfsync always'] });
const proxy = await startProxy(server.port);
const heaps = new Map<string, Sample[]>();
const memory: Sample[] = [];
const failures: string[] = [];
/** The names of the processes, and those killed on purpose. */
const names = new Map<ChildProcess, string>();
const killed = new Set<string>();
let generation = 0;
const worker = await bundled('test/soak/worker.ts');
const fleet = Array.from({ length: processes }, (_, place) => start(place));
await Promise.all(fleet.map((child) => once(child, 'message')));
const started = Date.now();
for (const child of fleet) child.send(started + length);

/** Starts a process: every second one is connected through the proxy. */
function start(place: number): ChildProcess {
  const name = `process-${place}-${generation++}`;
  const port = place % 2 === 0 ? server.port : proxy.port;
  const child = fork(worker, [String(port), name, folder], { execArgv: ['--expose-gc'] });
  killAtExit(child);
  names.set(child, name);
  const samples: Sample[] = [];
  heaps.set(name, samples);
  child.on('message', (bytes: number) => bytes > 0 && samples.push([Date.now(), bytes]));
  child.on('exit', (code) => {
    if (code !== null && code !== 0) failures.push(`${name} ended with ${code}`);
  });
  return child;
}

/** Causes a fault, and returns at its end; the time of a loss of data. */
async function disturb({ kind, lasts, place }: Disturbance): Promise<number | undefined> {
  if (kind === 'kill Redis, restart it with its AOF') {
    await server.kill();
    await sleep(lasts);
    // With a slow disk, it takes long to open its file.
    await server.start(60_000);
  } else if (kind === 'stop Redis (SIGSTOP)') {
    server.freeze();
    await sleep(lasts);
    server.thaw();
  } else if (kind === 'CLIENT KILL')
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  else if (kind === 'SCRIPT FLUSH') await server.command('SCRIPT', 'FLUSH');
  else if (kind === 'FLUSHALL') return server.flush();
  else if (kind === 'hold the wire') {
    proxy.pause();
    await sleep(lasts);
    proxy.resume();
  } else if (kind === 'cut replies on the wire') {
    proxy.cutReplies(3);
    await sleep(lasts);
    proxy.cutReplies(0);
  } else if (kind === 'kill a process') {
    killed.add(names.get(fleet[place])!);
    await killNow(fleet[place]);
    const child = start(place);
    fleet[place] = child;
    child.once('message', () => child.send(started + length));
  } else {
    fleet[place].kill('SIGSTOP');
    await sleep(lasts);
    fleet[place].kill('SIGCONT');
  }
  return undefined;
}

const sampling = setInterval(async () => {
  const info = await server.command('INFO', 'memory').catch(() => '');
  const used = /used_memory:(\d+)/.exec(String(info));
  if (used) memory.push([Date.now(), Number(used[1])]);
}, 1_000);
for (const disturbance of schedule) {
  await sleep(Math.max(0, started + disturbance.at - Date.now()));
  const at = Date.now();
  const lostAt = await disturb(disturbance);
  const { kind } = disturbance;
  const fault = { event: 'fault', kind, until: Date.now(), lost: lostAt !== undefined } as const;
  for (const writer of writers) writer.write(fault, lostAt ?? at);
  console.log(`${((at - started) / 1_000).toFixed(1).padStart(7)} s  ${kind}`);
}
for (const child of fleet) child.ref();
const ended = Promise.all(fleet.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined)));
const tooLong = sleep(started + length + grace - Date.now(), 'hangs', { ref: false });
if ((await Promise.race([ended, tooLong])) === 'hangs')
  failures.push(`a process has not ended ${grace} ms after its end`);
clearInterval(sampling);
await Promise.all(fleet.map(killNow));
await proxy.close();
await server.stop();
for (const writer of writers) writer.flush();

const table: Record<string, Record<string, number>> = {};
for (const name of Object.keys(limits)) {
  const histories = readHistories(join(folder, name));
  table[name] = countsOf(histories);
  if (!(table[name].granted > 0)) failures.push(`${name}: nothing was granted`);
  for (const { process, requests, stopped, calls } of histories.processes) {
    const open = requests.filter(({ end }) => !end);
    if (!stopped && !killed.has(process))
      failures.push(
        `${name}: ${process} has ${open.length} open requests, its last call was answered at ${calls.at(-1)?.at}`,
      );
  }
  for (const breach of breachesOf(histories)) failures.push(`${name}: ${breach}`);
}
console.table(table);
const slopes = { 'heap (the steepest)': steepest([...heaps.values()]), Redis: steepest([memory]) };
console.table(
  Object.fromEntries(
    Object.entries(slopes).map(([of, slope]) => [of, { 'MB a minute': slope?.toFixed(3) ?? 'too short' }]),
  ),
);
for (const [of, slope = 0] of Object.entries(slopes))
  if (length >= 300_000 && slope > mostGrowth) failures.push(`${of} grows by ${slope} MB a minute`);

for (const failure of failures) console.error(`FAILED: ${failure}`);
if (failures.length > 0) {
  for (const one of schedule) console.error(JSON.stringify(one));
  console.error(`The histories are in ${folder}`);
  console.error(`Again: npm run test:soak -- --seconds ${length / 1_000} --seed ${seed}`);
} else rmSync(folder, { recursive: true });
process.exit(failures.length > 0 ? 1 : 0);

/*
 * A process that runs uvu files one after the other, as messages { file, seed, scale } arrive, until {}. The output of a file is
 * followed by a line that begins with `mark` and contains its result.
 */
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { childrenCpu } from './times.mjs';
import { mark } from './uvuWorker.mjs';

globalThis.UVU_DEFER = 1;
await import('uvu');

let files = 0;

process.on('message', async ({ file, seed, scale }) => {
  if (!file) {
    process.disconnect();
    // It should have ended long before: says what keeps it alive.
    setTimeout(() => console.error(`alive because of ${process.getActiveResourcesInfo()}`), 1_000).unref();
    return;
  }
  // A test that awaits a promise that never settles ends the process: nothing else may keep it alive.
  process.channel.unref();
  process.env.SLUICE_SEED = String(seed);
  process.env.SLUICE_SCALE = String(scale);
  // A mutant only has to fail: to find its smallest counterexample takes minutes.
  fc.configureGlobal({ seed, endOnFailure: process.env.SLUICE_SHRINK === '0' });
  const wall = performance.now();
  const cpu = process.cpuUsage();
  const children = childrenCpu();
  const outcome = await run(file);
  const { user, system } = process.cpuUsage(cpu);
  const spent = {
    wall: performance.now() - wall,
    cpu: (user + system) / 1000,
    children: childrenCpu() - children,
  };
  process.stdout.write(`${mark}${JSON.stringify({ ...outcome, ...spent })}\n`);
  process.channel.ref();
});

/** Omits the count that uvu prints after each suite, so that the only count is that of the run. */
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text, ...rest) => write(/^ {2}\(\d+ \/ \d+\)\n$/.test(text) ? '\n' : text, ...rest);

/** Runs the suites of one file, as uvu does. */
async function run(file) {
  globalThis.UVU_INDEX = globalThis.UVU_QUEUE.push([]) - 1;
  // The query makes Node load a file again.
  await import(`${pathToFileURL(file)}?${files++}`);
  const outcome = { passed: 0, failed: 0, skipped: 0 };
  for (const suite of globalThis.UVU_QUEUE[globalThis.UVU_INDEX]) {
    const [errors, passed, skipped, total] = await suite();
    outcome.passed += passed;
    outcome.failed += total - passed;
    outcome.skipped += skipped;
    if (errors.length) process.stdout.write(`\n${errors}\n`);
  }
  return outcome;
}

// An API that allows 20 calls a second, and a list to call it for: first as fast as it goes, then through the limiter.
// With REDIS_URL three processes do it together, and share one limit.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApi } from './api.mjs';
import { connect } from './connect.mjs';
import { alone, fleet } from './fleet.mjs';
import { apiLimit, limit } from './limits.mjs';
import { Timeline } from './timeline.mjs';

// Whatever happens, nobody has to end it by hand.
setTimeout(() => fail(new Error('the demo did not end in time')), 28_000).unref();
// A reader that has seen enough, as `head` has, ends it.
process.stdout.on('error', (error) => (error.code === 'EPIPE' ? process.exit() : fail(error)));
try {
  process.exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  fail(error);
}

function fail(error) {
  console.error(`demo: ${error.message}`);
  process.exit(1);
}

/** Runs both, and says whether the second was never refused. */
async function demo() {
  const lines = readFileSync(new URL('./cities.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const jobs = lines.slice(0, Number(process.env.DEMO_LINES) || Infinity);
  // One line here, not one of each worker.
  if (process.env.REDIS_URL) (await connect(process.env.REDIS_URL)).disconnect();
  const workers = process.env.REDIS_URL ? await fleet(3) : alone();

  let heard = () => {};
  const api = await startApi({ ...apiLimit, onCall: (status) => heard(status) });
  const where =
    workers.processes === 1 ? 'one process, without Redis' : `${workers.processes} processes over Redis`;
  console.log(
    `An API that allows ${apiLimit.permits} calls in ${apiLimit.interval} ms, called for ${jobs.length} lines by ${where}.`,
  );

  async function round(title, name) {
    console.log(`\n${title}\n`);
    const tally = { 200: 0, 429: 0 };
    const timeline = new Timeline(process.stdout);
    heard = (status) => {
      tally[status]++;
      timeline.count(status);
    };
    await workers.run({ url: api.url, lines: jobs, name });
    return { title, tally, took: timeline.end() };
  }

  const rounds = [await round('As fast as they can')];
  // The API forgets the first round, or the second would pay for it.
  await sleep(apiLimit.interval);
  const { permits, interval } = limit;
  rounds.push(
    await round(
      `Through throttleDistributed, ${permits} in ${interval} ms`,
      `demo-${process.pid}-${Date.now()}`,
    ),
  );
  workers.stop();
  api.close();

  console.log('');
  for (const { title, tally, took } of rounds)
    console.log(`${title.padEnd(46)}${row(tally)}   in ${(took / 1000).toFixed(1)} s`);
  return rounds[1].tally[429] === 0;
}

function row(tally) {
  return Object.entries(tally)
    .map(([status, count]) => `${String(count).padStart(5)} × ${status}`)
    .join('');
}

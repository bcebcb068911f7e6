import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApi } from './api.mjs';
import { connect } from './connect.mjs';
import { alone, fleet } from './fleet.mjs';
import { apiLimit, limit, reason } from './limits.mjs';
import { startServer } from './server.mjs';
import { Timeline } from './timeline.mjs';

const statuses = [200, 429];

/** Calls the API without and with the limiter. Returns whether the calls through the limiter were never refused. */
export async function run(say) {
  const lines = readFileSync(new URL('./cities.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(0, Number(process.env.DEMO_LINES) || Infinity);
  const { workers, where, stop } = await start(say);

  let count = () => {};
  const api = await startApi({ ...apiLimit, onCall: (status, process) => count(status, process) });
  say(
    `${lines.length} calls, by ${where}, of an API that allows ${apiLimit.permits} in ${apiLimit.interval} ms.`,
  );

  async function round(title, name) {
    say(`\n${title}\n`);
    const tallies = Array.from({ length: workers.processes }, () => ({ 200: 0, 429: 0 }));
    const timeline = new Timeline(process.stdout, workers.processes);
    count = (status, process) => {
      tallies[process][status]++;
      timeline.count(status, process);
    };
    await workers.run({ url: api.url, lines, name });
    return { title, tallies, took: timeline.end() };
  }

  const fast = await round('As fast as they can');
  // The API must forget the first round, which would count against the second.
  await sleep(apiLimit.interval);
  const title = `Through throttleDistributed, ${limit.permits} in ${limit.interval} ms`;
  const limited = await round(title, `demo-${process.pid}-${Date.now()}`);
  workers.stop();
  api.close();
  stop();

  for (const { title, tallies, took } of [fast, limited])
    say(`\n${title}: ${(took / 1000).toFixed(1)} s\n${table(tallies)}`);
  say(`\n${reason}`);
  return limited.tallies.every((tally) => tally[429] === 0);
}

/** The calling processes: three with the Redis of REDIS_URL or of the demo; one without Redis. */
async function start(say) {
  const given = process.env.REDIS_URL;
  // Fails once here, instead of once in each process.
  if (given) (await connect(given)).disconnect();
  else say('Looking for redis-server or valkey-server on the PATH …');
  const server = given ? undefined : await startServer();
  const url = given || server?.url;
  if (!url)
    return { workers: alone(), where: 'one process, without Redis (no server is on the PATH)', stop() {} };
  say(
    `Starting 3 processes over ${server ? `a ${server.program} of the demo's own` : 'the Redis of REDIS_URL'} …`,
  );
  return {
    workers: await fleet(3, url),
    where: '3 processes that share one limit',
    stop: () => server?.stop(),
  };
}

function table(tallies) {
  const sum = Object.fromEntries(
    statuses.map((status) => [status, tallies.reduce((n, tally) => n + tally[status], 0)]),
  );
  const row = (name, tally) => {
    const cells = [tally[200] + tally[429], ...statuses.map((status) => tally[status])];
    return `  ${name.padEnd(10)}${cells.map((n) => String(n).padStart(8)).join('')}`;
  };
  return [
    `  ${''.padEnd(10)}${['calls', ...statuses].map((head) => String(head).padStart(8)).join('')}`,
    ...(tallies.length > 1 ? tallies.map((tally, i) => row(`process ${i + 1}`, tally)) : []),
    row('all', sum),
  ].join('\n');
}

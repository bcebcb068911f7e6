import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { root } from '../docs/pages.ts';
import { bundled } from '../support/bundled.ts';
import { killAtExit } from '../support/leftovers.ts';
import { startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';

const folder = `${root}examples/docker-compose/`;
const textOf = (file: string) => readFileSync(folder + file, 'utf8');
const program = await bundled('examples/docker-compose/worker.ts');
const test = suite('docker-compose');

interface Call {
  grantedAt: number;
  name: string;
  source: string;
}

/** A process of the fleet, and the calls that it has printed. */
function startWorker(name: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env, NAME: name },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killAtExit(child);
  child.ref();
  const calls: Call[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const [, grantedAt, name, source] = /^(\d+) (\w+) job \d+, by (\w+)$/.exec(line)!;
    calls.push({ grantedAt: Number(grantedAt), name, source });
  });
  return { child, calls };
}

/** Ends a process as `docker compose down` does, and returns its exit code. */
async function end(child: ChildProcess): Promise<number> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  return (await ended)[0];
}

test('three processes share one limit, continue without Redis, and end at SIGTERM', async () => {
  const server = await startRedis();
  const [permits, interval] = [6, 500];
  const env = { REDIS_URL: server.url, PERMITS: `${permits}`, INTERVAL: `${interval}` };
  const workers = ['one', 'two', 'three'].map((name) => startWorker(name, env));
  const all = (what: string, holds: (calls: Call[]) => boolean) =>
    until(what, async () => workers.every(({ calls }) => holds(calls)), { within: 60_000 });
  try {
    await all('each process has made four calls', (calls) => calls.length >= 4);
    await server.kill();
    await all('each process continues on its own', (calls) => calls.at(-1)!.source === 'fallback');
  } finally {
    const codes = await Promise.all(workers.map(({ child }) => end(child)));
    assert.equal(codes, [0, 0, 0]);
    await server.stop();
  }
  const shared = workers.flatMap(({ calls }) => calls).filter(({ source }) => source === 'redis');
  const moments = shared.map(({ grantedAt }) => grantedAt).sort((a, b) => a - b);
  assert.ok(moments.length >= 12);
  for (let i = permits; i < moments.length; i++)
    assert.ok(moments[i] - moments[i - permits] >= interval, moments.join());
});

test('the files fit together', () => {
  const { services } = parse(textOf('compose.yaml'));
  assert.equal(Object.keys(services), ['redis', 'worker']);
  const { build, deploy, environment, depends_on } = services.worker;
  assert.equal([build, deploy.replicas, depends_on.redis.condition], ['.', 3, 'service_healthy']);
  assert.is(services.redis.healthcheck.test.at(-1), 'ping');
  const read = Array.from(textOf('worker.ts').matchAll(/([A-Z_]+) = '/g), ([, name]) => name);
  assert.equal(Object.keys(environment), read);

  const dockerfile = textOf('Dockerfile');
  for (const [, file] of dockerfile.matchAll(/^COPY (\S+)/gm)) textOf(file);
  assert.match(dockerfile, /^CMD \["node", "worker.ts"\]$/m);
  const { dependencies } = JSON.parse(textOf('package.json'));
  const imported = Array.from(textOf('worker.ts').matchAll(/from '([\w-]+)'/g), ([, name]) => name);
  assert.equal(
    imported.filter((name) => !(name in dependencies)),
    [],
  );
});

test.run();

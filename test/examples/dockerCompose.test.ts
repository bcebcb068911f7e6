import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { root } from '../docs/pages.ts';
import { bundled } from '../support/bundled.ts';
import { killAtExit } from '../support/leftovers.ts';
import { redisBinary } from '../support/redisBinary.mjs';
import { startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';

const folder = `${root}examples/docker-compose/`;
const textOf = (file: string) => readFileSync(folder + file, 'utf8');
const program = await bundled('examples/docker-compose/worker.ts');
const { services } = parse(textOf('compose.yaml'));
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

/** The options of the command that starts Redis, as lines of its configuration file. */
function configOfRedis(): string[] {
  const [program, ...options] = services.redis.command.split(/ --(?=[a-z])/);
  assert.is(program, 'redis-server');
  return options;
}

/** The most of these calls in any window of `interval` milliseconds. */
function mostInWindow(calls: Call[], interval: number): number {
  const moments = calls.map(({ grantedAt }) => grantedAt);
  return Math.max(...moments.map((end) => moments.filter((at) => at > end - interval && at <= end).length));
}

test('three processes share one limit, continue without Redis, and end at SIGTERM', async () => {
  const server = await startRedis({ config: configOfRedis() });
  const { environment } = services.worker;
  // Half the seconds of the file: the test need not wait for whole ones.
  const [permits, interval] = [environment.PERMITS, environment.INTERVAL / 2];
  const env = { REDIS_URL: server.url, PERMITS: `${permits}`, INTERVAL: `${interval}` };
  const [, program, ...args] = services.redis.healthcheck.test;
  assert.is(program, 'redis-cli');
  const health = execFileSync(redisBinary().cli, ['-p', `${server.port}`, ...args], { encoding: 'utf8' });
  assert.is(health.trim(), 'PONG');
  const workers = ['one', 'two', 'three'].map((name) => startWorker(name, env));
  const all = (what: string, holds: (calls: Call[]) => boolean) =>
    until(what, async () => workers.every(({ calls }) => holds(calls)), { within: 60_000 });
  const bySource = (source: string) =>
    workers.flatMap(({ calls }) => calls.filter((call) => call.source === source));
  try {
    await all('each process has made four calls', (calls) => calls.length >= 4);
    await server.kill();
    await all('each process continues on its own', (calls) =>
      calls.slice(-4).every(({ source }) => source === 'fallback'),
    );
  } finally {
    const codes = await Promise.all(workers.map(({ child }) => end(child)));
    assert.equal(codes, [0, 0, 0]);
    await server.stop();
  }
  for (const source of ['redis', 'fallback']) {
    assert.ok(bySource(source).length >= 12, source);
    assert.ok(mostInWindow(bySource(source), interval) <= permits, source);
  }
});

test('the files fit together', () => {
  assert.equal(Object.keys(services), ['redis', 'worker']);
  const { build, deploy, environment, depends_on } = services.worker;
  assert.equal([build, deploy.replicas, depends_on.redis.condition], ['.', 3, 'service_healthy']);
  assert.is(services.redis.healthcheck.test[0], 'CMD');
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

import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bundle } from '../support/bundled.ts';
import { temporaryFolder } from '../support/leftovers.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { examples, files, root } from './pages.ts';

const ran = new Set<string>();

/** The examples with a name as programs: what all of them import is bundled once. */
async function programs(): Promise<string> {
  // In the repository, where its packages are found.
  const folder = temporaryFolder(root, '.readme-');
  const named = examples.filter(({ name }) => name !== undefined);
  for (const { name, code } of named) writeFileSync(join(folder, `${name}.mts`), code);
  return bundle(Object.fromEntries(named.map(({ name }) => [name, join(folder, `${name}.mts`)])));
}
const folder = await programs();

/** Runs an example as printed, and returns the lines that it prints. */
async function printedBy(name: string): Promise<string[]> {
  ran.add(name);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, `${name}.mjs`)], {
    cwd: root,
    env: { ...process.env, FORCE_COLOR: '0' },
  });
  return stdout.trimEnd().split('\n');
}

/** Kills a server, and starts it again after some time. */
async function restartAfter(server: RedisServer, ms: number): Promise<void> {
  await server.kill();
  await setTimeout(ms);
  await server.start();
}

const readme = suite('the examples of the README');

readme('the first runs as printed: five values a second', async () => {
  const seconds = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2];
  assert.equal(
    await printedBy('first'),
    seconds.map((second, i) => `${i + 1} in second ${second}`),
  );
});

readme('a reply of 429 pauses the fleet, and the call is repeated', async () => {
  assert.equal(await printedBy('retry'), [
    'page 1 in second 0',
    'page 2 in second 0',
    'page 4 in second 1',
    'page 3 in second 3',
  ]);
});

readme('requests are cancelled, time out, and refund their permits', async () => {
  assert.equal(await printedBy('cancel'), [
    'ERR_SLUICE_TIMEOUT',
    'the user has left',
    '0 requests wait',
    '1 permit is available',
  ]);
});

readme.run();

const pages = suite('the examples of docs/');

pages('the marbles are as drawn', async () => {
  assert.equal(await printedBy('marbles'), ['as drawn']);
});

pages('a promise waits on a fake clock', async () => {
  assert.equal(await printedBy('fakeTimers'), ['it waited 60000 ms']);
});

pages('pages are fetched as permits are granted', async () => {
  const fetched = [1, 2, 3, 4, 5].flatMap((page) => [
    `page ${page} is fetched`,
    `page ${page} in half-second ${Math.floor((page - 1) / 2)}`,
  ]);
  assert.equal(await printedBy('pull'), [...fetched, 'closed']);
});

pages('values of different costs are pulled', async () => {
  assert.equal(await printedBy('costs'), [
    'Ada and Bob in half-second 0',
    'Cleo in half-second 0',
    'Dan and Eve and Fay in half-second 1',
    'Gus in half-second 2',
  ]);
});

pages('keys keep their order, and none waits for another one', async () => {
  const printed = await printedBy('group');
  // On a busy machine, a timer that comes late changes the order of different keys: each key has its own.
  const of = (key: string) => printed.filter((line) => line.startsWith(key));
  assert.equal(of('acme'), ['acme 1 in second 0', 'acme 2 in second 0', 'acme 3 in second 1']);
  assert.equal(of('zoo'), ['zoo 1 in second 0', 'zoo 2 in second 1', 'zoo 3 in second 2']);
});

pages('calls of functions and methods wait, or are refused', async () => {
  assert.equal(await printedBy('wrap'), [
    'hello Ada in second 0',
    'hello Bob! in second 0',
    'hello Cleo in second 1',
    'mail to Ada in second 1',
    'mail to Bob in second 1',
    'mail to Cleo in second 1',
    'fulfilled, fulfilled, fulfilled, rejected',
  ]);
});

pages('tokens are estimated, and settled', async () => {
  assert.equal(await printedBy('llm'), ['SUM UP', 'TRANSLATE', 'RHYME', '{ requests: 57, tokens: 98000 }']);
});

pages('a server replies 429 beyond the limit of a client', async () => {
  const printed = await printedBy('server');
  // Rounded up to the resolution of the window, and to whole seconds.
  assert.match(printed[0], /^200, "default";r=1;t=6[01]$/);
  assert.match(printed[1], /^200, "default";r=0;t=6[01]$/);
  assert.match(printed[2], /^429, "default";r=0;t=(6[01]), again in \1 s$/);
  assert.is(printed.length, 3);
});

pages('a stored rate reaches a request that waits', async () => {
  const printed = await printedBy('rate');
  assert.equal(printed.slice(0, 2), ['it came sooner', 'false']);
  assert.match(printed.slice(2).join(' '), /permits: 100,\s+interval: 1000,.*stored: true/s);
});

pages('a reply with Retry-After pauses the fleet', async () => {
  assert.equal(await printedBy('pause'), [
    'a date that is past: 0 ms',
    'page 1 in second 0',
    'page 2 in second 0',
    'page 4 in second 1',
    'page 5 in second 3',
    'page 6 in second 3',
    'page 3 in second 4',
  ]);
});

pages('events report grants, waits and failures', async () => {
  assert.equal(await printedBy('events'), [
    'queued',
    'granted by memory',
    'queued',
    'denied, for 60 s',
    'refunded',
    'paused',
  ]);
});

for (const library of ['bottleneck', 'throttle', 'queue']) {
  pages(`calls are limited as with ${library}`, async () => {
    const seconds = [0, 0, 0, 1, 1];
    assert.equal(
      await printedBy(library),
      seconds.map((second, i) => `${i + 1} in second ${second}`),
    );
  });
}

pages('users are limited as with rate-limiter-flexible', async () => {
  const printed = await printedBy('flexible');
  assert.equal(printed, ['ada: 1 left', 'ada: 0 left', 'ada: again in 60 s', 'bob: 1 left']);
});

pages('every event is logged', async () => {
  const printed = (await printedBy('log')).join('\n');
  const events = Array.from(printed.matchAll(/^sluice:api (\w+)/gm), ([, type]) => type);
  assert.equal(events, ['queued', 'granted', 'queued', 'timeout']);
  assert.match(printed, /not available within 5000 ms/);
  assert.match(printed, /granted: 1,/);
  assert.match(printed, /queued: 0,\s+reserved: 0,/);
});

pages('a limiter continues without Redis', async () => {
  assert.equal(await printedBy('fallback'), [
    'limiter "api": Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:1; check the connection',
    'fallback, fallback',
    '2 of 5 are left',
  ]);
});

pages('a stream continues after Redis was restarted', async () => {
  ran.add('outage');
  const server = await startRedis();
  const child = spawn(process.execPath, [join(folder, 'outage.mjs')], {
    env: { ...process.env, REDIS_URL: server.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed: string[] = [];
  let restarted: Promise<void> | undefined;
  for await (const line of createInterface(child.stdout)) {
    printed.push(line);
    restarted ??= restartAfter(server, 1_200);
  }
  await restarted;
  await server.stop();
  assert.equal(new Set(printed), new Set(Array.from({ length: 12 }, (_, i) => `page ${i + 1}`)));
  assert.is(printed.length, 12);
});

pages.run();

const all = suite('all examples');

all('modules of examples/ are printed as they are', () => {
  const changed = files.filter(({ file, code }) => code !== readFileSync(root + file, 'utf8').trimEnd());
  assert.equal(
    changed.map(({ page, file }) => `${page}: copy ${file} into the block below its name`),
    [],
  );
});

all('every module of examples/ is printed', () => {
  const modules = readdirSync(`${root}examples`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `examples/${name}`);
  const printed = new Set(files.map(({ file }) => file));
  assert.ok(modules.length >= 10, `only ${modules.length} modules were found`);
  assert.equal(
    modules.filter((module) => !printed.has(module)),
    [],
  );
});

all('all run here under their own names, or are marked as sketches', () => {
  const names = examples.flatMap(({ name }) => name ?? []);
  assert.equal([...names].sort(), [...ran].sort());
  const unnamed = examples.filter(
    ({ name, code }) => name === undefined && !code.startsWith('// a sketch: '),
  );
  assert.equal(
    unnamed.map(({ page, code }) => `${page}: ${code.split('\n')[0]}`),
    [],
  );
});

all.run();

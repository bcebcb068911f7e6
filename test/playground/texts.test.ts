import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codeOf } from '../../playground/codeText.ts';
import { type Config, choices, defaults, limitOf } from '../../playground/model/config.ts';
import { promiseOf } from '../../playground/promiseText.ts';
import { configOf, hashOf } from '../../playground/url.ts';
import { root } from '../docs/pages.ts';
import { killAtExit } from '../support/leftovers.ts';

test('the address gives the same configuration again', () => {
  for (const kind of choices.kind)
    for (const arrivals of choices.arrivals) {
      const config: Config = {
        ...defaults,
        kind,
        arrivals,
        permits: 9,
        interval: 1_250,
        rate: 3.4,
        processes: 7,
      };
      assert.equal(configOf(hashOf(config)), config);
      assert.equal(hashOf(configOf(hashOf(config))), hashOf(config));
    }
});

test('an invalid setting in the address is brought into its range, or gets its default', () => {
  const config = configOf(
    '#kind=constructor&permits=0&interval=1e99&processes=NaN&rate=&arrivals=hand&burst=-1&x=y',
  );
  assert.equal(config, { ...defaults, permits: 1, interval: 10_000, arrivals: 'hand' });
  assert.equal(configOf(''), defaults);
  assert.equal(configOf('#%E0%A4%A'), defaults);
});

test('each kind of limit has its own promise', () => {
  const promises = choices.kind.map((kind) => promiseOf({ ...defaults, kind }));
  assert.is(new Set(promises).size, choices.kind.length);
  assert.match(promises[0], 'sees more than 5 permits.');
  assert.match(promiseOf({ ...defaults, permits: 1 }), 'sees more than 1 permit.');
});

test('the resolution is at most the interval, in the limit and in the code', () => {
  const config: Config = { ...defaults, interval: 200, resolution: 900 };
  assert.equal(limitOf(config), limitOf({ ...config, resolution: 200 }));
  assert.match(codeOf(config), 'slidingWindow({ permits: 5, interval: 200, resolution: 200 })');
});

test('the code runs as it is', async () => {
  // In the repository, where its imports resolve.
  const folder = mkdtempSync(join(root, '.readme-'));
  try {
    const names = choices.arrivals.map((arrivals, i) => {
      const config: Config = { ...defaults, arrivals, kind: choices.kind[i], rate: 20, processes: 2 };
      const named = codeOf(config).replace(
        'subscribe(console.log)',
        `subscribe((text) => console.log('${arrivals}', text))`,
      );
      writeFileSync(join(folder, `${arrivals}.mts`), `${named}\nexport {};\n`);
      return `./${arrivals}.mts`;
    });
    const file = join(folder, 'all.mts');
    writeFileSync(file, names.map((name) => `import '${name}';\n`).join(''));
    const child = spawn(process.execPath, ['--import', './test/support/register.mjs', file], { cwd: root });
    killAtExit(child);
    const seen = new Set<string>();
    let rest = '';
    for await (const part of child.stdout) {
      const lines = (rest + part).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const found = /^(\w+) process ([01]) waited \d/.exec(line);
        assert.ok(found, line);
        seen.add(`${found[1]} ${found[2]}`);
      }
      if (seen.size === 6) child.kill('SIGKILL');
    }
    assert.equal([...seen].sort(), [
      'bursts 0',
      'bursts 1',
      'poisson 0',
      'poisson 1',
      'steady 0',
      'steady 1',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../docs/pages.ts';
import { killAtExit, killNow } from '../support/leftovers.ts';
import { freePort } from '../support/ports.ts';

test('`npm run playground` prints the address at which it serves the page', async () => {
  const args = ['--import', './test/support/register.mjs', 'tools/playground/serve.ts'];
  const port = String(await freePort());
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, PORT: port } });
  killAtExit(child);
  try {
    const [line] = await once(child.stdout, 'data');
    const address = String(line).trim();
    assert.is(address, `http://127.0.0.1:${port}/`);
    for (const [file, text] of Object.entries({
      '': 'rxjs-sluice playground',
      'main.js': 'ERR_SLUICE',
      'main.css': '--p7',
    })) {
      const response = await fetch(address + file);
      assert.is(response.status, 200);
      assert.match(await response.text(), text);
    }
  } finally {
    await killNow(child);
  }
});

test.run();

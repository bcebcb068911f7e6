import { execFileSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bundled } from '../support/bundled.ts';

for (const kind of ['fixedWindow', 'slidingWindow', 'tokenBucket'])
  test(`an idle key of a group in the process takes at most 600 bytes: ${kind}`, async () => {
    // In a process of its own: V8 gives objects more room once others of their class have had other kinds of values.
    const program = await bundled('test/limiter/keyBytesProgram.ts');
    const bytes = Number(execFileSync(process.execPath, [program, kind], { encoding: 'utf8' }));
    assert.ok(bytes > 100 && bytes <= 600, `${bytes} bytes a key`);
  });

test.run();

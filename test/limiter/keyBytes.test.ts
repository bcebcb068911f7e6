import { execFileSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bundled } from '../support/bundled.ts';

for (const kind of ['fixedWindow', 'slidingWindow', 'tokenBucket'])
  test(`an idle key of a group in the process takes at most 600 bytes, and no more beside other limiters: ${kind}`, async () => {
    // In a process of its own: V8 gives objects more room once others of their class have had other kinds of values.
    const program = await bundled('test/limiter/keyBytesProgram.ts');
    const [alone, beside] = [[kind], [kind, 'others']].map((args) =>
      Number(execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' })),
    );
    assert.ok(alone > 100 && alone <= 600, `${alone} bytes a key`);
    assert.ok(beside <= alone + 24, `${beside} bytes a key beside other limiters, ${alone} alone`);
  });

test.run();

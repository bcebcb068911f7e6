import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bundle } from '../../tools/playground/bundle.ts';
import { root } from '../docs/pages.ts';

/** Bundles code for browsers. A built-in module of Node fails the build, as browsers do not have it. */
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    ...bundle,
    entryPoints: undefined,
    stdin: { contents, resolveDir: root, loader: 'ts' },
    // So that an error names a short line.
    minify: false,
    sourcemap: false,
    write: false,
  });
  return outputFiles[0].text;
}

/** The globals that browsers have too, without Node's own. */
function browser(): Record<string, unknown> {
  const { setTimeout, clearTimeout, queueMicrotask, performance, crypto, console } = globalThis;
  const { AbortController, AbortSignal, URL, TextEncoder } = globalThis;
  const seen: unknown[] = [];
  const globals = { setTimeout, clearTimeout, queueMicrotask, performance, crypto, console, seen };
  return { ...globals, AbortController, AbortSignal, URL, TextEncoder };
}

test('the whole library loads in a browser, and its store serves there', async () => {
  const code = await bundled(`
    import * as sluice from './src/index.ts';
    import { from, toArray } from 'rxjs';
    const limiter = new sluice.RateLimiter({ name: 'api', limit: sluice.slidingWindow({ permits: 2, interval: 20 }) });
    globalThis.done = new Promise((resolve) => {
      from([1, 2, 3, 4, 5]).pipe(sluice.throttleDistributed(limiter), toArray()).subscribe(async (values) => {
        const permit = await limiter.acquire();
        await limiter.close();
        resolve([values.join(), permit.source, typeof process, typeof Buffer]);
      });
    });
  `);
  const context = createContext(browser());
  runInContext(code, context);
  assert.equal([...(await context.done)], ['1,2,3,4,5', 'memory', 'undefined', 'undefined']);
});

test('without ticks, a turn ends after its microtasks', async () => {
  const code = await bundled(`
    import { endOfTurn } from './src/endOfTurn.ts';
    globalThis.done = new Promise((resolve) => {
      endOfTurn(() => resolve(seen))();
      queueMicrotask(() => queueMicrotask(() => seen.push('microtask')));
    });
  `);
  const context = createContext(browser());
  runInContext(code, context);
  assert.equal([...(await context.done)], ['microtask']);
});

test.run();

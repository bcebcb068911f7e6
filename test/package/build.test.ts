import { build } from 'esbuild';
import type { OutputChunk } from 'rollup';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import config from '../../rollup.config.mjs';
import { built } from './built.ts';

const [, command] = config({});
let library: OutputChunk;

test.before(async () => {
  library = await built(config({ configQuick: true })[0]);
});

/** The esbuild bundle of an application that uses only these names. */
async function bundled(...names: string[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(', ')} } from 'rxjs-sluice';` },
    plugins: [
      {
        name: 'the library',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^rxjs-sluice$/ }, () => ({ path: 'index.js', namespace: 'built' }));
          onLoad({ filter: /.*/, namespace: 'built' }, () => ({ contents: library.code }));
        },
      },
    ],
    external: ['rxjs', 'ioredis', 'node:*'],
    bundle: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0].text;
}

test('esbuild drops unused scripts: those of Redisson from a limiter, and all from operators', async () => {
  const ofRedisson = 'keepAliveTime';
  assert.match(await bundled('RedissonRateLimiter'), ofRedisson);
  const limiter = await bundled('RateLimiter');
  assert.match(limiter, 'redis.call');
  assert.not.match(limiter, ofRedisson);
  assert.not.match(await bundled('throttleDistributed', 'fromThrottled', 'slidingWindow'), 'redis.call');
});

test('rollup drops unused scripts, too', async () => {
  const plugin = {
    name: 'the library',
    resolveId: (id: string) => id,
    load: (id: string) => (id === 'built' ? library.code : `export { slidingWindow } from 'built';`),
  };
  const { code } = await built({
    input: 'app',
    external: /^(rxjs|ioredis|node:)/,
    plugins: [plugin],
    output: {},
  });
  assert.not.match(code, 'redis.call');
});

test('the source maps contain the sources', () => {
  const { sources, sourcesContent } = library.map!;
  const index = sources.findIndex((source) => source.endsWith('src/limiter/RateLimiter.ts'));
  assert.match(sourcesContent![index]!, 'export class RateLimiter');
});

test('the command imports the library instead of bundling it again', async () => {
  const { code } = await built(command);
  assert.match(code, "from './index.js'");
  for (const word of ['redis.call', 'class RateLimiter', 'class Dispatcher']) assert.not.match(code, word);
});

test.run();

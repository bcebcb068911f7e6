import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { type OutputChunk, type RollupOptions, rollup } from 'rollup';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import config from '../../rollup.config.mjs';

/** The first output of one build of the package, in memory. */
async function built(options: RollupOptions): Promise<OutputChunk> {
  const bundle = await rollup({ ...options, onwarn: (warning) => assert.unreachable(warning.message) });
  const [output] = [options.output].flat();
  const { output: files } = await bundle.generate(output!);
  await bundle.close();
  return files[0];
}

const [, command, types] = config({});
let library: OutputChunk;

test.before(async () => {
  library = await built(config({ configQuick: true })[0]);
});

/** What esbuild makes of an application that uses no more than these names: gzipped bytes. */
async function sizeOf(...names: string[]): Promise<number> {
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
    minify: true,
    format: 'esm',
    write: false,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

for (const limit of ['slidingWindow', 'fixedWindow', 'tokenBucket', 'leakyBucket'])
  test(`${limit} alone is below 2 KB gzipped`, async () => {
    const size = await sizeOf(limit);
    assert.ok(size > 300 && size < 2 * 1024, `${size} bytes`);
  });

test('the operators alone are below 6 KB gzipped', async () => {
  const size = await sizeOf('throttleDistributed', 'acquirePermits', 'fromThrottled', 'pauseOn');
  assert.ok(size > 2_000 && size < 6 * 1024, `${size} bytes`);
});

test('a limiter brings no script of Redisson with it', async () => {
  const [one, both] = [await sizeOf('RateLimiter'), await sizeOf('RateLimiter', 'RedissonRateLimiter')];
  assert.ok(both > one + 3_000, `${one} and ${both} bytes`);
});

test('rollup drops the scripts that are not used, too', async () => {
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

test('the maps of the sources hold the sources', () => {
  const { sources, sourcesContent } = library.map!;
  const index = sources.findIndex((source) => source.endsWith('src/limiter/RateLimiter.ts'));
  assert.match(sourcesContent![index]!, 'export class RateLimiter');
});

test('the command imports the library instead of holding it again', async () => {
  const { code } = await built(command);
  assert.match(code, "from './index.js'");
  for (const word of ['redis.call', 'class RateLimiter', 'class Dispatcher']) assert.not.match(code, word);
});

/** Types that only serve others: what is left out of a declaration, or keeps a message of the compiler short. */
const helpers = [
  'Branded',
  'Cost',
  'KeyIsMissing',
  'Line',
  'NamedGroup',
  'OfRequest',
  'OneLimitOptions',
  'PulledStream',
  'ShownLimit',
  'Suits',
  'Told',
  'brand',
  'storeType',
];

test('the declarations name what users name, and nothing of the inside', async () => {
  const { code } = await built(types);
  const declared = code.matchAll(
    /^(?:declare )?(?:abstract )?(?:class|function|interface|type|const) ([\w$]+)/gm,
  );
  const exported = [...code.matchAll(/^export (?:type )?\{(.*)\};$/gm)].flatMap(([, names]) =>
    names.trim().split(', '),
  );
  const inner = [...new Set(Array.from(declared, ([, name]) => name))].filter(
    (name) => !exported.includes(name),
  );
  assert.equal(inner.sort(), [...helpers].sort());
});

test.run();

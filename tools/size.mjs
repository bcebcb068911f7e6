// Prints the gzipped bytes that this package adds to a bundle of an application, and the limit of each. Fails above a limit.
// Needs the build: `npm run build && npm run size`.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const library = fileURLToPath(new URL('../dist/index.js', import.meta.url));

const kilobyte = 1024;
const limits = [
  ['slidingWindow', 2 * kilobyte],
  ['fixedWindow', 2 * kilobyte],
  ['tokenBucket', 2 * kilobyte],
  ['leakyBucket', 2 * kilobyte],
  ['throttleDistributed, acquirePermits, fromThrottled, pauseOn', 6 * kilobyte + 160],
  ['RateLimiter, throttleDistributed', 73 * kilobyte],
];

/** The minified bundle of an application that exports these names of the package. */
async function bundle(names) {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names} } from ${JSON.stringify(library)};`, resolveDir: '.' },
    external: ['rxjs', 'ioredis', 'node:*'],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  return outputFiles[0].contents;
}

if (!existsSync(library)) {
  console.error('dist/index.js is missing: run `npm run build` first');
  process.exit(2);
}
const rows = [];
for (const [names, limit] of limits) {
  const contents = await bundle(names);
  const gzipped = gzipSync(contents, { level: 9 }).length;
  rows.push({ names, minified: contents.length, gzipped, limit, ok: gzipped <= limit ? 'yes' : 'NO' });
}
console.table(rows);
if (rows.some(({ ok }) => ok !== 'yes')) process.exitCode = 1;

import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = ['src', 'lua'];

/** Builds the library as one ES module, without type checks, unless the module is newer than its sources. */
export async function build(say) {
  const outfile = `${root}dist/index.js`;
  if (existsSync(outfile) && statSync(outfile).mtimeMs > Math.max(...sources.map(newestIn))) return;
  say('Building the library …');
  const { build } = await import('esbuild');
  const { assemble } = await import('../tools/lua.mjs');
  const lua = {
    name: 'lua',
    setup({ onLoad }) {
      onLoad({ filter: /\.lua$/ }, ({ path }) => ({ contents: assemble(path).text, loader: 'text' }));
    },
  };
  await build({
    entryPoints: [`${root}src/index.ts`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    packages: 'external',
    plugins: [lua],
  });
}

/** The latest change of a file in a folder, in epoch milliseconds. */
function newestIn(folder) {
  const files = readdirSync(root + folder, { recursive: true });
  return Math.max(...files.map((file) => statSync(`${root}${folder}/${file}`).mtimeMs));
}

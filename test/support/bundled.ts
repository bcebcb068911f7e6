import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { assemble } from '../../tools/lua.mjs';
import { temporaryFolder } from './leftovers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundles = new Map<string, Promise<string>>();

/** Lua files as their assembled texts, the package by its own name as its sources, and all other packages as they are. */
const sources: Plugin = {
  name: 'sources',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.lua$/ }, ({ path }) => ({ contents: assemble(path).text, loader: 'text' }));
    onResolve({ filter: /^rxjs-sluice$/ }, () => ({ path: join(root, 'src/index.ts') }));
    onResolve({ filter: /^[^./]/ }, ({ path }) => ({ path, external: true }));
  },
};

/**
 * Bundles a program, given by its path from the root, once per process. Returns the path of the bundle. Node starts it in a
 * third of the processor time that the sources take (`node --import ./test/support/register.mjs`).
 */
export function bundled(program: string): Promise<string> {
  const path = bundles.get(program) ?? bundle(program);
  bundles.set(program, path);
  return path;
}

async function bundle(program: string): Promise<string> {
  // Inside the package, so that its packages are found.
  const outfile = join(temporaryFolder(root, '.bundle-'), `${parse(program).name}.mjs`);
  await build({
    entryPoints: [join(root, program)],
    plugins: [sources],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    outfile,
  });
  return outfile;
}

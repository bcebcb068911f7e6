import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { assembled } from './compiled.mjs';
import { temporaryFolder } from './leftovers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundles = new Map<string, Promise<string>>();

/** Lua files as their assembled texts, and the package by its own name as its sources. */
const sources: Plugin = {
  name: 'sources',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.lua$/ }, async ({ path }) => ({ contents: await assembled(path), loader: 'text' }));
    onResolve({ filter: /^rxjs-sluice$/ }, () => ({ path: join(root, 'src/index.ts') }));
  },
};

/** For the packages that are CommonJS: they require modules of Node. */
const banner = {
  js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
};

/**
 * Bundles a program and its packages, given by its path from the root, once per process. Returns the path of the bundle. Node
 * starts it in a third of the processor time that the sources take (`node --import ./test/support/register.mjs`). The packages
 * in `external` are imported when the program runs.
 */
export async function bundled(program: string, external: string[] = []): Promise<string> {
  const folder = bundles.get(program) ?? bundle({ program: join(root, program) }, external);
  bundles.set(program, folder);
  return join(await folder, 'program.mjs');
}

/** Bundles programs, by their names. Returns the folder that has them, as NAME.mjs. What they share is there once. */
export async function bundle(programs: Record<string, string>, external: string[] = []): Promise<string> {
  // Inside the package, so that its packages are found.
  const folder = temporaryFolder(root, '.bundle-');
  await build({
    entryPoints: programs,
    plugins: [sources],
    external,
    bundle: true,
    splitting: Object.keys(programs).length > 1,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Only coverage needs it, and Node would have to read it.
    sourcemap: process.env.NODE_V8_COVERAGE ? 'inline' : false,
    banner,
    outExtension: { '.js': '.mjs' },
    outdir: folder,
  });
  return folder;
}

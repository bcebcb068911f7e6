import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { assemble } from '../lua.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The folder of the static build. */
export const outputFolder = `${root}playground/dist`;

/** Scripts as the texts that the package contains. A page never sends them, but `RateLimiter` imports them. */
const lua: Plugin = {
  name: 'lua',
  setup(build) {
    build.onLoad({ filter: /\.lua$/ }, ({ path }) => ({ contents: assemble(path).text, loader: 'text' }));
  },
};

/** The page: its code, its style, and its document, which needs no change. */
export const bundle = {
  entryPoints: [`${root}playground/main.ts`, `${root}playground/main.css`, `${root}playground/index.html`],
  bundle: true,
  // A classic script: a browser loads it from a file, too.
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  sourcemap: true,
  entryNames: '[name]',
  loader: { '.html': 'copy' },
  plugins: [lua],
  outdir: outputFolder,
  logLevel: 'warning',
} satisfies BuildOptions;

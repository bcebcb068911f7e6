import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import typescript from '@rollup/plugin-typescript';
import { dts } from 'rollup-plugin-dts';
import { assemble, scripts } from './tools/lua.mjs';

const { peerDependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const external = [...Object.keys(peerDependencies), /^node:/];
const luaFolder = fileURLToPath(new URL('./lua', import.meta.url));

/** Inlines `lua/*.lua` as strings, and fails when a script is missing or is imported by nobody. */
function lua({ complete }) {
  const imported = new Set();
  return {
    name: 'lua',
    load(id) {
      if (!id.endsWith('.lua')) return null;
      const { text, files } = assemble(id, luaFolder);
      imported.add(id);
      for (const file of files) this.addWatchFile(file);
      return { code: `export default ${JSON.stringify(text)};`, moduleSideEffects: false };
    },
    buildEnd(error) {
      if (error || !complete) return;
      for (const file of scripts(luaFolder)) if (!imported.has(file)) this.error(`nothing imports ${file}`);
    },
  };
}

const compile = () =>
  typescript({
    tsconfig: './tsconfig.json',
    noEmit: false,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    include: ['src/**/*.ts'],
    exclude: [],
  });
const types = (file) => ({ input: 'src/index.ts', external, plugins: [dts()], output: { file } });

export default [
  {
    input: 'src/index.ts',
    external,
    plugins: [lua({ complete: true }), compile()],
    output: [
      { file: 'dist/index.js', format: 'es' },
      { file: 'dist/index.cjs', format: 'cjs' },
    ],
  },
  {
    input: 'src/cli/main.ts',
    external: [...external, 'rxjs-sluice'],
    plugins: [lua({ complete: false }), nodeResolve({ preferBuiltins: true }), compile()],
    output: { file: 'dist/cli.js', format: 'es', banner: '#!/usr/bin/env node' },
  },
  types('dist/index.d.ts'),
  types('dist/index.d.cts'),
];

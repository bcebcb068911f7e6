import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import typescript from '@rollup/plugin-typescript';
import { transform } from 'esbuild';
import { dts } from 'rollup-plugin-dts';
import { assemble, scripts } from './tools/lua.mjs';
import { sectionsOf } from './tools/luaSections.mjs';

const { peerDependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const external = [...Object.keys(peerDependencies), /^rxjs\//, /^node:/];
const luaFolder = fileURLToPath(new URL('./lua', import.meta.url));

/** A section of a script, as a module of its own: what many scripts share is there once. */
const section = '\0lua:';

/** Inlines `lua/*.lua` as strings, and fails when a script is missing or is imported by nobody. */
function lua({ complete }) {
  const imported = new Set();
  const texts = new Map();
  return {
    name: 'lua',
    resolveId: (id) => (id.startsWith(section) ? id : null),
    load(id) {
      if (id.startsWith(section))
        return `export default ${JSON.stringify(texts.get(id.slice(section.length)))};`;
      if (!id.endsWith('.lua')) return null;
      const { files } = assemble(id, luaFolder);
      const sections = sectionsOf(id, luaFolder);
      imported.add(id);
      for (const file of files) this.addWatchFile(file);
      for (const { file, text } of sections) texts.set(file, text);
      const named = sections.map(({ file }) => [relative(luaFolder, file).replace(/\W/g, '_'), file]);
      const imports = named.map(([name, file]) => `import ${name} from ${JSON.stringify(section + file)};\n`);
      const names = named.map(([name]) => name).join(', ');
      // A call that is marked as pure: a bundler drops the text of a script that is not used, which it would not for `+`.
      const whole = `/* @__PURE__ */ [${names}].join('\\n')`;
      return { code: `${imports.join('')}export default ${whole};`, moduleSideEffects: false };
    },
    transform(code, id) {
      if (id !== library.id) return null;
      // Before all other modules: these texts are longer than the distance at which gzip finds a repetition. Between two modules,
      // they would hide the first one from the second.
      const first = scripts(luaFolder).map((file) => `import ${JSON.stringify(file)}; `);
      return { code: first.join('') + code, map: null };
    },
    buildEnd(error) {
      if (error || !complete) return;
      for (const file of scripts(luaFolder)) if (!imported.has(file)) this.error(`nothing imports ${file}`);
    },
  };
}

/** Makes a module of commander's files, which are CommonJS: they require constants only, at their top. */
function commander() {
  return {
    name: 'commander',
    transform(code, id) {
      if (!/[\\/]commander[\\/].*\.js$/.test(id)) return null;
      const required = [...new Set(Array.from(code.matchAll(/\brequire\('(.+?)'\)/g), ([, name]) => name))];
      const imports = required
        .map((name, i) => `import required${i} from ${JSON.stringify(name)};\n`)
        .join('');
      const table = required.map((name, i) => `${JSON.stringify(name)}: required${i}`).join(', ');
      const head = `const exports = {};\nconst require = (name) => ({ ${table} })[name];\n`;
      return { code: `${imports}${head}${code}\nexport default exports;`, map: null };
    },
  };
}

/** For the command, the library is the file beside it. */
const library = { id: fileURLToPath(new URL('./src/index.ts', import.meta.url)), file: './index.js' };

const tsconfig = './tsconfig.json';

/** Checks the types of the sources, and compiles them. */
const checked = () =>
  typescript({
    tsconfig,
    noEmit: false,
    sourceMap: true,
    inlineSources: true,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    include: ['src/**/*.ts'],
    exclude: [],
  });

/** Compiles each file by itself, without its types: in a tenth of the time. */
function quick() {
  const { target } = JSON.parse(readFileSync(new URL(tsconfig, import.meta.url), 'utf8')).compilerOptions;
  return {
    name: 'quick',
    transform(text, id) {
      if (!id.endsWith('.ts')) return null;
      return transform(text, { loader: 'ts', target, sourcefile: id, sourcemap: true });
    },
  };
}

const code = (compile) => ({
  input: 'src/index.ts',
  external,
  plugins: [lua({ complete: true }), compile()],
  output: [
    { file: 'dist/index.js', format: 'es', sourcemap: true },
    { file: 'dist/index.cjs', format: 'cjs', sourcemap: true },
  ],
});
const command = {
  input: 'src/cli/main.ts',
  external: [...external, library.id],
  // Its types have been checked with those of the library.
  plugins: [commander(), nodeResolve({ preferBuiltins: true }), quick()],
  output: {
    file: 'dist/cli.js',
    format: 'es',
    sourcemap: true,
    banner: '#!/usr/bin/env node',
    paths: { [library.id]: library.file },
  },
};
const types = {
  input: 'src/index.ts',
  external,
  plugins: [dts({ compilerOptions: { stripInternal: true } })],
  output: [{ file: 'dist/index.d.ts' }, { file: 'dist/index.d.cts' }],
};

/** With `--configQuick` only the library, without checking its types: the demo and the benchmarks need no more. */
export default ({ configQuick }) => (configQuick ? [code(quick)] : [code(checked), command, types]);

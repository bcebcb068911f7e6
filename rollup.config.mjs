import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import typescript from '@rollup/plugin-typescript';
import { dts } from 'rollup-plugin-dts';
import { assemble, scripts } from './tools/lua.mjs';

const { peerDependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const external = [...Object.keys(peerDependencies), /^rxjs\//, /^node:/];
const luaFolder = fileURLToPath(new URL('./lua', import.meta.url));

/** What an imported file of Lua gives to a script, as a module of its own: what many scripts share is there once. */
const part = '\0lua:';

/** Inlines `lua/*.lua` as strings, and fails when a script is missing or is imported by nobody. */
function lua({ complete }) {
  const imported = new Set();
  const texts = new Map();
  return {
    name: 'lua',
    resolveId: (id) => (id.startsWith(part) ? id : null),
    load(id) {
      if (id.startsWith(part)) return `export default ${JSON.stringify(texts.get(id.slice(part.length)))};`;
      if (!id.endsWith('.lua')) return null;
      const { parts } = assemble(id, luaFolder);
      imported.add(id);
      for (const { file, text } of parts) {
        this.addWatchFile(file);
        texts.set(file, text);
      }
      const named = parts.map(({ file }) => [relative(luaFolder, file).replace(/\W/g, '_'), file]);
      const imports = named.map(([name, file]) => `import ${name} from ${JSON.stringify(part + file)};\n`);
      const whole = named.map(([name]) => name).join(" + '\\n' + ");
      return { code: `${imports.join('')}export default ${whole};`, moduleSideEffects: false };
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

const compile = ({ noCheck = false } = {}) =>
  typescript({
    tsconfig: './tsconfig.json',
    noCheck,
    noEmit: false,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    include: ['src/**/*.ts'],
    exclude: [],
  });
const types = (file) => ({ input: 'src/index.ts', external, plugins: [dts()], output: { file } });

const library = (options) => ({
  input: 'src/index.ts',
  external,
  plugins: [lua({ complete: true }), compile(options)],
  output: [
    { file: 'dist/index.js', format: 'es' },
    { file: 'dist/index.cjs', format: 'cjs' },
  ],
});
const command = {
  input: 'src/cli/main.ts',
  external,
  plugins: [lua({ complete: false }), commander(), nodeResolve({ preferBuiltins: true }), compile()],
  output: { file: 'dist/cli.js', format: 'es', banner: '#!/usr/bin/env node' },
};

/** With `--configQuick` just what runs, unchecked: whoever wants to see the demo should not wait for the rest. */
export default ({ configQuick }) =>
  configQuick
    ? library({ noCheck: true })
    : [library(), command, types('dist/index.d.ts'), types('dist/index.d.cts')];

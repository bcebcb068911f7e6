import { fileURLToPath } from 'node:url';
import { assembled, compiled } from './compiled.mjs';

/** A module loader hook: a `.lua` file is a module whose default export is its assembled text. */
export async function load(url, context, next) {
  const path = url.split('?')[0];
  const module = (source) => ({ format: 'module', shortCircuit: true, source });
  if (/\.m?ts$/.test(path)) return module(await compiled(fileURLToPath(path)));
  if (path.endsWith('.lua'))
    return module(`export default ${JSON.stringify(await assembled(fileURLToPath(path)))};`);
  return next(url, context);
}

/** With `SLUICE_PEERS=oldest`: the oldest versions that package.json names as peers. */
const oldest = process.env.SLUICE_PEERS === 'oldest' ? { rxjs: 'rxjs-oldest', ioredis: 'ioredis5' } : {};

const otherClient = new URL('./otherClient.ts', import.meta.url).href;
/** With `SLUICE_CLIENT`: the tests open connections of another client. */
const opensOther = (parent = '') =>
  process.env.SLUICE_CLIENT && /\/test\/(?!support\/|clients\/)/.test(parent);

/** Resolves the package's own name to its sources. */
export function resolve(specifier, context, next) {
  if (specifier === 'ioredis' && opensOther(context.parentURL)) return next(otherClient, context);
  if (specifier === 'rxjs-sluice') return next(new URL('../../src/index.ts', import.meta.url).href, context);
  const [name] = specifier.split('/', 1);
  return next(Object.hasOwn(oldest, name) ? oldest[name] + specifier.slice(name.length) : specifier, context);
}

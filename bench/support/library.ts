/** The built package: the loader that runs the sources makes every function slower. */
export const library: typeof import('../../src/index.ts') = await import(
  new URL('../../dist/index.js', import.meta.url).href
);

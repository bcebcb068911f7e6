/** The package as it is published: built, for what runs the sources as they are makes every function slower. */
export const library: typeof import('../../src/index.ts') = await import(
  new URL('../../dist/index.js', import.meta.url).href
);

// `npm run coverage` runs this: the tests of src with few random values, without those that count clocks, processes or commands.
process.env.SLUICE_SCALE ??= '0.1';
process.argv.push(
  ...[
    'cli/(?!ending)',
    'clients/',
    'creation/',
    'dispatcher/',
    'fallback/',
    'limiter/',
    'limits/',
    'operators/',
    'redisson/',
    'ring',
  ],
  'redis/(?!hostile|permissions|processes|twins)',
);
await import('./run.mjs');

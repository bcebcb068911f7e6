import fc from 'fast-check';
import { client, rawCost } from './requests.ts';
import { anyLimit, record } from './specs.ts';

export const release = record({ kind: fc.constant('release' as const), client, permits: rawCost });

const pause = record({
  kind: fc.constant('pause' as const),
  client,
  ms: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 90 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 9000 }).map((us) => us / 1000) },
  ),
});

const forget = record({ kind: fc.constant('forget' as const), client, rate: fc.boolean() });

const getRate = record({ kind: fc.constant('getRate' as const), client });

/** A rate of three limits; the history takes as many as it has. */
const setRate = record({
  kind: fc.constant('setRate' as const),
  client,
  limits: fc.array(anyLimit, { minLength: 3, maxLength: 3 }),
  ifAbsent: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean()),
  keepState: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean()),
});

/** Steps that change the whole fleet, and releases. */
export const steering = fc.oneof(
  { weight: 3, arbitrary: release },
  { weight: 2, arbitrary: pause },
  { weight: 1, arbitrary: forget },
  { weight: 3, arbitrary: setRate },
  { weight: 1, arbitrary: getRate },
);

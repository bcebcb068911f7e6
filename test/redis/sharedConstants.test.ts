// The scripts, the memory ledger and the dispatcher must use the same constants. If they differ, no call fails, but
// reservations move up too often, or a client relies on void reservations.
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const root = new URL('../../', import.meta.url);
const store = 'src/stores/store.ts';
const rescheduler = 'src/dispatcher/rescheduler.ts';
const waitBounds = 'src/dispatcher/waitBounds.ts';

/** The paths of the files in a folder and its subfolders. */
function filesOf(folder: string): string[] {
  return readdirSync(new URL(folder, root), { recursive: true })
    .map((file) => `${folder}${file}`)
    .filter((file) => /\.(lua|ts)$/.test(file) && !file.includes('redisson'));
}

/** The value of a constant in each file: `smallPart` in TypeScript is `SMALL_PART` in Lua. */
function valuesOf(name: string): Map<string, number> {
  const inLua = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const pattern = new RegExp(`^(?:export )?(?:const ${name}| *local ${inLua}) = ([\\d_.]+);?$`, 'm');
  const values = new Map<string, number>();
  for (const file of [
    ...filesOf('lua/'),
    ...filesOf('src/stores/memory/'),
    ...filesOf('src/limits/'),
    store,
    rescheduler,
    waitBounds,
  ]) {
    const found = pattern.exec(readFileSync(new URL(file, root), 'utf8'));
    if (found) values.set(file, Number(found[1].replaceAll('_', '')));
  }
  return values;
}

const ofTwins = [
  'pacing',
  'latePacing',
  'strideParts',
  'memory',
  'requests',
  'leastPart',
  'mostStride',
  'mostEarlier',
  'mostVoids',
  'mostHoles',
  'mostGaps',
  'mostSegments',
  'longestHorizon',
  'contenderPeriod',
  'rareLoad',
  'rareInSliding',
  'rareKept',
  'mostKept',
  'mostDelay',
  'mostTickets',
  'leastHold',
  'mostInOrder',
  'mostInTurns',
  'leastInSliding',
  'leastGranted',
  'veryLateParts',
  'mostLate',
  'leastBack',
  'fewInFixed',
  'leastRequests',
  'mostLoad',
  'leastInFixed',
  'mostReserved',
  'keptOfFew',
  'fewForAny',
  'sooner',
  'leastLate',
  'mostInBucket',
  'mostInLeaky',
  'leastInBucket',
  'fewSoon',
  'lastBeat',
  'leadInOrder',
  'leadBeside',
  'leadOfFew',
  'leastKept',
  'leastInWindow',
  'leastRoom',
  'slowRequest',
  'slowLead',
  'mostClaim',
  'atStart',
  'leadPeriod',
  'pausePart',
  'inVain',
  'fewInVain',
  'manyFree',
  'lead',
  'longInterval',
  'mostOfSeveral',
  'delaysOfSeveral',
  'turnsPeriod',
  'mostPause',
  'mostTurn',
  'nextCall',
  'mostBeside',
  'leastLife',
  'purgeLimit',
  'popLimit',
  'releaseLimit',
  'mostCut',
  'gapLimit',
  'mostEntries',
];
const ofBuckets = ['mostPast', 'keptPast', 'mergedPart', 'mostAhead', 'leastWait'];
const ofAll = ['leastPause', 'lateParts'];

for (const name of [
  ...ofTwins,
  'mostDebt',
  'debtParts',
  'mostDebts',
  'resent',
  ...ofBuckets,
  ...ofAll,
  'noticePeriod',
])
  test(`${name} is the same in all files`, () => {
    const values = valuesOf(name);
    const places = [...values.keys()];
    assert.ok(
      places.some((file) => file.endsWith('.lua')) &&
        places.some((file) => file === store || /\/(memory|limits)\/.*ts$/.test(file)),
    );
    assert.is(places.includes(rescheduler), ofAll.includes(name));
    assert.is(new Set(values.values()).size, 1, JSON.stringify([...values]));
  });

const stated = {
  ...{ mostPast: 24, keptPast: 20, mergedPart: 8, mostAhead: 64, leastWait: 20, mostGaps: 64 },
  ...{
    rareLoad: 200,
    rareInSliding: 100,
    rareKept: 500,
    mostKept: 0.875,
    mostTickets: 64,
    mostDelay: 1000,
    mostBeside: 4000,
    leastLife: 1000,
    mostDebts: 32,
    mostInOrder: 0.9,
    mostInTurns: 0.7,
    leastInSliding: 15,
    leastGranted: 0.5,
    veryLateParts: 3,
    mostLate: 8,
    leastBack: 0.2,
    fewInFixed: 0.25,
    lateParts: 10,
    leastRequests: 12,
    mostLoad: 200,
    leastInFixed: 9,
    mostReserved: 0.45,
    keptOfFew: 0.6,
    fewForAny: 16,
    sooner: 0.5,
    leastLate: 500,
    mostInBucket: 8,
    mostInLeaky: 0.8,
    leastInBucket: 15,
    fewSoon: 0.15,
    lastBeat: 1600,
    leadInOrder: 4,
    leadBeside: 3,
    leadOfFew: 5,
    leastKept: 0.15,
    leastInWindow: 0.3,
    leastRoom: 0.49,
    slowRequest: 40,
    slowLead: 3,
    mostClaim: 6,
    atStart: 0.5,
    leadPeriod: 3000,
    pausePart: 0.01,
    inVain: 3,
    fewInVain: 32,
    manyFree: 2,
    lead: 5,
    leastHold: 1000,
    mostOfSeveral: 4000,
    delaysOfSeveral: 3,
    longInterval: 10_000,
    mostPause: 250,
    mostTurn: 1250,
    purgeLimit: 1024,
    popLimit: 64,
    releaseLimit: 1024,
    mostCut: 2048,
    gapLimit: 256,
    mostEntries: 2048,
  },
};
for (const [name, value] of Object.entries(stated))
  test(`${name} is ${value}`, () => assert.equal([...new Set(valuesOf(name).values())], [value]));

test('a client with waiting requests calls again before its reservations can be void', () => {
  const calls = readFileSync(new URL('src/dispatcher/reserveCalls.ts', root), 'utf8');
  const heartbeat = Number(/const heartbeat = ([\d_]+);/.exec(calls)![1].replaceAll('_', ''));
  const [noticePeriod] = valuesOf('noticePeriod').values();
  assert.ok(heartbeat + 500 <= noticePeriod, `${heartbeat} ms, and ${noticePeriod} ms`);
});

test.run();

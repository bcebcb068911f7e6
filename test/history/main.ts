// Checks the histories of a folder: `node --import ./test/support/register.mjs test/history/main.ts FOLDER`.
import { breachesOf, countsOf } from './check.ts';
import { readHistories } from './histories.ts';

const histories = readHistories(process.argv[2]);
console.table(countsOf(histories));
const breaches = breachesOf(histories);
for (const breach of breaches) console.error(breach);
process.exitCode = breaches.length > 0 ? 1 : 0;

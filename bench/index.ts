// `npm run bench` runs every benchmark, and writes the results to bench/results.json and to charts; `npm run bench --
// acquire` runs only those whose name contains the word, `npm run bench -- quick` those that take two minutes together.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { writeChart } from '../tools/chart.ts';
import { chartOf } from './support/chartOf.ts';
import { printed, type Table } from './support/table.ts';

interface Answers {
  [name: string]: { question: string; node: string; cores: number; tables: Table[] };
}

const results = new URL('results.json', import.meta.url);
const quick = ['client', 'events', 'inProcess', 'scripts', 'values'];

const [, , word = ''] = process.argv;
const all = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length));
const names = all.filter((name) => (word === 'quick' ? quick.includes(name) : name.includes(word))).sort();
if (names.length === 0) throw new Error(`no benchmark's name contains ${JSON.stringify(word)}`);

const answers: Answers = JSON.parse(readFileSync(results, 'utf8'));
// A benchmark may have been removed since.
for (const name of Object.keys(answers)) if (!all.includes(name)) delete answers[name];
for (const name of names) {
  const { question, run } = await import(`./${name}.bench.ts`);
  console.log(`\n${question}\n`);
  printed.length = 0;
  await run();
  answers[name] = { question, node: process.version, cores: cpus().length, tables: [...printed] };
  let count = 0;
  for (const table of printed) {
    const chart = chartOf(table);
    if (!chart) continue;
    const file = `${name}${count++ === 0 ? '' : `-${count}`}.svg`;
    writeChart(new URL(`charts/${file}`, import.meta.url).pathname, `${question} ${table.heads[0]}`, chart);
  }
  // After each benchmark, as all of them take long.
  writeFileSync(results, `${JSON.stringify(answers, null, 2)}\n`);
}

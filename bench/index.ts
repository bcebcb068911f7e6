// `npm run bench` runs every question; `npm run bench -- acquire` only those whose name contains the word.
import { readdirSync } from 'node:fs';

const [, , word = ''] = process.argv;
const questions = readdirSync(new URL('.', import.meta.url))
  .filter((file) => file.endsWith('.bench.ts') && file.includes(word))
  .sort();
if (questions.length === 0) throw new Error(`no benchmark's name contains ${JSON.stringify(word)}`);
for (const file of questions) {
  const { question, run } = await import(`./${file}`);
  console.log(`\n${question}\n`);
  await run();
}

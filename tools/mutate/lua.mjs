import { booleans, comparisons, negated, numbers, swapped } from './operators.mjs';

const skipped = /--[^\n]*|"[^"\n]*"|'[^'\n]*'/g;
const token =
  /[<>]=?|[=~]=|\.\.|[-+*/]|\b(?:and|or|not|true|false|\d+(?:\.\d+)?)\b|math\.(?:max|min|floor|ceil)\b/g;
/** A line that is a whole statement: an assignment, or a call. */
const statement =
  /^ *(?! |local |function |return|if |for |while |end|else)[\w.[\] ,]+(?: = (?!function).*[^{,(]|\(.*\))$/gm;

/** All mutants of a Lua source that its tests are expected to detect, in the order of the text. */
export function mutantsOf(text) {
  // Blanks out comments and strings, and keeps all positions.
  const code = text.replace(skipped, (part) => ' '.repeat(part.length));
  const mutants = [];
  for (const { 0: found, index } of code.matchAll(token)) {
    const replacement = changed(found, code, index);
    if (replacement !== undefined) mutants.push({ start: index, end: index + found.length, replacement });
  }
  for (const { 0: found, index } of code.matchAll(statement)) {
    const start = index + found.search(/\S/);
    mutants.push({ start, end: index + found.length, replacement: '' });
  }
  return mutants.sort((a, b) => a.start - b.start);
}

function changed(found, code, index) {
  if (found === '..') return undefined;
  if (found.startsWith('math.')) return `math.${negated[found.slice(5)]}`;
  if (found === 'not') return '';
  if (/^\d/.test(found)) return numbers(found);
  // A sign is not a subtraction.
  if (found === '-' && !/[\w)\]] *$/.test(code.slice(0, index))) return undefined;
  if (found === '-' && /\b(?:and|or|return|then) *$/.test(code.slice(0, index))) return undefined;
  return comparisons[found] ?? swapped[found] ?? booleans[found];
}

import { tokensOf } from './luaTokens.mjs';

const constant = /^[A-Z][A-Z\d_]*$/;
/** A token that continues an expression or a list. */
const operator = /^(and|or|\.\.|[=~<>]=|[-+*/%^<>([{.:,])$|^['"]/;

/**
 * The numbers and strings of the constants of the scripts, by their names. The name of a constant is in capital letters, and it
 * has the same value wherever it is declared.
 *
 * @param {string[]} texts every file of the scripts
 * @returns {Map<string, string>}
 */
export function constantsOf(texts) {
  const values = new Map();
  const others = new Set();
  for (const tokens of texts.map(tokensOf)) {
    const declared = new Set();
    for (const { names, literals } of declarationsIn(tokens))
      names.forEach((name, i) => {
        const text = literals[i];
        declared.add(name);
        if ((values.get(name.text) ?? text) !== text) others.add(name.text);
        values.set(name.text, text);
      });
    tokens.forEach((token, i) => {
      const [before, after] = [tokens[i - 1]?.text, tokens[i + 1]?.text];
      const isSet =
        after === '=' || before === 'local' || (before === ',' && after === ',' && !isListed(tokens, i));
      if (isSet && !declared.has(token)) others.add(token.text);
    });
  }
  for (const name of others) values.delete(name);
  return values;
}

/** Whether a name is one of the values in a call, a table or a reply, and none to be assigned. */
function isListed(tokens, at) {
  let from = at - 1;
  while (tokens[from].text === ',' || ['variable', 'string'].includes(tokens[from].kind)) from--;
  return /^([({)}]|return)$/.test(tokens[from].text);
}

/**
 * A script with the values in the places of their constants: shorter, and without variables to be set in each call, and to be
 * looked up for each function that uses them. A string must not be the receiver of a method.
 *
 * @param {string} text
 * @param {Map<string, string>} constants
 */
export function inlined(text, constants) {
  const tokens = tokensOf(text);
  /** The new declarations, and the tokens that each of them replaces. */
  const replaced = new Map();
  for (const { from, till, names, literals } of declarationsIn(tokens)) {
    const kept = names.map((_, i) => i).filter((i) => !constants.has(names[i].text));
    const declared = kept.map((i) => names[i].text).join(', ');
    const declaration =
      kept.length > 0 ? `local ${declared} = ${kept.map((i) => literals[i]).join(', ')}` : '';
    for (let i = from; i < till; i++) replaced.set(tokens[i], i === from ? declaration : '');
  }
  return tokens
    .map(
      (token) =>
        replaced.get(token) ?? ((token.kind === 'variable' && constants.get(token.text)) || token.text),
    )
    .filter((word) => word !== '')
    .join(' ');
}

/** The statements that declare constants with a literal for each: their tokens from `from` until before `till`. */
function declarationsIn(tokens) {
  const found = [];
  tokens.forEach(({ text }, from) => {
    if (text !== 'local') return;
    const names = [];
    let at = from + 1;
    for (; constant.test(tokens[at]?.text ?? ''); at += 2) {
      names.push(tokens[at]);
      if (tokens[at + 1]?.text !== ',') break;
    }
    if (names.length === 0 || tokens[at + 1]?.text !== '=') return;
    const literals = [];
    for (at += 2; ; at++) {
      const length = lengthOfLiteral(tokens, at);
      if (length === 0) return;
      const words = tokens.slice(at, at + length).map(({ text }) => text);
      literals.push(words[1] === '^' ? `(${words.join('')})` : words.join(''));
      at += length;
      if (tokens[at]?.text !== ',') break;
    }
    if (literals.length === names.length && !operator.test(tokens[at]?.text ?? ''))
      found.push({ from, till: at, names, literals });
  });
  return found;
}

/** The number of tokens of a string, a number, a negative number or a power of two; 0 for anything else. */
function lengthOfLiteral(tokens, at) {
  const [first, second, third] = tokens.slice(at, at + 3).map(({ text }) => text);
  if (first === '-') return /^\d/.test(second) ? 2 : 0;
  if (!/^[\d'"]/.test(first ?? '')) return 0;
  return first === '2' && second === '^' && /^\d/.test(third) ? 3 : 1;
}

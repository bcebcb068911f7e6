import { tokensOf } from './luaMinify.mjs';

const constant = /^[A-Z][A-Z\d_]*$/;
const literal = /^[\d'"]/;
/** A token that continues an expression or a list. */
const operator = /^(and|or|\.\.|[=~<>]=|[-+*/%^<>([{.:,])$|^['"]/;

/**
 * The numbers of the constants of the scripts, by their names. The name of a constant is in capital letters, and it has the
 * same number wherever it is declared.
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
        const { text } = literals[i];
        if (!/^\d/.test(text)) return;
        declared.add(name);
        if ((values.get(name.text) ?? text) !== text) others.add(name.text);
        values.set(name.text, text);
      });
    tokens.forEach((token, i) => {
      const [before, after] = [tokens[i - 1]?.text, tokens[i + 1]?.text];
      const isSet = after === '=' || before === 'local' || (before === ',' && after === ',');
      if (isSet && !declared.has(token)) others.add(token.text);
    });
  }
  for (const name of others) values.delete(name);
  return values;
}

/**
 * A script with the numbers in the places of their constants: shorter, and without variables to be set in each call.
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
    const listOf = (list) => kept.map((i) => list[i].text).join(', ');
    const declaration = kept.length > 0 ? `local ${listOf(names)} = ${listOf(literals)}` : '';
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
    const names = listed(tokens, from + 1, constant);
    const equals = from + 2 * names.length;
    if (names.length === 0 || tokens[equals]?.text !== '=') return;
    const literals = listed(tokens, equals + 1, literal);
    const till = equals + 2 * literals.length;
    if (literals.length === names.length && !operator.test(tokens[till]?.text ?? ''))
      found.push({ from, till, names, literals });
  });
  return found;
}

/** Tokens like `wanted`, separated by commas. */
function listed(tokens, from, wanted) {
  const found = [];
  for (let at = from; wanted.test(tokens[at]?.text ?? ''); at += 2) {
    found.push(tokens[at]);
    if (tokens[at + 1]?.text !== ',') break;
  }
  return found;
}

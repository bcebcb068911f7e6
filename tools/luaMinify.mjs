import { innerVariables } from './luaScopes.mjs';
import { globals, tokensOf } from './luaTokens.mjs';

/**
 * The script with short names, and no more white space than it needs.
 *
 * @param {string} text
 * @param {ReturnType<typeof import('./luaNames.mjs').shortNames>} names
 */
export function minify(text, { inner, outer, fields }) {
  let last = '';
  const tokens = tokensOf(text);
  const isInner = innerVariables(tokens);
  const words = tokens.map((token) => {
    const { kind, text: word } = token;
    const names = { variable: isInner.has(token) ? inner : outer, field: fields }[kind];
    const next = names?.get(word) ?? word;
    if (kind === 'variable' && !globals.has(word) && !names.has(word))
      throw new Error(`${word} has no short name`);
    // `a b`, `1 ..`, `- -`: together they would be something else.
    const joins =
      (/\w$/.test(last) && /^\w/.test(next)) ||
      (/^\d/.test(last) && next.startsWith('.')) ||
      (/^[-.]$/.test(last.at(-1)) && next.startsWith(last.at(-1)));
    last = next;
    return joins ? ` ${next}` : next;
  });
  return words.join('');
}

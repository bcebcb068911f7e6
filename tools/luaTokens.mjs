/** The names that Redis and Lua give to a script. */
export const globals = new Set(
  `ARGV KEYS bit cjson cmsgpack error ipairs math next pairs pcall redis select setmetatable string struct table tonumber
  tostring type unpack`.split(/\s+/),
);
export const keywords = new Set(
  `and break do else elseif end false for function goto if in local nil not or repeat return then true until
  while`.split(/\s+/),
);
/** White space or a comment; a word; a string; a number; an operator. */
const token =
  /\s+|--[^\n]*|([A-Za-z_]\w*)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(\.\.\.?|[=~<>]=|[-+*/%^#<>=(){}[\];:,.])/gy;

/**
 * The tokens of a script, without white space and comments. Throws at what the scripts do not use, as long strings.
 *
 * @param {string} text
 * @returns {{ kind: 'variable' | 'field' | 'method' | 'string' | 'other', text: string, owner?: string }[]}
 */
export function tokensOf(text) {
  const found = [];
  const blocks = [];
  let end = 0;
  for (const { 0: all, 1: word, 2: string, index } of text.matchAll(token)) {
    if (/^--\[=*\[/.test(all) || /^\[=*\[/.test(text.slice(index, index + 9))) break;
    end = index + all.length;
    if (/^(\s|--)/.test(all)) continue;
    const [owner, before] = found.slice(-2);
    if (/^([({[]|function|do|if|repeat)$/.test(all)) blocks.push(all);
    if (/^([)}\]]|end|until)$/.test(all)) blocks.pop();
    if (string) found.push({ kind: 'string', text: all });
    else if (!word || keywords.has(word)) found.push({ kind: 'other', text: all });
    else if (before?.text === ':') found.push({ kind: 'method', text: all });
    else if (before?.text === '.') found.push({ kind: 'field', text: all, owner: owner.text });
    else if (blocks.at(-1) === '{' && /^[{,;]$/.test(before.text) && /^\s*=(?!=)/.test(text.slice(end)))
      found.push({ kind: 'field', text: all });
    else found.push({ kind: 'variable', text: all });
  }
  if (end < text.length) throw new Error(`Lua that is not known here: ${text.slice(end, end + 40)}`);
  return found;
}

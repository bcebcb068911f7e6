import { innerVariables } from './luaScopes.mjs';

/** The names that Redis and Lua give to a script. */
const globals = new Set(
  `ARGV KEYS bit cjson cmsgpack error ipairs math next pairs pcall redis select setmetatable string struct table tonumber
  tostring type unpack`.split(/\s+/),
);
const keywords = new Set(
  `and break do else elseif end false for function goto if in local nil not or repeat return then true until
  while`.split(/\s+/),
);
/** The fields of a reply of `redis.pcall`. */
const replyFields = ['err', 'ok'];
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

/**
 * Short names for the variables and fields of the scripts. One table serves all of them, since their parts follow each other:
 * a name is short in one way wherever it occurs, which compresses well. Variables inside blocks have few names: only those
 * that are in force together need different ones. Throws at a variable that no script declares.
 *
 * @param {string[]} texts every file of the scripts
 * @returns {Record<'inner' | 'outer' | 'fields', Map<string, string>>}
 */
export function shortNames(texts) {
  const kept = new Set(replyFields);
  /** How often each name is used. */
  const [inner, outer, fields] = [new Map(), new Map(), new Map()];
  /** For each variable inside a block, those that are in force with it somewhere. */
  const together = new Map();
  const add = (uses, name) => uses.set(name, (uses.get(name) ?? 0) + 1);
  const files = texts.map(tokensOf);
  const declared = new Set(files.flatMap(declaredIn));
  for (const tokens of files) {
    const isInner = innerVariables(tokens, (name, inForce) => {
      add(inner, name);
      for (const other of [name, ...inForce])
        together.set(other, new Set([...(together.get(other) ?? []), name, ...inForce]));
    });
    for (const token of tokens) {
      const { kind, text, owner } = token;
      if (kind === 'variable' && !declared.has(text) && !globals.has(text))
        throw new Error(`no script declares ${text}`);
      // A name of Lua's library; or a field that may be named by a string elsewhere.
      if (kind === 'method' || (owner && globals.has(owner))) kept.add(text);
      else if (kind === 'string') kept.add(text.slice(1, -1));
      else if (kind === 'field') add(fields, text);
      else if (kind === 'variable' && !globals.has(text) && !isInner.has(token)) add(outer, text);
    }
  }
  const taken = [...globals, ...keywords];
  const short = { inner: new Map(), outer: new Map(), fields: new Map() };
  for (const name of byUse(inner)) {
    const others = [...together.get(name)].map((other) => short.inner.get(other));
    short.inner.set(name, shortest([...taken, ...others])());
  }
  const nextOuter = shortest([...taken, ...short.inner.values()]);
  for (const name of byUse(outer)) short.outer.set(name, nextOuter());
  const nextField = shortest([...keywords, ...kept]);
  for (const name of byUse(fields)) if (!kept.has(name)) short.fields.set(name, nextField());
  return short;
}

/** The most used names first. */
function byUse(uses) {
  return [...uses].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([name]) => name);
}

/** Names that are not taken, the shortest first. */
function shortest(names) {
  const taken = new Set(names);
  const letters = 'etaoinsrhldcumfpgwybvkxjqzETAOINSRHLDCUMFPGWYBVKXJQZ';
  let count = 0;
  return () => {
    for (;;) {
      let name = '';
      for (let rest = count++; rest >= 0; rest = Math.floor(rest / letters.length) - 1)
        name = letters[rest % letters.length] + name;
      if (!taken.has(name)) return name;
    }
  };
}

/** The variables that tokens declare: after `local`, as parameters, in the head of a loop. */
function declaredIn(tokens) {
  const declared = [];
  tokens.forEach(({ text }, i) => {
    let at = i + 1;
    if (text === 'local' && tokens[at].text === 'function') at++;
    else if (text === 'function') while (tokens[at - 1].text !== '(') at++;
    else if (text !== 'local' && text !== 'for') return;
    for (; tokens[at].kind === 'variable'; at += 2) {
      declared.push(tokens[at].text);
      if (tokens[at + 1]?.text !== ',') return;
    }
  });
  return declared;
}

/**
 * The script with short names, and no more white space than it needs.
 *
 * @param {string} text
 * @param {ReturnType<typeof shortNames>} names
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

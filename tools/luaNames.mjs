import { innerVariables } from './luaScopes.mjs';
import { globals, keywords, tokensOf } from './luaTokens.mjs';

/** The fields of a reply of `redis.pcall`. */
const replyFields = ['err', 'ok'];

/**
 * Short names for the variables and fields of the scripts. One table serves all of them, since their parts follow each other:
 * a name is short in one way wherever it occurs, which compresses well. Two variables have the same short name where neither
 * hides the other: those inside blocks that are never in force together, or of which one is not used any more when the other
 * is declared; and those of a whole chunk that no script has together. Throws at a variable that no script declares.
 *
 * @param {string[][]} scripts the files of each script, which may share some
 * @returns {Record<'inner' | 'outer' | 'fields', Map<string, string>>}
 */
export function shortNames(scripts) {
  const kept = new Set(replyFields);
  /** How often each field is used. */
  const fields = new Map();
  const variables = { inner: new Map(), outer: new Map() };
  const variable = (place, name) => {
    const known = variables[place].get(name) ?? {
      place,
      name,
      uses: 0,
      apart: new Set(),
      scripts: new Set(),
    };
    variables[place].set(name, known);
    return known;
  };
  const files = new Map(scripts.flat().map((text) => [text, tokensOf(text)]));
  const declared = new Set([...files.values()].flatMap(declaredIn));
  /** By file: the scripts that it is a part of, each as the short names that its chunk's variables have. */
  const scriptsOf = new Map();
  for (const texts of scripts) {
    const taken = new Set();
    for (const text of texts) scriptsOf.set(text, [...(scriptsOf.get(text) ?? []), taken]);
  }
  for (const [file, tokens] of files) {
    innerVariables(tokens, ({ text: name }, isInner, hiding) => {
      if (globals.has(name)) return;
      const used = variable(isInner ? 'inner' : 'outer', name);
      used.uses++;
      if (!isInner) for (const script of scriptsOf.get(file)) used.scripts.add(script);
      for (const other of hiding.map((text) => variable('inner', text))) {
        used.apart.add(other);
        other.apart.add(used);
      }
    });
    for (const { kind, text, owner } of tokens) {
      if (kind === 'variable' && !declared.has(text) && !globals.has(text))
        throw new Error(`no script declares ${text}`);
      // A name of Lua's library; or a field that may be named by a string elsewhere.
      if (kind === 'method' || (owner && globals.has(owner))) kept.add(text);
      else if (kind === 'string') kept.add(text.slice(1, -1));
      else if (kind === 'field') fields.set(text, (fields.get(text) ?? 0) + 1);
    }
  }
  const short = { inner: new Map(), outer: new Map(), fields: new Map() };
  for (const { place, name, apart, scripts } of byUse([
    ...variables.inner.values(),
    ...variables.outer.values(),
  ])) {
    const others = new Set(Array.from(apart, (other) => short[other.place].get(other.name)));
    const isFree = (word) =>
      !globals.has(word) && !others.has(word) && ![...scripts].some((taken) => taken.has(word));
    const word = shortWords(isFree).next().value;
    short[place].set(name, word);
    for (const taken of scripts) taken.add(word);
  }
  const words = shortWords((word) => !kept.has(word));
  for (const { name } of byUse(Array.from(fields, ([name, uses]) => ({ name, uses }))))
    if (!kept.has(name)) short.fields.set(name, words.next().value);
  return short;
}

/** The most used first. */
function byUse(names) {
  return names.sort((a, b) => b.uses - a.uses || (a.name < b.name ? -1 : 1));
}

/** Words that are no keywords and pass a test, the shortest first. */
function* shortWords(isFree) {
  const letters = 'etaoinsrhldcumfpgwybvkxjqzETAOINSRHLDCUMFPGWYBVKXJQZ';
  for (let count = 0; ; count++) {
    let word = '';
    for (let rest = count; rest >= 0; rest = Math.floor(rest / letters.length) - 1)
      word = letters[rest % letters.length] + word;
    if (!keywords.has(word) && isFree(word)) yield word;
  }
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

const blockEnd = new Set(['end', 'else', 'elseif', 'until', undefined]);
const unary = new Set(['not', '-', '#']);
const binary = new Set('+ - * / % ^ .. < <= > >= == ~= and or'.split(' '));

/**
 * Returns the tokens that name the variables which a text declares inside its blocks and functions. Calls `visit` for each use
 * of a variable, of these and of the others, with the inner variables that would hide it there if they had its name.
 *
 * @param {{ kind: string, text: string }[]} tokens a whole chunk of Lua 5.1
 * @param {(token: { text: string }, isInner: boolean, hiding: readonly string[]) => void} visit
 */
export function innerVariables(tokens, visit = () => {}) {
  const found = new Set();
  let at = 0;
  /** The variables in force, the newest last, but for those of the chunk itself. */
  const inForce = [];
  let depth = 0;

  const text = () => tokens[at]?.text;
  const skip = (expected) => {
    if (text() !== expected) throw new Error(`Lua that is not known here: ${text()} in place of ${expected}`);
    at++;
  };
  const taken = (expected) => text() === expected && ++at > 0;

  const scope = (work) => {
    const { length } = inForce;
    depth++;
    work();
    depth--;
    inForce.length = length;
  };
  const declare = (token) => {
    if (depth > 0) inForce.push(token.text);
    use(token);
  };
  const use = (token) => {
    const declared = inForce.lastIndexOf(token.text);
    const isInner = declared >= 0;
    if (isInner) found.add(token);
    visit(token, isInner, inForce.slice(declared + 1));
  };

  const block = () => {
    while (!blockEnd.has(text())) statement();
  };
  const inner = () => scope(block);
  /** Names separated by commas. */
  const names = () => {
    const found = [tokens[at++]];
    while (taken(',')) found.push(tokens[at++]);
    return found;
  };
  const body = () =>
    scope(() => {
      skip('(');
      while (text() !== ')') {
        if (tokens[at].kind === 'variable') declare(tokens[at]);
        at++;
      }
      skip(')');
      block();
      skip('end');
    });

  const statement = () => {
    if (taken('local')) {
      if (taken('function')) {
        declare(tokens[at++]);
        body();
        return;
      }
      const declared = names();
      // Its own values do not see them.
      if (taken('=')) expressions();
      declared.forEach(declare);
    } else if (taken('function')) {
      use(tokens[at++]);
      // The name of a field, in `function algebra.roll()`.
      while (text() !== '(') at++;
      body();
    } else if (taken('for')) {
      const declared = names();
      if (!taken('=')) skip('in');
      expressions();
      skip('do');
      scope(() => {
        declared.forEach(declare);
        block();
      });
      skip('end');
    } else if (taken('while')) {
      expression();
      skip('do');
      inner();
      skip('end');
    } else if (taken('repeat'))
      scope(() => {
        block();
        skip('until');
        expression();
      });
    else if (taken('do')) {
      inner();
      skip('end');
    } else if (taken('if')) {
      do {
        expression();
        skip('then');
        inner();
      } while (taken('elseif'));
      if (taken('else')) inner();
      skip('end');
    } else if (taken('return')) {
      if (!blockEnd.has(text()) && text() !== ';') expressions();
    } else if (!taken('break') && !taken(';')) {
      do suffixed();
      while (taken(','));
      if (taken('=')) expressions();
    }
  };

  const expressions = () => {
    do expression();
    while (taken(','));
  };
  const expression = () => {
    do {
      while (unary.has(text())) at++;
      if (taken('function')) body();
      else if (text() === '{') table();
      else if (text() === '(' || tokens[at]?.kind === 'variable') suffixed();
      else at++;
    } while (binary.has(text()) && ++at);
  };
  const suffixed = () => {
    if (taken('(')) {
      expression();
      skip(')');
    } else if (tokens[at]?.kind === 'variable') use(tokens[at++]);
    else throw new Error(`Lua that is not known here: ${text()}`);
    for (;;) {
      if (taken('.') || taken(':')) at++;
      else if (taken('[')) {
        expression();
        skip(']');
      } else if (taken('(')) {
        if (text() !== ')') expressions();
        skip(')');
      } else if (text() === '{') table();
      else if (tokens[at]?.kind === 'string') at++;
      else return;
    }
  };
  const table = () => {
    skip('{');
    while (!taken('}')) {
      if (taken('[')) {
        expression();
        skip(']');
        skip('=');
      } else if (tokens[at].kind === 'field') {
        at++;
        skip('=');
      }
      expression();
      if (!taken(',')) taken(';');
    }
  };

  block();
  if (at < tokens.length) throw new Error(`Lua that is not known here: ${text()}`);
  return found;
}

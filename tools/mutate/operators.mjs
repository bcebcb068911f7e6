/** What a comparison is changed into: the bound belongs to the other side. */
export const comparisons = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '==': '~=',
  '~=': '==',
};

/** What an operator is changed into. */
export const swapped = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
  and: 'or',
  or: 'and',
};

/** What a function of `Math` is changed into. */
export const negated = { max: 'min', min: 'max', floor: 'ceil', ceil: 'floor' };

export const booleans = { true: 'false', false: 'true' };

/** What a number is changed into. */
export function numbers(text) {
  return String(Number(text.replaceAll('_', '')) + 1);
}

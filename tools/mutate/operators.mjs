/** The replacements of comparisons: the bound moves to the other side. */
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

/** The replacements of operators. */
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

/** The replacements of functions of `Math`. */
export const negated = { max: 'min', min: 'max', floor: 'ceil', ceil: 'floor' };

export const booleans = { true: 'false', false: 'true' };

/** The replacements of numbers. */
export function numbers(text) {
  return String(Number(text.replaceAll('_', '')) + 1);
}

/** A value as error messages show it: short, and with its type where that explains the error. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'bigint') return `${value}n (bigint)`;
  if (typeof value === 'symbol' || typeof value === 'function') return `a ${typeof value}`;
  if (value instanceof Promise) return 'a promise';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** The error of an argument: what was expected, and what was given. */
export function invalid(
  name: string,
  expected: string,
  value: unknown,
  Kind: typeof TypeError | typeof RangeError = TypeError,
): Error {
  return new Kind(`${name}: expected ${expected}, got ${show(value)}`);
}

/** Throws unless a value is a number in a range; NaN is out of every range. */
function number(
  name: string,
  value: unknown,
  expected: string,
  valid: (value: number) => boolean,
): asserts value is number {
  if (typeof value !== 'number') throw invalid(name, expected, value);
  if (!valid(value)) throw invalid(name, expected, value, RangeError);
}

export function positiveInteger(name: string, value: unknown): asserts value is number {
  number(name, value, 'a positive safe integer', (n) => Number.isSafeInteger(n) && n > 0);
}

/** A whole number from 0 to `most`. */
export function wholeUpTo(name: string, value: unknown, most: number): asserts value is number {
  number(
    name,
    value,
    most > 0 ? `a whole number from 0 to ${most}` : '0, as the request has none',
    (n) => Number.isSafeInteger(n) && n >= 0 && n <= most,
  );
}

/** A bound on a queue: a positive integer, or Infinity. */
export function positiveIntegerOrInfinity(name: string, value: unknown): asserts value is number {
  number(
    name,
    value,
    'a positive integer or Infinity',
    (n) => n === Infinity || (Number.isSafeInteger(n) && n > 0),
  );
}

/** A duration in milliseconds: may be fractional, 0 or Infinity. */
export function duration(name: string, value: unknown): asserts value is number {
  number(name, value, 'milliseconds, 0 or more', (n) => n >= 0);
}

/** The longest pause in milliseconds: about a century. */
const longestPause = 2 ** 42 - 1;

/** The length of a pause in milliseconds: finite, may be fractional or 0. */
export function pauseLength(name: string, value: unknown): asserts value is number {
  number(name, value, `milliseconds from 0 to ${longestPause}`, (n) => n >= 0 && n <= longestPause);
}

/** A fraction: above 0, at most 1. */
export function fraction(name: string, value: unknown): asserts value is number {
  number(name, value, 'a number above 0, at most 1', (n) => n > 0 && n <= 1);
}

export function oneOf<T extends string | boolean>(
  name: string,
  value: unknown,
  choices: readonly T[],
): asserts value is T {
  if (choices.includes(value as T)) return;
  const expected = choices.map((choice) => JSON.stringify(choice)).join(', ');
  throw invalid(
    name,
    `one of ${expected}`,
    value,
    typeof value === typeof choices[0] ? RangeError : TypeError,
  );
}

/** Throws unless options are an object without unknown options, which may be misspelt. */
export function options(given: unknown, known: readonly string[], name = 'options'): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(name, 'an object', given);
  for (const option of Object.keys(given))
    if (!known.includes(option))
      throw new TypeError(`${option}: no such option; expected one of ${known.join(', ')}`);
}

export function functionValue(name: string, value: unknown): void {
  if (typeof value !== 'function') throw invalid(name, 'a function', value);
}

export function nonEmptyString(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '')
    throw invalid(name, 'a non-empty string', value, value === '' ? RangeError : TypeError);
}

/** An AbortSignal, of this realm or another, or undefined. */
export function abortSignal(name: string, value: unknown): asserts value is AbortSignal | undefined {
  if (value === undefined || (hasMethods(value, ['addEventListener']) && 'aborted' in value)) return;
  throw invalid(name, 'an AbortSignal', value);
}

/** An object with the given methods; `expected` describes it in the message. */
export function methods(name: string, value: unknown, expected: string, names: readonly string[]): void {
  if (!hasMethods(value, names)) throw invalid(name, expected, value);
}

/** Whether a value is an object with these methods. */
export function hasMethods(value: unknown, names: readonly PropertyKey[]): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<PropertyKey, unknown>)[name] === 'function');
}

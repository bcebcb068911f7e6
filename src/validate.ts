/** A value as error messages show it: short, and with its type where that explains the error. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'bigint') return `${value}n (bigint)`;
  if (typeof value === 'symbol' || typeof value === 'function') return `a ${typeof value}`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** Throws unless a value is a number in a range; NaN is out of every range. */
function number(
  name: string,
  value: unknown,
  expected: string,
  valid: (value: number) => boolean,
): asserts value is number {
  if (typeof value !== 'number') throw new TypeError(`${name}: expected ${expected}, got ${show(value)}`);
  if (!valid(value)) throw new RangeError(`${name}: expected ${expected}, got ${value}`);
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
  const message = `${name}: expected one of ${expected}, got ${show(value)}`;
  throw typeof value === typeof choices[0] ? new RangeError(message) : new TypeError(message);
}

/** An options object or undefined. */
export function options(name: string, value: unknown): void {
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))) return;
  throw new TypeError(`${name}: expected an object, got ${show(value)}`);
}

/** Throws for an unknown option, which may be misspelt. */
export function knownOptions(given: object, known: readonly string[]): void {
  for (const option of Object.keys(given))
    if (!known.includes(option))
      throw new TypeError(`${option}: no such option; expected one of ${known.join(', ')}`);
}

export function functionValue(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name}: expected a function, got ${show(value)}`);
}

export function nonEmptyString(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string')
    throw new TypeError(`${name}: expected a non-empty string, got ${show(value)}`);
  if (value === '') throw new RangeError(`${name}: expected a non-empty string, got ""`);
}

/** An AbortSignal, of this realm or another, or undefined. */
export function abortSignal(name: string, value: unknown): asserts value is AbortSignal | undefined {
  if (value === undefined) return;
  const signal = value as Partial<AbortSignal> | null;
  if (
    typeof signal === 'object' &&
    signal !== null &&
    'aborted' in signal &&
    typeof signal.addEventListener === 'function'
  )
    return;
  throw new TypeError(`${name}: expected an AbortSignal, got ${show(value)}`);
}

/** An object with the given methods; `expected` describes it in the message. */
export function methods(name: string, value: unknown, expected: string, names: readonly string[]): void {
  const object = value as Record<string, unknown> | null;
  if (
    typeof object === 'object' &&
    object !== null &&
    names.every((method) => typeof object[method] === 'function')
  )
    return;
  throw new TypeError(`${name}: expected ${expected}, got ${show(value)}`);
}

import * as assert from 'uvu/assert';

/** An invalid value, its error, and how the message shows the value. */
export type Bad = readonly [value: unknown, error: typeof TypeError | typeof RangeError, shown: string];

export const missing: Bad = [undefined, TypeError, 'undefined'];

const noNumbers: readonly Bad[] = [
  ['5', TypeError, '"5"'],
  [null, TypeError, 'null'],
  [true, TypeError, 'true'],
  [5n, TypeError, '5n'],
  [{}, TypeError, 'an object'],
  [[5], TypeError, 'an array'],
  [() => 5, TypeError, 'a function'],
  [Symbol('5'), TypeError, 'a symbol'],
];

const badNumbers: readonly Bad[] = [
  [Number.NaN, RangeError, 'NaN'],
  [-1, RangeError, '-1'],
  [-Infinity, RangeError, '-Infinity'],
];

const badCounts: readonly Bad[] = [
  ...noNumbers,
  ...badNumbers,
  [0.5, RangeError, '0.5'],
  [2 ** 53, RangeError, '9007199254740992'],
];

export const noPositiveInteger: readonly Bad[] = [
  ...badCounts,
  [0, RangeError, '0'],
  [Infinity, RangeError, 'Infinity'],
];

export const noPositiveIntegerOrInfinity: readonly Bad[] = [...badCounts, [0, RangeError, '0']];

export const noDuration: readonly Bad[] = [...noNumbers, ...badNumbers];

export const noWholeNumber: readonly Bad[] = [...badCounts, [Infinity, RangeError, 'Infinity']];

export const noString: readonly Bad[] = [
  [5, TypeError, '5'],
  [null, TypeError, 'null'],
  [{}, TypeError, 'an object'],
  [Symbol('name'), TypeError, 'a symbol'],
];

export const noObject: readonly Bad[] = [
  [null, TypeError, 'null'],
  [5, TypeError, '5'],
  ['options', TypeError, '"options"'],
  [[], TypeError, 'an array'],
  [() => ({}), TypeError, 'a function'],
];

/** Whether the error has the type, and its message names the option, the expected and the actual value. */
export function assertSays(error: unknown, [, kind, shown]: Bad, option: string, expected: string): void {
  const said = error instanceof Error ? error.message : String(error);
  const hint = `${option} given ${shown}: ${said}`;
  assert.ok(error instanceof kind, hint);
  assert.ok(said.startsWith(`${option}: expected `), hint);
  assert.ok(said.includes(expected), hint);
  assert.ok(said.includes(`got ${shown}`), hint);
}

/** Calls the function with each of the values, and checks its error. */
export async function assertRefuses(
  call: (value: unknown) => unknown,
  values: readonly Bad[],
  option: string,
  expected: string,
): Promise<void> {
  for (const bad of values) {
    let error: unknown = 'nothing was thrown';
    try {
      await call(bad[0]);
    } catch (thrown) {
      error = thrown;
    }
    assertSays(error, bad, option, expected);
  }
}

/** The rejection of the promise. The call itself does not throw. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected a rejection');
}

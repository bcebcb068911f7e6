/** Invalid arguments of every way to acquire permits, and their errors. */
export const wrongAcquire: readonly [
  permits: unknown,
  options: unknown,
  type: typeof Error,
  message: string,
][] = [
  [0, undefined, RangeError, 'permits: expected a positive safe integer, got 0'],
  [-1, undefined, RangeError, 'permits: expected a positive safe integer, got -1'],
  [1.5, undefined, RangeError, 'permits: expected a positive safe integer, got 1.5'],
  [Number.NaN, undefined, RangeError, 'permits: expected a positive safe integer, got NaN'],
  ['1', undefined, TypeError, 'permits: expected a positive safe integer, got "1"'],
  [null, undefined, TypeError, 'permits: expected a positive safe integer, got null'],
  [1, null, TypeError, 'options: expected an object, got null'],
  [1, 100, TypeError, 'options: expected an object, got 100'],
  [1, { timeOut: 1 }, TypeError, 'timeOut: no such option; expected one of timeout, signal'],
  [1, { timeout: -1 }, RangeError, 'timeout: expected milliseconds, 0 or more, got -1'],
  [1, { timeout: Number.NaN }, RangeError, 'timeout: expected milliseconds, 0 or more, got NaN'],
  [1, { timeout: '1' }, TypeError, 'timeout: expected milliseconds, 0 or more, got "1"'],
  [1, { signal: null }, TypeError, 'signal: expected an AbortSignal, got null'],
  [1, { signal: {} }, TypeError, 'signal: expected an AbortSignal, got an object'],
  [1, { signal: true }, TypeError, 'signal: expected an AbortSignal, got true'],
];

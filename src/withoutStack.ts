/**
 * Makes an error without a stack trace. In the callback of a timer or a reply, a trace holds no frame of the caller, and
 * collecting it takes ten times as long as the rest of the error.
 */
export function withoutStack<E extends Error>(make: () => E): E {
  const { stackTraceLimit } = Error;
  // Unlike an assignment, this does not throw where the realm is frozen.
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return make();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
}

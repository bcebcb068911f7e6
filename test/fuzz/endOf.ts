import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';

/**
 * Milliseconds after which a call counts as hanging: a test's connection replies at once, but the machine may be busy.
 */
const hangs = 15_000;

/** The value of a call, its error, or 'a hang'. */
export async function endOf(call: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise((resolve) => {
    timer = setTimeout(resolve, hangs, 'a hang');
  });
  const ended = call.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  try {
    return await Promise.race([ended, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a call rejects with a StoreError. */
export async function assertStoreError(call: Promise<unknown>): Promise<void> {
  const end = await endOf(call);
  const shown = end instanceof Error ? `${end.name}: ${end.message}` : fc.stringify(end);
  assert.instance(end, StoreError, shown);
}

import assert from 'node:assert/strict';
import type { Comparison } from './againstIdeal.ts';

/** Asserts that clients keep at least a part of the ideal, with at least an index, at fewer than so many calls a permit. */
export function assertKept(
  { part, jain, calls }: Comparison,
  bounds: { part: number; jain?: number; calls: number },
): void {
  assert.ok(part >= bounds.part, `${part} of the ideal`);
  if (bounds.jain !== undefined) assert.ok(jain >= bounds.jain, `Jain's index is ${jain}`);
  assert.ok(calls < bounds.calls, `${calls} calls a permit`);
}

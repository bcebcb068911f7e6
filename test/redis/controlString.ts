import type { Control } from '../../src/stores/memory/control.ts';
import { specOf } from '../../src/stores/redis/spec.ts';

/** The control's state in a form for comparing Redis and memory. */
export interface ControlPicture {
  pausedSince: number;
  pausedUntil: number;
  liftedUntil: number;
  forgotten: number;
  changed: number;
  /** The stored limits, or the empty string. */
  spec: string;
}

/** Reads the string of `lua/ledger/control.lua`: six doubles, then a text with its length. */
export function readControl(control: Buffer | null): ControlPicture {
  if (!control) return { pausedSince: 0, pausedUntil: 0, liftedUntil: 0, forgotten: 0, changed: 0, spec: '' };
  const [version, pausedSince, pausedUntil, liftedUntil, forgotten, changed] = [0, 8, 16, 24, 32, 40].map(
    (at) => control.readDoubleLE(at),
  );
  if (version !== 2) throw new Error(`a control of version ${version}`);
  const spec = control.toString('utf8', 52);
  if (spec.length !== control.readUInt32LE(48))
    throw new Error('a control whose text has another length than it states');
  return { pausedSince, pausedUntil, liftedUntil, forgotten, changed, spec };
}

/** The string of a control with some of its fields. */
export function controlString(known: Partial<ControlPicture>): Buffer {
  const { pausedSince = 0, pausedUntil = 0, liftedUntil = 0, forgotten = 0, changed = 0, spec = '' } = known;
  const head = Buffer.alloc(52);
  for (const [i, n] of [2, pausedSince, pausedUntil, liftedUntil, forgotten, changed].entries())
    head.writeDoubleLE(n, i * 8);
  head.writeUInt32LE(Buffer.byteLength(spec), 48);
  return Buffer.concat([head, Buffer.from(spec)]);
}

/** The memory control in the same form. */
export function controlPicture({ limits, names, ...times }: Control): ControlPicture {
  return { ...times, spec: limits ? specOf(names, limits) : '' };
}

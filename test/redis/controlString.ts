import type { Control } from '../../src/stores/memory/control.ts';
import { specOf } from '../../src/stores/redis/spec.ts';

/** What holds for all clients, in a form in which that of Redis and that of the memory can be compared. */
export interface ControlPicture {
  pausedSince: number;
  pausedUntil: number;
  forgotten: number;
  /** The limits that are stored, or nothing. */
  spec: string;
}

/** Reads the string of `lua/ledger/control.lua`: four doubles, and a text after its length. */
export function readControl(control: Buffer | null): ControlPicture {
  if (!control) return { pausedSince: 0, pausedUntil: 0, forgotten: 0, spec: '' };
  const [version, pausedSince, pausedUntil, forgotten] = [0, 8, 16, 24].map((at) => control.readDoubleLE(at));
  if (version !== 1) throw new Error(`a control of version ${version}`);
  const spec = control.toString('utf8', 36);
  if (spec.length !== control.readUInt32LE(32)) throw new Error('a control with another text than it says');
  return { pausedSince, pausedUntil, forgotten, spec };
}

/** The same of the memory's control. */
export function controlPicture({ limits, ...times }: Control, names: readonly string[]): ControlPicture {
  return { ...times, spec: limits ? specOf(names, limits) : '' };
}

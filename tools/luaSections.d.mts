import type { LuaPart } from './lua.mjs';

export function sectionsOf(file: string, root: string): LuaPart[];

import type { ShortNames } from './luaNames.mjs';

export function minify(text: string, names: ShortNames): string;

import { fileURLToPath } from 'node:url';
import { scriptTexts } from '../../src/redisson/scripts.ts';
import { assemble } from '../../tools/lua.mjs';

const file = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The scripts with their own names and lines, for tests that change them. */
export const plainTexts = Object.fromEntries(
  Object.keys(scriptTexts).map((name) => {
    const path = fileURLToPath(new URL(`../../lua/redisson/${file(name)}.lua`, import.meta.url));
    return [name, assemble(path, undefined, { plain: true }).text];
  }),
) as typeof scriptTexts;

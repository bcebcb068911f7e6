import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A text for users, by its path from the root of the repository. */
export interface Page {
  path: string;
  text: string;
}

/** The README and the pages of docs/: the texts for users of the package. */
export const pages: readonly Page[] = [
  'README.md',
  ...readdirSync(`${root}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map(pageAt);

/** The page at a path. */
export function pageAt(path: string): Page {
  return { path, text: readFileSync(root + path, 'utf8') };
}

/** A TypeScript block of a page. */
export interface Example {
  page: string;
  /** The name in the comment before the block; undefined for a block without one. */
  name: string | undefined;
  code: string;
}

/** A block of a page that prints a file of the repository. */
export interface PrintedFile {
  page: string;
  file: string;
  code: string;
}

const filePattern = /<!-- file: (\S+) -->\n```\w+\n(.*?)\n```/gs;

/** Every file that the pages print. */
export const files: readonly PrintedFile[] = pages.flatMap(({ path, text }) =>
  Array.from(text.matchAll(filePattern), ([, file, code]): PrintedFile => ({ page: path, file, code })),
);

/** Every other TypeScript block of the pages. */
export const examples: readonly Example[] = pages.flatMap(({ path, text }) =>
  Array.from(
    text.replace(filePattern, '').matchAll(/(?:<!-- example: (\S+) -->\n)?```ts\n(.*?)\n```/gs),
    ([, name, code]): Example => ({ page: path, name, code }),
  ),
);

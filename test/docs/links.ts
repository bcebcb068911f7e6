import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Page, pageAt, root } from './pages.ts';

/** A relative link of a page. */
interface Link {
  target: string;
  anchor: string | undefined;
}

/** The files that npm packs regardless of `files`. */
const alwaysPacked = ['package.json', 'README.md', 'LICENSE'];
const { files } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { files: string[] };
const packed = [...alwaysPacked, ...files];

/**
 * The errors in the relative links of a page; empty if every target exists, in the package as well if the page is
 * packed.
 */
export function brokenLinks(page: Page): string[] {
  const inPackage = isPacked(page.path);
  return linksOf(page).flatMap(({ target, anchor }) => {
    const shown = `${page.path}: ${target}${anchor === undefined ? '' : `#${anchor}`}`;
    const path = target === '' ? page.path : posix.join(posix.dirname(page.path), target);
    if (!existsSync(root + path)) return [`${shown}: no such file`];
    if (inPackage && !isPacked(path)) return [`${shown}: not in the package`];
    if (anchor === undefined || anchorsOf(pageAt(path).text).has(anchor)) return [];
    return [`${shown}: no such heading`];
  });
}

/** The relative links of a page, outside its code. */
export function linksOf({ text }: Page): Link[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '');
  return Array.from(prose.matchAll(/\]\(([^)\s]*)\)/g), ([, link]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [target, anchor] = link.split('#') as [string, string | undefined];
      return { target, anchor };
    });
}

/** The faults of the links to other sites of a page: each has to be an address of the web, with a host that has a dot. */
export function wrongAddresses({ path, text }: Page): string[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([a-z]+:[^)]*)\)/gi), ...prose.matchAll(/<([a-z]+:\/\/[^>]*)>/gi)];
  return links
    .map(([, link]) => link)
    .filter((link) => !/^https:\/\/([\w-]+\.)+[a-z]{2,}(:\d+)?(\/[^\s"<>]*)?$/.test(link))
    .map((link) => `${path}: ${link}`);
}

/** The anchors of a page's headings, as GitHub and npm name them. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutBlocks(text).matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The text without its blocks of code. */
export function withoutBlocks(text: string): string {
  return text.replace(/^```.*?^```/gms, '');
}

function isPacked(path: string): boolean {
  return packed.some((entry) => path === entry || path.startsWith(`${entry}/`));
}

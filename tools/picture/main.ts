// Makes the picture of the README, for light and dark pages: `npm run picture`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pictures } from './pictures.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
mkdirSync(`${root}docs/images`, { recursive: true });
for (const { file, svg } of pictures()) {
  writeFileSync(root + file, svg);
  console.log(file);
}

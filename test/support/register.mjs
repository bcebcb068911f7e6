// Lets Node run the sources as they are: TypeScript through tsx, `.lua` imports as the text the build would inline, and
// the package by its own name.
import { register } from 'node:module';
import { register as registerTypeScript } from 'tsx/esm/api';

registerTypeScript();
register('./source-hook.mjs', import.meta.url);

// Lets Node run the sources as they are: TypeScript through tsx, and `.lua` imports as the text the build would inline.
import { register } from 'node:module';
import { register as registerTypeScript } from 'tsx/esm/api';

registerTypeScript();
register('./lua-hook.mjs', import.meta.url);

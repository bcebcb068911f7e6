// Lets Node run the sources as they are: TypeScript, `.lua` imports as the text the build would inline, and the package by its
// own name.
import { register } from 'node:module';

process.setSourceMapsEnabled(true);
register('./source-hook.mjs', import.meta.url);

// Builds the playground as a folder that any web server can serve: `npm run playground:build`.
import { build } from 'esbuild';
import { bundle, outputFolder } from './bundle.ts';

await build(bundle);
console.log(outputFolder);

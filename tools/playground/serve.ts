// Serves the playground on this machine, built anew with each request: `npm run playground`, with PORT for another port.
import { context } from 'esbuild';
import { bundle, outputFolder } from './bundle.ts';

const site = await context(bundle);
const { PORT } = process.env;
const { port } = await site.serve({
  host: '127.0.0.1',
  servedir: outputFolder,
  ...(PORT && { port: Number(PORT) }),
});
console.log(`http://127.0.0.1:${port}/`);

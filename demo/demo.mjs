// Calls an API that allows 20 calls a second: first as fast as possible, then through the limiter. With Redis, given by
// REDIS_URL or started by the demo, three processes share one limit.
import { build } from './build.mjs';

const say = (text) => console.log(text);

// The demo always ends.
setTimeout(() => fail(new Error('the demo did not end in time')), 60_000).unref();
// Ends when its output is closed, by `head` for example.
process.stdout.on('error', (error) => (error.code === 'EPIPE' ? process.exit() : fail(error)));
try {
  await build(say);
  const { run } = await import('./run.mjs');
  process.exitCode = (await run(say)) ? 0 : 1;
} catch (error) {
  fail(error);
}

function fail(error) {
  console.error(`demo: ${error.message}`);
  process.exit(1);
}

// An API that allows 20 calls a second, and a list to call it for: first as fast as it goes, then through the limiter.
// Over Redis, the one of REDIS_URL or one that it starts, three processes do it together, and share one limit.
import { build } from './build.mjs';

const say = (text) => console.log(text);

// It ends, whatever happens.
setTimeout(() => fail(new Error('the demo did not end in time')), 60_000).unref();
// A reader that has seen enough, as `head` has, ends it.
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

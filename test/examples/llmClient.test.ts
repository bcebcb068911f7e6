import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { accountLimits, type Completion, llmClient, type Prompt } from '../../examples/llm-client.ts';
import { RateLimiter } from '../../src/index.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const limiterOf = () =>
  new RateLimiter({ name: 'llm', limit: accountLimits({ requests: 3, tokens: 1_000 }) });
const left = (limiter: RateLimiter<'requests' | 'tokens'>) => limiter.availablePermits({ detail: true });

/** A prompt of 100 tokens. */
const promptOf = (maxTokens: number, signal?: AbortSignal): Prompt => ({
  prompt: 'four'.repeat(100),
  maxTokens,
  signal,
});
/** In place of a provider. */
const counting = (usedTokens: number) => async (): Promise<Completion> => ({ text: '…', usedTokens });

timed('tokens that a call has not used are available to a waiting one', async (clock) => {
  const limiter = limiterOf();
  const complete = llmClient(limiter, counting(150));
  const started = performance.now();
  const fates = [400, 700].map((maxTokens) => fateOf(complete(promptOf(maxTokens))));
  await clock.tickAsync(100);
  for (const at of times(fates)) assert.ok(at! - started < 100);
  assert.equal(await left(limiter), { requests: 1, tokens: 700 });
});

timed('tokens beyond the estimate delay the next call', async (clock) => {
  const complete = llmClient(limiterOf(), counting(900));
  const started = performance.now();
  await complete(promptOf(400));
  const next = fateOf(complete(promptOf(400)));
  await clock.tickAsync(70_000);
  assert.is(Math.floor((next.at! - started) / 1_000), 61);
});

timed('the limit of requests applies as well', async (clock) => {
  const complete = llmClient(limiterOf(), counting(1));
  const started = performance.now();
  const fates = [1, 1, 1, 1].map((maxTokens) => fateOf(complete(promptOf(maxTokens))));
  await clock.tickAsync(70_000);
  const seconds = times(fates).map((at) => Math.floor((at! - started) / 1_000));
  assert.equal(seconds, [0, 0, 0, 61]);
});

test('a call that the provider rejects is charged for its prompt only', async () => {
  const limiter = limiterOf();
  const overloaded = Object.assign(new Error('overloaded'), { status: 529 });
  const complete = llmClient(limiter, () => Promise.reject(overloaded));
  const error = await complete(promptOf(700)).catch((reason) => reason);
  assert.is(error.message, 'overloaded');
  assert.equal(await left(limiter), { requests: 2, tokens: 900 });
});

test('a call without a response keeps its estimate', async () => {
  const limiter = limiterOf();
  const complete = llmClient(limiter, () => Promise.reject(new Error('aborted')));
  const error = await complete(promptOf(700)).catch((reason) => reason);
  assert.is(error.message, 'aborted');
  assert.equal(await left(limiter), { requests: 2, tokens: 200 });
});

timed('a signal ends a waiting call, which is then not charged', async (clock) => {
  const limiter = limiterOf();
  const complete = llmClient(limiter, counting(1_000));
  await complete(promptOf(900));
  const user = new AbortController();
  const waiting = fateOf(complete(promptOf(100, user.signal)));
  await clock.tickAsync(1_000);
  user.abort('the user has left');
  await clock.tickAsync(1);
  assert.is(waiting.reason as unknown, 'the user has left');
  assert.equal(await left(limiter), { requests: 2, tokens: 0 });
});

test.run();

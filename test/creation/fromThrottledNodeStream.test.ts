import { createReadStream, type ReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Subscription, take } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromThrottled, memoryStore, RateLimiter, RateLimiterGroup, slidingWindow } from '../../src/index.ts';
import { collectGarbage } from '../support/garbage.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle } from '../support/marbles.ts';
import { until } from '../support/until.ts';

const test = suite('fromThrottled, a Node stream');
const five = slidingWindow({ permits: 5, interval: 100_000, resolution: 1 });
const thisFile = fileURLToPath(import.meta.url);
const missing = `${thisFile}.missing`;

/** A limiter whose store replies a turn of the event loop later, like Redis. */
const far = () => new RateLimiter({ name: 'api', limit: five, store: lateStore(memoryStore(), 'redis') });

/** The notifications of a subscription to an input. */
function listen(input: AsyncIterable<unknown>, limiter: RateLimiter, values = Infinity) {
  const said: unknown[] = [];
  const subscription = fromThrottled(input, limiter)
    .pipe(take(values))
    .subscribe({
      next: (value) => said.push(value),
      error: (error) => said.push(error.code ?? error.message),
      complete: () => said.push('complete'),
    });
  return { said, subscription };
}

async function closed(...streams: Pick<Readable, 'closed'>[]): Promise<void> {
  await until('all are closed', async () => streams.every(({ closed }) => closed), { every: 1 });
}

async function assertLeft(limiter: RateLimiter, permits: number): Promise<void> {
  await answered();
  assertIdle(limiter);
  assert.is(await limiter.availablePermits(), permits);
}

test('its values come in order, each on a permit, and then its end', async () => {
  const limiter = far();
  const { said } = listen(Readable.from(['a', 'b', 'c']), limiter);
  await until('it has ended', async () => said.includes('complete'), { every: 1 });
  assert.equal(said, ['a', 'b', 'c', 'complete']);
  await assertLeft(limiter, 2);
});

test('an error before the first permit is an error of the subscription, and charges nothing', async () => {
  const limiter = far();
  await limiter.acquire(5);
  const stream = createReadStream(missing);
  const { said } = listen(stream, limiter);
  await until('it has failed', async () => said.length > 0, { every: 1 });
  await closed(stream);
  assert.equal(said, ['ENOENT']);
  await assertLeft(limiter, 0);
});

test('its error does not wait for a permit', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  await limiter.acquire(5);
  const stream = new Readable({ read() {} });
  const { said } = listen(stream, limiter);
  assert.is(limiter.stats().reserved + limiter.stats().queued, 1);
  stream.destroy(new Error('broken'));
  await until('it has failed', async () => said.length > 0, { every: 1 });
  assert.equal(said, ['broken']);
  assertIdle(limiter);
});

test('values that were pulled are emitted before its error', async () => {
  for (const limiter of [far(), new RateLimiter({ name: 'api', limit: five })]) {
    let part = 0;
    const stream = new Readable({
      objectMode: true,
      read() {
        if (++part <= 2) this.push(part);
        else this.destroy(new Error('broken'));
      },
      highWaterMark: 1,
    });
    const { said } = listen(stream, limiter);
    await until('it has failed', async () => said.includes('broken'), { every: 1 });
    assert.equal(said.slice(-1), ['broken']);
    assert.equal(said.slice(0, -1), [1, 2].slice(0, said.length - 1));
    await assertLeft(limiter, 5 - (said.length - 1));
  }
});

test('an error that is only an event ends it, and closes a stream without autoDestroy', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  await limiter.acquire(5);
  const stream = new Readable({ autoDestroy: false, read() {} });
  const { said } = listen(stream, limiter);
  stream.emit('error', new Error('broken'));
  assert.equal(said, ['broken']);
  await closed(stream);
});

for (const [event, make] of [
  ['that destroys it', () => createReadStream(missing)],
  [
    'that is only an event',
    () => {
      const stream = new Readable({ autoDestroy: false, read() {} });
      setImmediate(() => stream.emit('error', Object.assign(new Error('broken'), { code: 'ENOENT' })));
      return stream;
    },
  ],
] as const)
  test(`an error before the subscription, ${event}, is that of the first subscription, at once`, async () => {
    const limiter = new RateLimiter({ name: 'api', limit: five });
    await limiter.acquire(5);
    const group = new RateLimiterGroup({ name: 'group', limit: five });
    for (const throttle of [
      (stream: Readable) => fromThrottled(stream, limiter),
      (stream: Readable) => fromThrottled(stream, group, { key: String }),
    ]) {
      const stream = make();
      let events = 0;
      stream.once('error', () => events++);
      const values = throttle(stream);
      // A second call for the same stream adds no listener.
      throttle(stream);
      assert.is(stream.listenerCount('error'), 2);
      await until('it has failed', async () => events > 0, { every: 1 });
      const said: unknown[] = [];
      values.subscribe({ error: ({ code }) => said.push(code) });
      assert.equal(said, ['ENOENT']);
      await closed(stream);
      await until('no listener is left', async () => stream.listenerCount('error') === 0, { every: 1 });
    }
    assertIdle(limiter);
  });

test('an error before the subscription is that of one subscription only', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  await limiter.acquire(5);
  const stream = createReadStream(missing);
  const values = fromThrottled(stream, limiter);
  await closed(stream);
  const said: unknown[] = [];
  const second = new Subscription();
  const error = ({ code }: { code: string }) => {
    said.push(code);
    if (said.length === 1) second.add(values.subscribe({ error }));
  };
  values.subscribe({ error });
  // The second one waits for a permit.
  assert.equal(said, ['ENOENT']);
  second.unsubscribe();
  assertIdle(limiter);
});

test('a call with an invalid argument does not listen to it', () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const group = new RateLimiterGroup({ name: 'group', limit: five });
  const stream = new Readable({ read() {} });
  const before = stream.eventNames().length;
  assert.throws(() => fromThrottled(stream, limiter, { maxAge: -1 }));
  assert.throws(() => fromThrottled(stream, group, { key: String, buffer: 0 }));
  assert.is(stream.eventNames().length, before);
});

test('one that is never subscribed to is not kept alive', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const left = (() => {
    const stream = new Readable({ read() {} });
    fromThrottled(stream, limiter);
    return new WeakRef(stream);
  })();
  await answered();
  collectGarbage();
  assert.is(left.deref(), undefined);
});

test('unsubscribing before the first permit closes it, and no descriptor stays open', async () => {
  const limiter = far();
  await limiter.acquire(5);
  const streams: ReadStream[] = [];
  for (let i = 0; i < 50; i++) {
    const stream = createReadStream(thisFile);
    streams.push(stream);
    listen(stream, limiter).subscription.unsubscribe();
  }
  await closed(...streams);
  await assertLeft(limiter, 0);
});

test('unsubscribing during a pending read closes it at once, and refunds the permit', async () => {
  const limiter = far();
  const stream = new Readable({ read() {} });
  const { said, subscription } = listen(stream, limiter);
  await until('it is read', async () => stream.listenerCount('readable') > 0, { every: 1 });
  subscription.unsubscribe();
  assert.ok(stream.destroyed);
  await closed(stream);
  assert.equal(said, []);
  await assertLeft(limiter, 5);
});

test('a consumer that unsubscribes closes it', async () => {
  const limiter = far();
  const stream = createReadStream(thisFile, { highWaterMark: 16 });
  const { said } = listen(stream, limiter, 2);
  await closed(stream);
  assert.is(said.length, 3);
  await assertLeft(limiter, 3);
});

test('an error after unsubscription is ignored', async () => {
  const limiter = far();
  const opening = createReadStream(missing);
  const failing = new Readable({ read() {}, destroy: (_, done) => done(new Error('will not close')) });
  const streams = [opening, failing];
  const said = streams.map((stream) => {
    const { said, subscription } = listen(stream, limiter);
    subscription.unsubscribe();
    return said;
  });
  await closed(...streams);
  assert.equal(said, [[], []]);
  await assertLeft(limiter, 5);
});

test('no listener is left after it is closed', async () => {
  const limiter = far();
  const stream = new Readable({ read() {} });
  const before = stream.listenerCount('close');
  const { subscription } = listen(stream, limiter);
  assert.is(stream.listenerCount('error'), 1);
  subscription.unsubscribe();
  const ours = () => stream.listenerCount('error') + stream.listenerCount('close') - before;
  await until('none is left', async () => ours() === 0, { every: 1 });
});

test.run();

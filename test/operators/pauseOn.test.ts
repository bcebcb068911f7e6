import { EMPTY, from, NEVER, of, range, Subject, take, throwError } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryStore, pauseOn, RateLimiter, slidingWindow, throttleDistributed } from '../../src/index.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const limit = slidingWindow({ permits: 10, interval: 1000 });
const open = () => new RateLimiter({ name: 'api', limit });

/** The notifications of a stream, each with its time. */
function listen<T>(stream: import('rxjs').Observable<T>): unknown[][] {
  const received: unknown[][] = [];
  const note = (...said: unknown[]) => received.push([performance.now(), ...said]);
  stream.subscribe({
    next: (value) => note(value),
    error: (error) => note('error', error),
    complete: () => note('end'),
  });
  return received;
}

timed('a value can pause the fleet at once, and passes', async (clock) => {
  const limiter = open();
  const source = new Subject<number>();
  const received = listen(source.pipe(pauseOn(limiter, (value) => (value === 2 ? 500 : undefined))));
  source.next(1);
  assert.is(await limiter.tryAcquire(), true);
  source.next(2);
  const held = fateOf(limiter.acquire());
  assert.is(await limiter.tryAcquire(), false);
  await clock.tickAsync(2000);
  assert.equal(received, [
    [0, 1],
    [0, 2],
  ]);
  assert.equal(times([held]), [500]);
});

timed('the pause applies to values that follow in the same turn', async (clock) => {
  const limiter = open();
  const stream = from(['a', 'wait', 'b', 'c']).pipe(
    throttleDistributed(limiter),
    pauseOn(limiter, (value) => (value === 'wait' ? 3000 : 0)),
  );
  const received = listen(stream);
  await clock.tickAsync(5000);
  assert.equal(received, [
    [0, 'a'],
    [0, 'wait'],
    [3000, 'b'],
    [3000, 'c'],
    [3000, 'end'],
  ]);
});

timed('an error can pause the fleet, and passes', async (clock) => {
  const limiter = open();
  const busy = new Error('429');
  const kinds: string[] = [];
  const selector = (signal: unknown, kind: string) => {
    kinds.push(kind);
    return signal === busy ? 700 : null;
  };
  const received = listen(throwError(() => busy).pipe(pauseOn(limiter, selector)));
  const held = fateOf(limiter.acquire());
  await clock.tickAsync(2000);
  assert.equal(received, [[0, 'error', busy]]);
  assert.equal(kinds, ['error']);
  assert.equal(times([held]), [700]);
});

timed('max bounds the result of the selector', async (clock) => {
  const limiter = open();
  listen(of('x').pipe(pauseOn(limiter, () => Infinity, { max: 250 })));
  const held = fateOf(limiter.acquire());
  await clock.tickAsync(1000);
  assert.equal(times([held]), [250]);
});

timed('of two pauses the one that ends later counts', async (clock) => {
  const limiter = open();
  listen(of(900, 100).pipe(pauseOn(limiter, (ms) => ms)));
  const held = fateOf(limiter.acquire());
  await clock.tickAsync(1000);
  assert.equal(times([held]), [900]);
});

test('an invalid result of the selector ends the stream, with an error that explains it', () => {
  for (const [answer, type] of [
    [-1, RangeError],
    [NaN, RangeError],
    [Infinity, RangeError],
    ['5', TypeError],
    [{}, TypeError],
  ] as const) {
    const received = listen(of('x').pipe(pauseOn(open(), () => answer as number)));
    assert.is(received.length, 1);
    assert.instance(received[0][2], type);
    assert.match((received[0][2] as Error).message, /^selector: expected milliseconds/);
  }
  const [[, , error]] = listen(of('x').pipe(pauseOn(open(), () => '9' as unknown as number, { max: 5 })));
  assert.instance(error, TypeError);
});

test('an invalid result for an error keeps the error of the source as the cause', () => {
  const failed = new TypeError('fetch failed');
  const [[, , error]] = listen(throwError(() => failed).pipe(pauseOn(open(), () => NaN)));
  assert.instance(error, RangeError);
  assert.is((error as Error).cause, failed);
});

test('an error of the selector ends the stream, in place of the error of the source', () => {
  const thrown = new Error('oops');
  const selector = () => {
    throw thrown;
  };
  for (const source of [of(1), throwError(() => new Error('other'))])
    assert.is(listen(source.pipe(pauseOn(open(), selector)))[0][2], thrown);
});

test('an error that the selector throws for an error has that one as its cause', () => {
  const failed = new Error('fetch failed');
  const thrownBy = (selector: (error: unknown) => number) =>
    listen(throwError(() => failed).pipe(pauseOn(open(), selector)))[0][2];
  // biome-ignore lint/suspicious/noExplicitAny: a selector that expects a response
  const misled = thrownBy((error: any) => error.headers.length);
  assert.instance(misled, TypeError);
  assert.is((misled as Error).cause, failed);

  const own = new Error('own', { cause: 'another' });
  const selectors = [own, failed, 'a text'].map((thrown) => () => {
    throw thrown;
  });
  assert.equal(selectors.map(thrownBy), [own, failed, 'a text']);
  assert.is(own.cause, 'another');
  assert.is(failed.cause, undefined);
});

test('an error that the selector throws for a value has no cause', () => {
  const selector = () => {
    throw new Error('oops');
  };
  assert.is((listen(of(1).pipe(pauseOn(open(), selector)))[0][2] as Error).cause, undefined);
});

timed('a pause that cannot be stored does not affect the stream, and is an event', async (clock) => {
  const failure = new Error('away');
  const inner = memoryStore();
  const store = {
    open: (config: Parameters<typeof inner.open>[0]) =>
      ledgerWith(inner.open(config), {
        pause: (_: number, reply: (error: Error) => void) => reply(failure),
      }),
  };
  const limiter = new RateLimiter({ name: 'api', limit, store });
  const errors: unknown[] = [];
  limiter.events$.subscribe((event) => event.type === 'error' && errors.push(event.error));
  const received = listen(of(1, 2).pipe(pauseOn(limiter, () => 100)));
  assert.is(await limiter.tryAcquire(), true);
  await clock.tickAsync(10);
  assert.equal(
    received.map(([, what]) => what),
    [1, 2, 'end'],
  );
  assert.is(errors[0], failure);
});

test('a consumer that unsubscribes stops a synchronous source', () => {
  let asked = 0;
  const source = range(0, 1000).pipe(
    pauseOn(open(), () => void asked++ as undefined),
    take(3),
    toArray(),
  );
  source.subscribe((values) => assert.equal(values, [0, 1, 2]));
  assert.is(asked, 3);
});

test('invalid arguments are refused', () => {
  const limiter = open();
  assert.throws(
    () => pauseOn({} as RateLimiter, () => 1),
    /^limiter: expected a RateLimiter or group\.get\(\), got an object/,
  );
  assert.throws(() => pauseOn(limiter, 5 as never), /^selector: expected a function/);
  assert.throws(() => pauseOn(limiter, () => 1, { max: -1 }), /^max: expected milliseconds/);
  assert.throws(() => pauseOn(limiter, () => 1, { most: 1 } as never), /most/);
  for (const source of [EMPTY, NEVER])
    assert.not.throws(() => listen(source.pipe(pauseOn(limiter, () => 1))));
});

test.run();

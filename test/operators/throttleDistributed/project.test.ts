import { config, Subject, takeUntil } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Permit, slidingWindow, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, project');

test(
  'project receives each value with its permit when that is granted',
  marbles(({ cold, limiter, expectObservable }) => {
    const project = (value: string, { permits, waited, grantedAt, source }: Permit<unknown>) => ({
      value,
      permits,
      waited,
      grantedAt,
      source,
    });
    const result = cold('ab|').pipe(throttleDistributed(limiter(onePerThree), { project }));
    expectObservable(result).toBe('a--(b|)', {
      a: { value: 'a', permits: 1, waited: 0, grantedAt: 0, source: 'memory' },
      b: { value: 'b', permits: 1, waited: 2, grantedAt: 3, source: 'memory' },
    });
  }),
);

test(
  'the permit has the permits in the form of the request',
  marbles(({ cold, limiter, expectObservable }) => {
    const tokens = tokenBucket({ permits: 10, interval: 10 });
    const options = {
      permits: (value: string) => ({ tokens: value === 'a' ? 3 : 5 }),
      project: (_: string, { permits }: Permit<unknown>) => permits,
    };
    const result = cold('ab|').pipe(throttleDistributed(limiter({ tokens }), options));
    expectObservable(result).toBe('ab|', { a: { tokens: 3 }, b: { tokens: 5 } });
  }),
);

test(
  'the result of project is emitted unchanged, undefined too',
  marbles(({ cold, limiter, expectObservable }) => {
    const project = () => undefined;
    const result = cold('a|').pipe(throttleDistributed(limiter(onePerThree), { project }));
    expectObservable(result).toBe('a|', { a: undefined });
  }),
);

test(
  'a refunded permit lets a later value come earlier',
  marbles(({ cold, limiter, expectObservable }) => {
    const project = (value: string, permit: Permit<unknown>) => {
      if (value === 'a') void permit.refund();
      return value;
    };
    const source = cold('abc|');
    const expected = '   ab--(c|)';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), { project }))).toBe(expected);
  }),
);

test(
  'a part of a permit can be refunded',
  marbles(({ cold, limiter, expectObservable }) => {
    const limit = tokenBucket({ permits: 1, interval: 3, burst: 4 });
    const project = (value: string, permit: Permit<unknown>) => {
      if (value === 'a') void permit.refund(3);
      return value;
    };
    const source = cold('ab|');
    const expected = '   a--(b|)';
    const options = { permits: 4, project };
    expectObservable(source.pipe(throttleDistributed(limiter(limit), options))).toBe(expected);
  }),
);

test(
  'only the first refund of a permit counts',
  marbles(({ cold, limiter, expectObservable }) => {
    const limit = tokenBucket({ permits: 1, interval: 10, burst: 2 });
    const project = (value: string, permit: Permit<unknown>) => {
      if (value === 'b') for (let i = 0; i < 2; i++) void permit.refund();
      return value;
    };
    const source = cold('(abcd|)');
    const expected = '   (abc)-----(d|)';
    expectObservable(source.pipe(throttleDistributed(limiter(limit), { project }))).toBe(expected);
  }),
);

test(
  'an error of project is an error of the stream, and its permit is refunded',
  marbles(async ({ limiter }) => {
    const limited = limiter(onePerThree);
    const source = new Subject<string>();
    const errors: unknown[] = [];
    const project = () => {
      throw 'error';
    };
    source
      .pipe(throttleDistributed(limited, { project }))
      .subscribe({ error: (error) => errors.push(error) });
    source.next('a');
    assert.equal(errors, ['error']);
    assert.not(source.observed);
    assert.is(await limited.availablePermits(), 1);
  }),
);

test(
  'a project that unsubscribes emits nothing, and its permit is refunded',
  marbles(async ({ limiter }) => {
    const limited = limiter(onePerThree);
    const source = new Subject<string>();
    const leave = new Subject<void>();
    const inVain: unknown[] = [];
    config.onStoppedNotification = ({ kind }) => inVain.push(kind);
    try {
      const project = () => leave.next();
      source.pipe(throttleDistributed(limited, { project }), takeUntil(leave)).subscribe();
      source.next('a');
    } finally {
      config.onStoppedNotification = null;
    }
    assert.equal(inVain, []);
    assert.is(await limited.availablePermits(), 1);
  }),
);

for (const [what, end] of Object.entries({
  throws: () => {
    throw 'error';
  },
  unsubscribes: (leave: Subject<void>) => leave.next(),
}))
  test(
    `a permit is not refunded twice by a project that refunds it and then ${what}`,
    marbles(async ({ limiter }) => {
      const limited = limiter(slidingWindow({ permits: 2, interval: 3 }));
      const source = new Subject<string>();
      const leave = new Subject<void>();
      const project = (value: string, permit: Permit) => {
        if (value === 'a') return;
        void permit.refund();
        end(leave);
      };
      source.pipe(throttleDistributed(limited, { project }), takeUntil(leave)).subscribe({ error: () => {} });
      for (const value of ['a', 'b']) source.next(value);
      // That of the first value is in use.
      assert.is(await limited.availablePermits(), 1);
    }),
  );

test.run();

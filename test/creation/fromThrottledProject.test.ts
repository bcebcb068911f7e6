import { config, Subject, takeUntil } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromThrottled, type Permit, tokenBucket } from '../../src/index.ts';
import { marbles, onePerThree } from '../support/marbles.ts';
import { watched } from './inputs.ts';

const test = suite('fromThrottled, project');
const burstOfFive = tokenBucket({ permits: 1, interval: 1_000, burst: 5 });

test(
  'it receives each value and its permit, and its result is emitted',
  marbles(({ limiter, expectObservable }) => {
    const project = (value: string, { grantedAt, waited, source }: Permit) =>
      `${value} ${grantedAt} ${waited} ${source}`;
    const values = { a: 'x 0 0 memory', b: 'y 3 3 memory' };
    const limited = limiter(onePerThree);
    expectObservable(fromThrottled('xy', limited, { project })).toBe('a--b--|', values);
  }),
);

test(
  'the permits that it refunds are available for the next value',
  marbles(async ({ limiter, expectObservable, flush }) => {
    const limited = limiter(tokenBucket({ permits: 1, interval: 3, burst: 2 }));
    const project = (value: string, permit: { refund(unused: number): unknown }) => {
      permit.refund(1);
      return value;
    };
    expectObservable(fromThrottled('xy', limited, { permits: 2, project })).toBe('x--y--|');
    flush();
  }),
);

test(
  'an error that it throws is an error of the stream, which closes the input; the value is not charged',
  marbles(async ({ limiter, expectObservable, flush }) => {
    const limited = limiter(burstOfFive);
    const input = watched('abc');
    const error = new Error('cannot');
    const project = (value: string) => {
      if (value === 'b') throw error;
      return value;
    };
    expectObservable(fromThrottled(input, limited, { project })).toBe('(a#)', undefined, error);
    flush();
    assert.equal([input.pulled, input.returned], [2, 1]);
    assert.is(await limited.availablePermits(), 4);
  }),
);

test(
  'if it unsubscribes, nothing is emitted or charged',
  marbles(async ({ limiter, flush }) => {
    const limited = limiter(burstOfFive);
    const input = watched('abc');
    const leave = new Subject<void>();
    const got: string[] = [];
    const project = (value: string) => {
      leave.next();
      return value;
    };
    const inVain = sinon.fake();
    config.onStoppedNotification = inVain;
    try {
      fromThrottled(input, limited, { project })
        .pipe(takeUntil(leave))
        .subscribe((value) => got.push(value));
      flush();
    } finally {
      config.onStoppedNotification = null;
    }
    assert.equal([got.length, input.pulled, input.returned, inVain.callCount], [0, 1, 1, 0]);
    assert.is(await limited.availablePermits(), 5);
  }),
);

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  LimiterClosedError,
  PermitsExceedLimitError,
  RateLimitExceededError,
} from '../../src/errors.ts';
import { limited } from '../../src/limiter/limited.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import {
  assertRefuses,
  type Bad,
  missing,
  noDuration,
  noObject,
  noPositiveInteger,
  noString,
  rejection,
} from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const limit = slidingWindow({ permits: 2, interval: 1000 });
const open = () => new RateLimiter({ name: 'api', limit });

/** The smallest possible group, and the limiters that it has created. */
function groupOf() {
  const made = new Map<string, RateLimiter>();
  return {
    made,
    get(key: string): RateLimiter {
      const limiter = made.get(key) ?? new RateLimiter({ name: key, limit });
      made.set(key, limiter);
      return limiter;
    },
  };
}

/** Records the calls that ran, and their times. */
function logbook() {
  const ran: [what: unknown, at: number][] = [];
  return { ran, note: (what: unknown) => void ran.push([what, performance.now()]) };
}

timed('a method of instances waits, and its instances share the limit', async (clock) => {
  const limiter = open();
  const { ran, note } = logbook();
  class Api {
    constructor(readonly host: string) {}

    @limited(limiter)
    async get(path: string, version = 1) {
      note(this.host + path);
      return `${this.host}${path}@${version}`;
    }
  }
  const [a, b] = [new Api('a'), new Api('b')];
  const fates = [fateOf(a.get('/1')), fateOf(b.get('/2', 2)), fateOf(a.get('/3')), fateOf(b.get('/4'))];
  await clock.tickAsync(1000);
  assert.equal(ran, [
    ['a/1', 0],
    ['b/2', 0],
    ['a/3', 1000],
    ['b/4', 1000],
  ]);
  assert.equal(
    fates.map(({ value }) => value),
    ['a/1@1', 'b/2@2', 'a/3@1', 'b/4@1'],
  );
});

timed('a method of the class waits, with the class it is called on as `this`', async (clock) => {
  class Api {
    constructor(readonly path: string) {}

    @limited(open())
    static async open(path: string) {
      return new this(path);
    }
  }
  class Derived extends Api {}
  const fates = [fateOf(Api.open('/1')), fateOf(Derived.open('/2')), fateOf(Api.open('/3'))];
  await clock.tickAsync(1000);
  assert.equal(
    fates.map(({ value }) => [value?.constructor, value?.path]),
    [
      [Api, '/1'],
      [Derived, '/2'],
      [Api, '/3'],
    ],
  );
  assert.equal(times(fates), [0, 0, 1000]);
});

timed('private methods wait, of instances and of the class', async (clock) => {
  const limiter = open();
  class Api {
    #host = 'a';

    @limited(limiter)
    async #get(path: string) {
      return this.#host + path;
    }

    @limited(limiter, { permits: 2 })
    static async #reset() {
      return 'reset';
    }

    get(path: string) {
      return this.#get(path);
    }

    static reset() {
      return Api.#reset();
    }
  }
  const fates = [fateOf(new Api().get('/1')), fateOf(Api.reset()), fateOf(new Api().get('/2'))];
  await clock.tickAsync(2000);
  assert.equal(
    fates.map(({ value, at }) => [value, at]),
    [
      ['a/1', 0],
      ['reset', 1000],
      ['a/2', 2000],
    ],
  );
});

test('a decorated method keeps its name and length, and stays on the prototype', () => {
  const symbol = Symbol('get');
  class Api {
    @limited(open())
    async get(_id: string, _version: number) {}

    @limited(open())
    async [symbol]() {}
  }
  assert.equal([Api.prototype.get.name, Api.prototype.get.length], ['get', 2]);
  assert.is(Api.prototype[symbol].name, '[get]');
  assert.equal(Object.keys(new Api()), []);
});

timed('an overridden method is limited when it is called', async () => {
  const limiter = open();
  class Base {
    @limited(limiter)
    async get(path: string) {
      return `${this.constructor.name}${path}`;
    }
  }
  class Derived extends Base {
    override async get(path: string) {
      return `<${await super.get(path)}>`;
    }
  }
  assert.is(await new Derived().get('/1'), '<Derived/1>');
  assert.is(await limiter.availablePermits(), 1);
});

timed('a method that returns no promise returns one when decorated', async () => {
  class Api {
    // @ts-expect-error the method would return a promise, and its type says otherwise
    @limited(open())
    get(path: string) {
      return path;
    }
  }
  const result: unknown = new Api().get('/1');
  assert.instance(result, Promise);
  assert.is(await result, '/1');
});

timed('permits are a number, a record, or a function of the arguments and `this`', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: { requests: limit, tokens: limit } });
  class Api {
    weight = 2;

    @limited(limiter, { permits: { requests: 1 } })
    async one() {}

    @limited(limiter, {
      permits(this: Api, text: string) {
        return { tokens: this.weight * text.length };
      },
    })
    async two(text: string, _more?: number) {
      return text;
    }
  }
  await new Api().one();
  assert.is(await new Api().two('a'), 'a');
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 1, tokens: 0 });
});

timed("a timeout, a signal and the strategy 'error' are those of wrap", async (clock) => {
  const limiter = open();
  const controller = new AbortController();
  let calls = 0;
  class Api {
    @limited(limiter, { permits: 2, timeout: 900 })
    async inTime() {
      calls++;
    }

    @limited(limiter, { permits: 2, strategy: 'error' })
    async now() {
      calls++;
    }

    @limited(limiter, { permits: 2, signal: controller.signal })
    async unless() {
      calls++;
    }
  }
  const api = new Api();
  await api.inTime();
  assert.instance(await rejection(api.inTime()), AcquireTimeoutError);
  const error = await rejection(api.now());
  assert.instance(error, RateLimitExceededError);
  const { permits, retryAfter } = error as RateLimitExceededError;
  assert.equal([permits, retryAfter], [2, 1000]);
  const cancelled = fateOf(api.unless());
  await clock.tickAsync(10);
  controller.abort();
  await clock.tickAsync(0);
  assert.equal([cancelled.at, cancelled.reason?.name], [10, 'AbortError']);
  await clock.tickAsync(989);
  const last = fateOf(api.now());
  await clock.tickAsync(1);
  assert.is(last.at, 999);
  assert.is(calls, 1);
});

timed('with a group each key has its own queue, in the order of its calls', async (clock) => {
  const group = groupOf();
  const { ran, note } = logbook();
  class Api {
    @limited(group, { key: (tenant: string) => tenant })
    async report(tenant: string, month: number) {
      note(`${tenant}${month}`);
    }
  }
  const api = new Api();
  for (let month = 1; month <= 4; month++) api.report('a', month);
  api.report('b', 1);
  await clock.tickAsync(1000);
  assert.equal(ran, [
    ['a1', 0],
    ['a2', 0],
    ['b1', 0],
    ['a3', 1000],
    ['a4', 1000],
  ]);
  assert.equal([...group.made.keys()], ['a', 'b']);
});

timed('the key may be a property of the instance, and permits depend on other arguments', async () => {
  const group = groupOf();
  class Api {
    constructor(readonly tenant: string) {}

    @limited(group, {
      key(this: Api) {
        return this.tenant;
      },
      permits: (_id: string, weight: number) => weight,
    })
    async get(_id: string, _weight: number) {}
  }
  await new Api('a').get('x', 2);
  await new Api('b').get('x', 1);
  const left = [...group.made].map(async ([key, limiter]) => [key, await limiter.availablePermits()]);
  assert.equal(await Promise.all(left), [
    ['a', 0],
    ['b', 1],
  ]);
});

timed('each call gets its limiter from the group', async () => {
  const group = groupOf();
  class Api {
    @limited(group, { key: () => 'a', permits: 2, strategy: 'error' })
    async get() {}
  }
  await new Api().get();
  group.made.clear();
  await new Api().get();
  assert.instance(await rejection(new Api().get()), RateLimitExceededError);
});

timed('a RateLimiterGroup is accepted as a group', async (clock) => {
  const group = new RateLimiterGroup({ name: 'tenants', limit });
  class Api {
    @limited(group, { key: (tenant: string) => tenant })
    async report(tenant: string) {
      return tenant;
    }
  }
  const fates = ['a', 'a', 'a', 'b'].map((tenant) => fateOf(new Api().report(tenant)));
  await clock.tickAsync(1000);
  assert.equal(times(fates), [0, 0, 1000, 0]);
  await group.close();
  assert.instance(await rejection(new Api().report('a')), LimiterClosedError);
});

timed('a key function that throws, or returns no string, rejects the call', async () => {
  const group = groupOf();
  const thrown = new Error('no tenant');
  let calls = 0;
  class Api {
    @limited(group, { key: (tenant: unknown) => tenant as string })
    async get(_tenant: unknown) {
      calls++;
    }

    @limited(group, {
      key: () => {
        throw thrown;
      },
    })
    async throws() {
      calls++;
    }
  }
  await assertRefuses((key) => new Api().get(key), [missing, ...noString], 'key', 'a string');
  assert.is(await rejection(new Api().throws()), thrown);
  assert.is(calls, 0);
  assert.is(group.made.size, 0);
});

timed('invalid permits reject the call if only the call can tell', async () => {
  const group = groupOf();
  class Api {
    @limited(group, { key: () => 'a', permits: { tokens: 1 } as never })
    async named() {}

    @limited(group, { key: () => 'a', permits: 3 })
    async many() {}

    @limited(open(), { permits: () => 0.5 })
    async half() {}
  }
  assert.instance(await rejection(new Api().named()), TypeError);
  assert.instance(await rejection(new Api().many()), PermitsExceedLimitError);
  const error = await rejection(new Api().half());
  assert.instance(error, RangeError);
  assert.is(error.message, 'permits: expected a positive safe integer, got 0.5');
});

timed('a method that fails keeps its permit; one of a closed limiter rejects', async () => {
  const limiter = open();
  const failure = new Error('500');
  class Api {
    @limited(limiter)
    async get() {
      throw failure;
    }
  }
  assert.is(await rejection(new Api().get()), failure);
  assert.is(await limiter.availablePermits(), 1);
  await limiter.close();
  assert.instance(await rejection(new Api().get()), LimiterClosedError);
});

/** Decorates with options that the types would not allow. */
const withLimiter = (option: string) => (value: unknown) => limited(open(), { [option]: value } as never);
const withGroup = (option: string) => (value: unknown) =>
  limited(groupOf(), { key: () => 'a', [option]: value } as never);

const noStrategy: readonly Bad[] = [...noString, ['drop', RangeError, '"drop"']];
const wrong: readonly [option: string, values: readonly Bad[], expected: string][] = [
  ['strategy', noStrategy, 'one of "wait", "error"'],
  ['timeout', noDuration, 'milliseconds, 0 or more'],
  ['signal', [...noObject, [{}, TypeError, 'an object']], 'an AbortSignal'],
];
for (const [option, values, expected] of wrong)
  test(`a wrong ${option} is refused, with a limiter and with a group`, async () => {
    await assertRefuses(withLimiter(option), values, option, expected);
    await assertRefuses(withGroup(option), values, option, expected);
  });

test('invalid permits are refused, as far as the limits are known', async () => {
  const noPermits = noPositiveInteger.filter(([value]) => typeof value !== 'function');
  await assertRefuses(withLimiter('permits'), noPermits, 'permits', 'a positive safe integer');
  const noRecord = noPermits.filter(([value]) => typeof value !== 'object' || value === null);
  await assertRefuses(withGroup('permits'), noRecord, 'permits', 'a positive safe integer');
});

test('a group needs a key that is a function', async () => {
  const noFunction: readonly Bad[] = [missing, [null, TypeError, 'null'], ['a', TypeError, '"a"']];
  await assertRefuses(withGroup('key'), noFunction, 'key', 'a function');
  assert.throws(() => limited(groupOf(), undefined as never), /^key: expected a function, got undefined$/);
});

test('a limiter has no key', () => {
  assert.throws(
    () => withLimiter('key')(() => 'a'),
    (error: unknown) =>
      error instanceof TypeError && error.message === 'key: expected no key without a group',
  );
});

test('anything but a limiter or a group is refused', () =>
  assertRefuses(
    (limiter) => limited(limiter as never),
    [missing, ...noObject, [{ line: {} }, TypeError, 'an object']],
    'limiter',
    'a RateLimiter or a RateLimiterGroup',
  ));

test('options that are not an object are refused, and so is an option that does not exist', async () => {
  await assertRefuses((options) => limited(open(), options as never), noObject, 'options', 'an object');
  assert.throws(
    () => withLimiter('permit')(1),
    (error: unknown) =>
      error instanceof TypeError &&
      error.message === 'permit: no such option; expected one of permits, strategy, timeout, signal, key',
  );
});

test('anything but a method is refused', () => {
  const decorator = limited(open()) as never as (value: unknown, context: unknown) => void;
  for (const kind of ['class', 'getter', 'setter', 'field', 'accessor'])
    assert.throws(
      () => decorator(() => {}, { kind }),
      (error: unknown) =>
        error instanceof TypeError && error.message === `limited: expected a method to decorate, got ${kind}`,
      kind,
    );
  assert.throws(() => {
    class Api {
      // @ts-expect-error a field is not a method, even if it contains a function
      @limited(open())
      get = async () => {};
    }
    return Api;
  }, /^limited: expected a method to decorate, got field$/);
});

test("TypeScript's older decorators are refused", () => {
  const decorator = limited(open()) as never as (...args: unknown[]) => void;
  assert.throws(
    () => decorator({}, 'get', { value: async () => {} }),
    (error: unknown) =>
      error instanceof TypeError &&
      error.message ===
        'limited: expected a method to decorate, got no context of a standard decorator; turn off experimentalDecorators, or use limiter.wrap(fn)',
  );
});

test.run();

import type { Permits } from '../limits/cost.ts';
import { checkPermits } from '../port/checkPermits.ts';
import type { Limiter, LimiterGroup, Line } from '../port/line.ts';
import * as check from '../validate.ts';
import { behindLine, callPlanOf, type WrapOptions, wrapOptions } from './wrap.ts';

/** Options of {@link limited} with a group: those of a limiter, and the key of a call. */
export interface LimitedByKeyOptions<
  P = Permits,
  Args extends unknown[] = [],
  This = unknown,
  KeyArgs extends unknown[] = Args,
> extends WrapOptions<P, Args, This> {
  /** Which limiter of the group a call waits for: a function of its arguments and `this`. */
  key: (this: This, ...args: KeyArgs) => string;
}

/** The method where its arguments suit a function of them that an option gave; it may look at the first few only. */
type Suits<Method, Args extends unknown[]> = Method extends (...args: infer Given) => unknown
  ? Given extends [...Args, ...unknown[]]
    ? Method
    : never
  : never;

/** What {@link limited} makes: a standard decorator of methods that return a promise, which keeps their type. */
export type LimitedDecorator<This, Args extends unknown[], KeyArgs extends unknown[]> = <
  Self extends This,
  Method extends (this: Self, ...args: never) => Promise<unknown>,
>(
  method: Suits<Method, Args> & Suits<Method, KeyArgs>,
  context: ClassMethodDecoratorContext<Self>,
) => Method;

/**
 * A method decorator: each call acquires permits first, in the order of the calls.
 *
 * It is a standard decorator, for methods of instances and of classes, private ones included. All instances share the
 * limiter; a group with `key` tells them apart, or tells apart what they are called with. The types take methods that
 * return a promise, and keep their type; any other method returns a promise of its result from then on. A call that fails
 * keeps its permits: it was made.
 *
 * @param limiter the limiter to acquire from, or a group of them
 * @param options `permits` (1 by default), `strategy` ('wait' by default), `timeout` (ms, Infinity by default, 0 with the
 * strategy 'error') and `signal`, as for `limiter.wrap`; with a group, and only then, `key`
 * @returns the decorator; a decorated method rejects as what `limiter.wrap` returns, and with TypeError for a key that is
 * no string
 * @throws TypeError, RangeError for an option of the wrong type or out of range, and TypeError where it decorates anything
 * but a method
 * @example
 * class Api {
 *   \@limited(limiter)
 *   async user(id: string) {
 *     return (await fetch(`https://api.example/users/${id}`)).json();
 *   }
 *
 *   \@limited(group, { key: (tenant: string) => tenant, strategy: 'error' })
 *   async report(tenant: string, month: string) {
 *     return (await fetch(`https://api.example/${tenant}/${month}`)).json();
 *   }
 * }
 */
export function limited<P, This = unknown, Args extends unknown[] = []>(
  limiter: Limiter<P>,
  options?: WrapOptions<P, Args, This>,
): LimitedDecorator<This, Args, []>;
export function limited<P, This = unknown, Args extends unknown[] = [], KeyArgs extends unknown[] = []>(
  group: LimiterGroup<P>,
  options: LimitedByKeyOptions<P, Args, This, KeyArgs>,
): LimitedDecorator<This, Args, KeyArgs>;
export function limited<P, This, Args extends unknown[]>(
  limiter: Limiter<P> | LimiterGroup<P>,
  options?: Partial<LimitedByKeyOptions<P, Args, This>>,
): unknown {
  const plan = callPlanOf(options, [...wrapOptions, 'key']);
  const lineOf = lineOfCalls(limiter, options?.key);
  if (typeof plan.permits !== 'function')
    checkPermits(isLimiter(limiter) ? limiter.line : undefined, plan.permits);
  return <R>(
    method: (this: This, ...args: Args) => R,
    context: ClassMethodDecoratorContext<This> | undefined,
  ): ((this: This, ...args: Args) => Promise<Awaited<R>>) => {
    assertMethod(context);
    return behindLine(method, plan, lineOf);
  };
}

/** How a call finds its line; refuses what is neither a limiter nor a group with a key. */
function lineOfCalls<P, This, Args extends unknown[]>(
  limiter: Limiter<P> | LimiterGroup<P>,
  key: ((this: This, ...args: Args) => string) | undefined,
): (self: This, args: Args) => Line<P> {
  if (isLimiter(limiter)) {
    if (key !== undefined) throw new TypeError('key: expected no key without a group');
    return () => limiter.line;
  }
  check.methods('limiter', limiter, 'a RateLimiter or a RateLimiterGroup', ['get']);
  check.functionValue('key', key);
  return (self, args) => {
    const name: unknown = key!.apply(self, args);
    if (typeof name !== 'string') throw new TypeError(`key: expected a string, got ${check.show(name)}`);
    return limiter.get(name).line;
  };
}

function isLimiter<P>(limiter: Limiter<P> | LimiterGroup<P> | null | undefined): limiter is Limiter<P> {
  return typeof (limiter as Limiter<P> | null | undefined)?.line?.ask === 'function';
}

/** Refuses anything but a method, and decorators of TypeScript's older kind, which come without a context. */
function assertMethod(context: { kind?: string } | undefined): void {
  if (context?.kind === 'method') return;
  const got = context?.kind ?? 'no context of a standard decorator';
  throw new TypeError(`limited: expected a method to decorate, got ${got}`);
}

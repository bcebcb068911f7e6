import type { Permits } from '../limits/cost.ts';
import type { Limiter, LimiterGroup } from '../port/line.ts';
import { lineFinder } from '../port/lineOf.ts';
import { callPlanOf, limitedFunction, type WrapOptions, wrapOptions } from './wrap.ts';

/** Options of {@link limited} with a group: those of a limiter, and `key`. */
export interface LimitedByKeyOptions<
  P = Permits,
  Args extends unknown[] = [],
  This = unknown,
  KeyArgs extends unknown[] = Args,
> extends WrapOptions<P, Args, This> {
  /** Returns the key of a call, from its arguments and `this`. */
  key: (this: This, ...args: KeyArgs) => string;
}

/**
 * The method, if it returns a promise, and accepts the arguments of a function in the options; that function may declare only the
 * first few. A text otherwise, which matches no method: the compiler's error shows it.
 */
type Suits<Method, Args extends unknown[]> = Method extends (...args: infer Given) => Promise<unknown>
  ? Given extends [...Args, ...unknown[]]
    ? Method
    : 'the functions `permits` and `key` need arguments of the types that the method has'
  : 'the method needs to return a promise, and experimentalDecorators to be off';

/** The result of {@link limited}: a standard decorator of methods that return a promise. It keeps their type. */
export type LimitedDecorator<This, Args extends unknown[], KeyArgs extends unknown[]> = <
  Self extends This,
  Method extends (this: Self, ...args: never) => unknown,
>(
  method: Suits<Method, Args> & Suits<Method, KeyArgs>,
  context: ClassMethodDecoratorContext<Self>,
) => Method;

/**
 * A method decorator: each call acquires permits first, in the order of the calls.
 *
 * It is a standard decorator for methods of instances and classes, private ones included. All instances share the limiter; a
 * group with `key` can give each instance, or each argument, a limiter of its own. TypeScript accepts methods that return a
 * promise; in JavaScript, any other method returns a promise of its result. A call that fails keeps its permits, since it was
 * made.
 *
 * @param limiter the limiter to acquire from, or a group
 * @param options `permits` (1 by default), `strategy` ('wait' by default), `timeout` (ms, Infinity by default, 0 with the
 * strategy 'error') and `signal`, as for `limiter.wrap`; with a group, and only then, `key`
 * @returns the decorator; a decorated method rejects like a function of `limiter.wrap`, and with TypeError for a key that is
 * not a string
 * @throws TypeError, RangeError for an invalid argument, and TypeError if it decorates anything but a method
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
  const { key } = options ?? {};
  const lineOf = lineFinder(limiter, key, plan.permits);
  return <R>(
    method: (this: This, ...args: Args) => R,
    context: ClassMethodDecoratorContext<This> | undefined,
  ): ((this: This, ...args: Args) => Promise<Awaited<R>>) => {
    assertMethod(context);
    return limitedFunction(method, plan, lineOf, key);
  };
}

/** Throws unless a method is decorated by a standard decorator: TypeScript's legacy decorators have no context. */
function assertMethod(context: { kind?: string } | undefined): void {
  if (context?.kind === 'method') return;
  const got =
    context?.kind ??
    'no context of a standard decorator; turn off experimentalDecorators, or use limiter.wrap(fn)';
  throw new TypeError(`limited: expected a method to decorate, got ${got}`);
}

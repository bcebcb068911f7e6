// Checked by `npm run types` only: rates, pauses and events.
import { Redis } from 'ioredis';
import { type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import {
  type FallbackOptions,
  type Limit,
  type LimiterEvent,
  type PauseSelector,
  pauseOn,
  RateLimiter,
  RateLimiterGroup,
  RedissonRateLimiter,
  slidingWindow,
  tokenBucket,
} from '../../src/index.ts';
import { assert } from './assert.ts';

const redis = new Redis();
const limit = slidingWindow({ permits: 1, interval: 1 });
const one = new RateLimiter({ name: 'one', limit });
const two = new RateLimiter({
  name: 'two',
  limit: { requests: limit, tokens: tokenBucket({ permits: 9, interval: 9 }) },
});

one.trySetRate(limit).then((value) => assert<boolean>()(value));
one
  .setRate(tokenBucket({ permits: 1, interval: 1 }), { keepState: false })
  .then((value) => assert<void>()(value));
two.setRate({ requests: limit, tokens: limit });
// @ts-expect-error the limiter has two limits
two.setRate({ requests: limit });
// @ts-expect-error it has no limit named bytes
two.setRate({ requests: limit, tokens: limit, bytes: limit });
// @ts-expect-error a rate is a limit
one.setRate({ permits: 1, interval: 1 });
one.getRate().then(({ stored, limit: inForce }) => {
  assert<boolean>()(stored);
  assert<Limit | Readonly<Record<string, Limit>>>()(inForce);
});
one.pauseFor(1).then((value) => assert<void>()(value));
one.release(2).then((value) => assert<void>()(value));
two.release({ tokens: 1 });
// @ts-expect-error there is no such limit
two.release({ bytes: 1 });
one.reset().then((value) => assert<void>()(value));
one.delete().then((value) => assert<void>()(value));

const fallback: FallbackOptions = { mode: 'local', ratio: 0.5, timeout: 500, cooldown: 1_000 };
for (const one of [fallback, {}, 'local', 'reject', 'allow'] as const) {
  new RateLimiter({ name: 'a', limit, redis, fallback: one });
  new RateLimiterGroup({ name: 'a', limit, redis, fallback: one });
}
// @ts-expect-error there is no such mode
new RateLimiter({ name: 'a', limit, redis, fallback: 'remote' });

assert<Observable<LimiterEvent>>()(one.events$);
one.events$.subscribe((event) => {
  if (event.type === 'granted') assert<'redis' | 'memory' | 'fallback'>()(event.source);
  if (event.type === 'fallback') assert<Error>()(event.error);
  if (event.type === 'dropped') assert<'strategy' | 'timeout' | 'overflow'>()(event.reason);
  if (event.type === 'denied' || event.type === 'timeout') assert<number | undefined>()(event.retryAfter);
  // @ts-expect-error not every event has permits
  event.permits;
});

assert<Observable<Response>>()(
  of(new Response()).pipe(
    pauseOn(one, (response: Response) => (response.ok ? undefined : 1), { max: 60_000 }),
    pauseOn(two, (signal, kind) => (kind === 'error' ? signal.retryAfter : null)),
  ),
);
assert<Observable<Response>>()(
  of(new Response()).pipe(pauseOn(one, (response) => (response.status === 429 ? 30_000 : undefined))),
);
const pause: MonoTypeOperatorFunction<Response> = pauseOn(one, (response: Response) => response.status);
of(new Response()).pipe(pause);
// @ts-expect-error a number has no such field
of(1).pipe(pauseOn(one, (value: number) => value.status));
// A single argument without a type may be an error, too.
assert<Observable<number>>()(of(1).pipe(pauseOn(one, (signal) => (signal.status === 429 ? 1_000 : 0))));
assert<Observable<number>>()(
  of(1).pipe(pauseOn(one, (signal) => (signal instanceof Response ? signal.status : undefined))),
);
assert<Observable<number>>()(
  of(1).pipe(pauseOn(one, (signal: number | Response) => (typeof signal === 'number' ? 0 : signal.status))),
);
// @ts-expect-error a pause is not a text, whatever the type of the values
of(new Response()).pipe(pauseOn(one, (value: Response) => value.statusText));
const optional: MonoTypeOperatorFunction<number> = pauseOn(one, (value: number, kind?: string) =>
  kind ? value : 0,
);
of(1).pipe(optional);
declare const selector: PauseSelector<Response>;
assert<Observable<Response>>()(
  of(new Response()).pipe(pauseOn(one, selector), pauseOn<Response>(one, selector)),
);
const ofResponses = pauseOn(one, (response: Response) => response.status);
assert<MonoTypeOperatorFunction<Response>>()(ofResponses);
// @ts-expect-error a limiter of Redisson cannot pause
pauseOn(new RedissonRateLimiter(redis, 'a'), () => 1);
// @ts-expect-error a pause is a number of milliseconds
pauseOn(one, () => '1');
of(new Response()).pipe(
  pauseOn(one, (signal, kind) => {
    if (kind === 'value') assert<Response>()(signal);
    // @ts-expect-error a response has no such field
    return kind === 'value' ? signal.retryAfter : signal.retryAfter;
  }),
);
// @ts-expect-error the values are texts
of('a').pipe(pauseOn(one, (value: number) => value));
// @ts-expect-error a pause is a number of milliseconds
of('a').pipe(pauseOn(one, (value, kind) => (kind === 'value' ? value : 0)));

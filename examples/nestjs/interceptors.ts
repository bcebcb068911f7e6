import {
  type CallHandler,
  type ExecutionContext,
  HttpException,
  type NestInterceptor,
  ServiceUnavailableException,
} from '@nestjs/common';
import { catchError, defer, mergeMap, type Observable } from 'rxjs';
import { AcquireTimeoutError, acquirePermits, type RateLimiter, type RateLimiterGroup } from 'rxjs-sluice';
import { keyOf, limitOf, type User } from '../http/plans.ts';
import { rateLimitHeaders } from '../http/rateLimitHeaders.ts';

/** Responds with 429 to a user beyond the limit of the plan. A factory creates it, so it needs no `@Injectable()`. */
export class RateLimitInterceptor<Request> implements NestInterceptor {
  readonly #group: RateLimiterGroup;
  readonly #userOf: (request: Request) => User;

  constructor(group: RateLimiterGroup, userOf: (request: Request) => User) {
    this.#group = group;
    this.#userOf = userOf;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const key = keyOf(this.#userOf(http.getRequest()));
    return defer(() => this.#group.get(key).decide()).pipe(
      mergeMap((decision) => {
        const response = http.getResponse(); // of Express or Fastify: both have `header`
        const headers = rateLimitHeaders(decision, limitOf(key));
        for (const [name, value] of Object.entries(headers)) response.header(name, value);
        if (!decision.granted) throw new HttpException('Too Many Requests', 429);
        return next.handle();
      }),
    );
  }
}

/** Lets a request wait for a permit before its handler runs: for handlers that call an API with a limit. */
export class ThrottleInterceptor implements NestInterceptor {
  readonly #limiter: RateLimiter;
  readonly #timeout: number;

  constructor(limiter: RateLimiter, timeout = 5_000) {
    this.#limiter = limiter;
    this.#timeout = timeout;
  }

  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      acquirePermits(this.#limiter, 1, { timeout: this.#timeout }),
      catchError((error) => {
        throw error instanceof AcquireTimeoutError ? new ServiceUnavailableException() : error;
      }),
    );
  }
}

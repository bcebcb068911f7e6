import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import {
  acquireScript,
  availableScript,
  type JvmVersion,
  releaseScript,
  setRateScript,
  trySetRateScript,
} from './jvmScripts.ts';
import { redissonKeys } from './redissonKeys.ts';

/** The options of a JVM client. */
export interface JvmClientOptions {
  /** Its id in the keys of `PER_CLIENT`; random by default. */
  readonly clientId?: string;
  /** Milliseconds by which its clock is ahead of this machine's. */
  readonly clockOffset?: number;
  /** The version whose faults it has; 4.6 by default. */
  readonly version?: JvmVersion;
  /** The source of the bytes that distinguish members; 16 random ones by default. */
  readonly random?: () => Buffer;
}

/** Options of a rate, as in `RateLimiterArgs`. */
export interface JvmRateOptions {
  readonly keepAlive?: number;
  readonly keepState?: boolean;
}

/**
 * A model of a JVM client: it works on the keys of a limiter as Redisson's RRateLimiter does, faults included
 * (docs/redisson.md lists them). Written from its published behaviour, not from its text. It passes its own time to the
 * scripts, and each waiting caller has a timer of its own: when that fires the caller calls again, together with all
 * others that got the same wait.
 */
export class JvmClient {
  readonly clientId: string;
  /** The number of requests of its callers. */
  asked = 0;
  readonly #redis: Redis;
  readonly #keys: string[];
  readonly #clockOffset: number;
  readonly #random: () => Buffer;
  readonly #acquireScript: string;
  readonly #availableScript: string;
  #ended = false;

  constructor(
    redis: Redis,
    readonly name: string,
    {
      clientId = randomUUID(),
      clockOffset = 0,
      version = '4.6',
      random = () => randomBytes(16),
    }: JvmClientOptions = {},
  ) {
    this.clientId = clientId;
    const { config, value, clientValue, permits, clientPermits } = redissonKeys(name, clientId);
    this.#keys = [config, value, clientValue, permits, clientPermits];
    this.#redis = redis;
    this.#clockOffset = clockOffset;
    this.#random = random;
    this.#acquireScript = acquireScript(version);
    this.#availableScript = availableScript(version);
  }

  async trySetRate(
    type: number,
    rate: number,
    interval: number,
    { keepAlive = 0 }: JvmRateOptions = {},
  ): Promise<boolean> {
    checkKeepAlive(keepAlive, interval);
    return (await this.#run(trySetRateScript, rate, interval, type, keepAlive)) === 1;
  }

  async setRate(type: number, rate: number, interval: number, options: JvmRateOptions = {}): Promise<void> {
    await this.#setRate(type, rate, interval, options, 0);
  }

  async updateRate(
    type: number,
    rate: number,
    interval: number,
    options: JvmRateOptions = {},
  ): Promise<boolean> {
    return (await this.#setRate(type, rate, interval, options, 1)) === 1;
  }

  async #setRate(
    type: number,
    rate: number,
    interval: number,
    { keepAlive = 0, keepState = false }: JvmRateOptions,
    update: 0 | 1,
  ): Promise<unknown> {
    checkKeepAlive(keepAlive, interval);
    const args = [rate, interval, type, keepAlive, this.#now(), keepState ? 1 : 0, update];
    return this.#run(setRateScript, ...args);
  }

  /** Calls once without a timeout, and at every wake within the timeout otherwise. */
  async tryAcquire(permits = 1, timeout = 0): Promise<boolean> {
    const start = Date.now();
    for (let wait = await this.ask(permits); wait !== null; wait = await this.ask(permits)) {
      const left = timeout - (Date.now() - start);
      if (left <= 0) return false;
      await sleep(Math.min(wait, left));
      if (this.#ended || Date.now() - start >= timeout) return false;
    }
    return true;
  }

  /**
   * Calls at every wake until the permits are granted. Cancelling the future, or its timeout, does not stop the calls:
   * the signal ends only the promise.
   */
  acquire(permits = 1, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.#acquire(permits).then(resolve, reject);
    });
  }

  async #acquire(permits: number): Promise<void> {
    for (let wait = await this.ask(permits); wait !== null; wait = await this.ask(permits)) {
      await sleep(wait);
      if (this.#ended) throw new Error('the JVM client has ended');
    }
  }

  /** Calls once: null if the permits are granted, otherwise the milliseconds until the next call. */
  async ask(permits: number): Promise<number | null> {
    this.asked++;
    return (await this.#run(this.#acquireScript, permits, this.#now(), this.#random())) as number | null;
  }

  async release(permits: number): Promise<void> {
    await this.#run(releaseScript, permits);
  }

  async availablePermits(): Promise<number> {
    return Number(await this.#run(this.#availableScript, this.#now()));
  }

  async getConfig(): Promise<{ type: number; rate: number; interval: number }> {
    const { type, rate, interval } = await this.#redis.hgetall(this.#keys[0]);
    return { type: Number(type), rate: Number(rate), interval: Number(interval) };
  }

  /** Expires the config, and the existing state of all clients and of its own. */
  async expire(ms: number): Promise<boolean> {
    return this.#any(this.#keys.map((key) => this.#redis.pexpire(key, ms)));
  }

  /** The same keys are persisted. */
  async clearExpire(): Promise<boolean> {
    return this.#any(this.#keys.map((key) => this.#redis.persist(key)));
  }

  remainTimeToLive(): Promise<number> {
    return this.#redis.pttl(this.#keys[0]);
  }

  async isExists(): Promise<boolean> {
    return (await this.#redis.exists(this.#keys[0])) === 1;
  }

  /** Removes the config and the state, except other clients' state. */
  async delete(): Promise<boolean> {
    return this.#any([this.#redis.del(this.#keys)]);
  }

  /** As if the process ended: no caller calls again. */
  end(): void {
    this.#ended = true;
  }

  async #any(replies: Promise<number>[]): Promise<boolean> {
    return (await Promise.all(replies)).some((changed) => changed > 0);
  }

  #now(): number {
    return Date.now() + this.#clockOffset;
  }

  async #run(script: string, ...args: (number | Buffer)[]): Promise<unknown> {
    const rest = [this.#keys.length, ...this.#keys, ...args] as const;
    try {
      return await this.#redis.evalsha(createHash('sha1').update(script).digest('hex'), ...rest);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return this.#redis.eval(script, ...rest);
    }
  }
}

function checkKeepAlive(keepAlive: number, interval: number): void {
  if (keepAlive !== 0 && keepAlive < interval)
    throw new RangeError(`a keep-alive of ${keepAlive} ms is below the interval of ${interval} ms`);
}

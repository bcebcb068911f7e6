import { type ConnectionOptions, type Job, Worker } from 'bullmq';
import { AcquireTimeoutError, type Permit, type RateLimiter } from 'rxjs-sluice';

export interface LimitedWorkerOptions {
  connection: ConnectionOptions;
  /** Jobs that this worker may hold, waiting ones included. */
  concurrency?: number;
  /** Milliseconds that a job may wait in this worker. A job that has to wait longer goes back to the queue. */
  timeout?: number;
}

/** A worker whose jobs each acquire a permit of a limit, which other queues and processes may share. */
export function limitedWorker<Data, Result>(
  queue: string,
  limiter: RateLimiter,
  process: (job: Job<Data>, permit: Permit) => Promise<Result>,
  { connection, concurrency = 50, timeout = 5_000 }: LimitedWorkerOptions,
): Worker<Data, Result> {
  const worker = new Worker<Data, Result>(
    queue,
    async (job) => process(job, await limiter.acquire(1, { timeout }).catch(backToQueue)),
    { connection, concurrency },
  );
  return worker;

  async function backToQueue(error: unknown): Promise<never> {
    if (!(error instanceof AcquireTimeoutError)) throw error;
    // No worker of the queue takes a job before then. The job loses no attempt.
    await worker.rateLimit(Math.ceil(error.retryAfter ?? timeout));
    throw Worker.RateLimitError();
  }
}

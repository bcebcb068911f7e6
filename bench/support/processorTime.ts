import type { Redis } from 'ioredis';

/** The processor time of this process and of the server's main thread since they were started: microseconds. */
export async function processorTime(redis: Redis): Promise<number> {
  const { user, system } = process.cpuUsage();
  const info = await redis.info('cpu');
  let server = 0;
  for (const [, seconds] of info.matchAll(/used_cpu_(?:sys|user)_main_thread:([\d.]+)/g))
    server += Number(seconds);
  return user + system + server * 1e6;
}

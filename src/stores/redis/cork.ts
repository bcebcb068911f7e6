import type { Redis } from 'ioredis';
import type { RedisClient } from './redisClient.ts';

type Socket = Redis['stream'];

/** Bytes that Redis reads in one turn. */
const enough = 16_384;

/**
 * Collects the commands of this turn into one write, as many limiters of one connection may be called together. Each call
 * remains a command of its own, so that ioredis handles unknown scripts and moved slots for each.
 */
export function corked(redis: RedisClient): void {
  // A cluster chooses the connection by the key.
  const nodes = redis.nodes?.() ?? [redis];
  for (const { stream } of nodes as Partial<Redis>[]) cork(stream);
}

function cork(socket: Socket | undefined): void {
  if (!socket?.cork) return;
  if (socket.writableCorked > 0) {
    // The server has enough to begin with.
    if (socket.writableLength < enough) return;
    socket.uncork();
  } else globalThis.process.nextTick(uncork, socket);
  socket.cork();
}

function uncork(socket: Socket): void {
  socket.uncork();
}

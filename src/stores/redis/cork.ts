import type { Cluster, Redis } from 'ioredis';

type Socket = Redis['stream'];

/** Bytes that Redis reads at once. */
const enough = 16_384;

/**
 * Lets all that is called in this turn leave in one write: many limiters of one connection may be asked together. Each call
 * stays a command of its own, so that ioredis looks after each by itself: scripts that are not known, slots that move.
 */
export function corked(redis: Redis | Cluster): void {
  // A cluster chooses a connection by the key.
  if ('nodes' in redis) for (const { stream } of redis.nodes()) cork(stream);
  else cork(redis.stream);
}

function cork(socket: Socket | undefined): void {
  if (!socket?.cork) return;
  if (socket.writableCorked > 0) {
    // A server that has this much to do need not wait for the rest.
    if (socket.writableLength < enough) return;
    socket.uncork();
  } else globalThis.process.nextTick(uncork, socket);
  socket.cork();
}

function uncork(socket: Socket): void {
  socket.uncork();
}

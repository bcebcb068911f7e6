import { createServer } from 'node:net';

// Below the range from which the system takes the ports of outgoing connections. In that range a server that is down
// could lose its port to some connection, or a client could be connected to itself.
const lowest = 10_000;
const highest = 22_000;
/** The offset of a cluster node's bus port. */
const bus = 10_000;

/** A free port of 127.0.0.1 whose cluster bus port is free as well. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if ((await isFree(port)) && (await isFree(port + bus))) return port;
  }
  throw new Error('no free port on 127.0.0.1');
}

/** Keeps `freePort` from choosing a port, in any process, while its server is down. Returns what ends that. */
export function keepPort(port: number): () => void {
  const holder = createServer()
    .on('error', () => {})
    .listen(port + bus, '127.0.0.1')
    .unref();
  return () => holder.close();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

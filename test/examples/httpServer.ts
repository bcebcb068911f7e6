import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port of 127.0.0.1, and returns the URL. */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Runs `work` with the URL of a server, which is closed afterwards. */
export async function withServer(
  listener: RequestListener,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer(listener);
  try {
    await work(await listen(server));
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

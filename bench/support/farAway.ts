import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a distant server: every reply arrives `ms` later. */
export async function farAway(target: number, ms: number): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true });
    client.on('data', (part) => upstream.write(part));
    upstream.on('data', (part) => setTimeout(() => client.write(part), ms));
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

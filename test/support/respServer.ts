import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';
import { RequestReader } from './requests.ts';

/** Replies to the handshake of ioredis on a new connection. */
const handshake: Record<string, string> = {
  HELLO: '%1\r\n$5\r\nproto\r\n:3\r\n',
  INFO: '$30\r\nredis_version:7.0.0\r\nloading:0\r\n',
};

/**
 * The bytes that the server sends instead of a reply, in the parts in which they arrive; then it may close the
 * connection.
 */
export interface WireReply {
  readonly parts: readonly (string | Buffer)[];
  readonly closes?: boolean;
}

/**
 * Starts a server that speaks enough of the Redis protocol for a connection, and replies to scripts as the test sets.
 */
export async function startRespServer(): Promise<RespServer> {
  const server = createServer({ noDelay: true });
  server.listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  return new RespServer(server);
}

export class RespServer {
  readonly port: number;
  /** The replies to the next calls of scripts. */
  reply: WireReply = { parts: ['$-1\r\n'] };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server.on('connection', (socket) => this.#join(socket));
    this.port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(socket: Socket): void {
    const reader = new RequestReader();
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', async (chunk) => {
      for (const { name } of reader.read(chunk)) {
        if (!name.startsWith('EVAL')) socket.write(handshake[name] ?? '+OK\r\n');
        else await send(socket, this.reply);
      }
    });
  }
}

async function send(socket: Socket, { parts, closes }: WireReply): Promise<void> {
  for (const part of parts) {
    if (socket.destroyed) return;
    socket.write(part);
    // Each part is sent separately.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (closes) socket.end();
}

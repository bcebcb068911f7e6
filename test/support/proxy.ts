import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';
import { RequestReader } from './requests.ts';

/** What ioredis asks on a new connection, before it sends (or resends) the commands of its caller. */
const handshake = new Set(['HELLO', 'AUTH', 'CLIENT', 'SELECT', 'INFO', 'READONLY', 'COMMAND', 'CLUSTER']);

/** Starts a proxy on a free port of 127.0.0.1 to the server at another port. */
export async function startProxy(target: number): Promise<RedisProxy> {
  const server = createServer({ noDelay: true });
  server.listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  return new RedisProxy(server, target);
}

/** A wire between a client and Redis that can lose replies, and stand still. */
export class RedisProxy {
  readonly host = '127.0.0.1';
  readonly port: number;
  /** How many connections clients have made so far. */
  connections = 0;
  /** How many replies have been cut off so far. */
  cuts = 0;
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #toCut = 0;
  #matches: (name: string) => boolean = isPayload;
  #paused = false;

  /** Wraps a listening server that `startProxy` has made. */
  constructor(server: Server, target: number) {
    this.#server = server.on('connection', (client) => this.#join(client));
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
  }

  /**
   * The next `count` requests (of the commands that match; by default whatever is no handshake) reach the server and
   * are carried out, but instead of the reply the client sees its connection break. What it sent after them on that
   * connection does not arrive.
   */
  cutReplies(count = 1, matches: (name: string) => boolean = isPayload): void {
    this.#toCut = count;
    this.#matches = matches;
  }

  /** Nothing passes in either direction until `resume`; connections are accepted, and stay open. */
  pause(): void {
    this.#paused = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** What was held up passes now. */
  resume(): void {
    this.#paused = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Breaks every connection, and refuses new ones. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(client: Socket): void {
    this.connections++;
    const upstream = connect({ port: this.#target, host: this.host, noDelay: true });
    const reader = new RequestReader();
    let cut = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      this.#sockets.add(socket);
      if (this.#paused) socket.pause();
      // A broken connection is what the tests are after: the other half breaks with it.
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        // Soon, not at once: the last words of a server that hangs up still reach the client.
        other.destroySoon();
      });
    }
    client.on('data', (chunk) => {
      for (const { name, bytes } of reader.read(chunk)) {
        if (cut) return;
        upstream.write(bytes);
        cut = this.#cuts(name);
        // Redis closes a connection whose other end has closed only once it has run everything it was sent. The
        // close handler above then breaks the client's half.
        if (cut) upstream.end();
      }
    });
    upstream.on('data', (chunk) => {
      if (!cut) client.write(chunk);
    });
  }

  #cuts(name: string): boolean {
    if (this.#toCut === 0 || !this.#matches(name)) return false;
    this.#toCut--;
    this.cuts++;
    return true;
  }
}

function isPayload(name: string): boolean {
  return !handshake.has(name);
}

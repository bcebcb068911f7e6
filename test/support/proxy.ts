import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';
import { RequestReader } from './requests.ts';

/** The commands of ioredis on a new connection, before it sends (or resends) the commands of its caller. */
const handshake = new Set(['HELLO', 'AUTH', 'CLIENT', 'SELECT', 'INFO', 'READONLY', 'COMMAND', 'CLUSTER']);

/** Starts a proxy on a free port of 127.0.0.1 to the server at another port. */
export async function startProxy(target: number): Promise<RedisProxy> {
  const server = createServer({ noDelay: true });
  server.listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  return new RedisProxy(server, target);
}

/** A wire between a client and Redis that can lose replies, and freeze. */
export class RedisProxy {
  readonly host = '127.0.0.1';
  readonly port: number;
  /** The number of connections made by clients so far. */
  connections = 0;
  /** The number of replies cut off so far. */
  cuts = 0;
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #toCut = 0;
  #matches: (name: string) => boolean = isPayload;
  #paused = false;

  /** Wraps a listening server made by `startProxy`. */
  constructor(server: Server, target: number) {
    this.#server = server.on('connection', (client) => this.#join(client));
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
  }

  /**
   * The next `count` requests (of the commands that match; by default all but the handshake) reach the server and are
   * carried out, but the connection breaks instead of the reply. Later bytes of the client on that connection do not
   * arrive.
   */
  cutReplies(count = 1, matches: (name: string) => boolean = isPayload): void {
    this.#toCut = count;
    this.#matches = matches;
  }

  /** Passes nothing in either direction until `resume`; connections are accepted, and stay open. */
  pause(): void {
    this.#paused = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Passes the delayed bytes now. */
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

  /** Accepts connections again on the same port, after `close`. */
  async reopen(): Promise<void> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(this.port, this.host);
    await listening;
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
      // The tests break connections on purpose: the other half breaks with it.
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        // Soon, not at once: the last bytes of a server that disconnects still reach the client.
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

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';

/** The direction of bytes: requests to the server, or replies to the client. */
type Way = 'requests' | 'replies';

/** Starts a link on a free port of 127.0.0.1 to the server at another port. */
export async function startLink(target: number, random: () => number): Promise<Link> {
  const server = createServer({ noDelay: true });
  server.listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  return new Link(server, target, random);
}

/** One connection over a link: both ends, and the bytes in flight. */
interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** A bad network between a client and a server: slow, unsteady, broken in the middle of replies, or silent one way. */
export class Link {
  readonly host = '127.0.0.1';
  readonly port: number;
  /** The least and the additional milliseconds that bytes take, each way. */
  latency = 0;
  jitter = 0;
  /** Connections reset in the middle of a reply so far. */
  resets = 0;
  readonly #server: Server;
  readonly #target: number;
  readonly #random: () => number;
  readonly #pairs = new Set<Pair>();
  readonly #silent = new Set<Way>();
  #toReset = 0;

  constructor(server: Server, target: number, random: () => number) {
    this.#server = server.on('connection', (client) => this.#join(client));
    this.#target = target;
    this.#random = random;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Each of the next `count` replies is cut in half, and then its connection is reset. */
  resetReplies(count = 1): void {
    this.#toReset = count;
  }

  /** Drops the bytes of one direction from now on; the connections stay open, and new ones are accepted. */
  silence(way: Way): void {
    this.#silent.add(way);
  }

  /** Closes the server's ends of all connections without the client's: the bytes that it sends are dropped. */
  halfOpen(): void {
    for (const { client, upstream } of this.#pairs) {
      client.removeAllListeners('data').resume();
      upstream.removeAllListeners('close').destroy();
    }
  }

  /** Passes bytes again. Dropped bytes are missing, so the connections of that time are reset. */
  heal(): void {
    this.#silent.clear();
    for (const pair of this.#pairs) reset(pair);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const pair of this.#pairs) reset(pair);
    await closed;
  }

  #join(client: Socket): void {
    const upstream = connect({ port: this.#target, host: this.host, noDelay: true });
    const pair = { client, upstream };
    this.#pairs.add(pair);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      from.on('error', () => {});
      from.on('close', () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
    }
    this.#carry(client, upstream, 'requests');
    this.#carry(upstream, client, 'replies', (chunk) => {
      if (this.#toReset === 0) return false;
      this.#toReset--;
      this.resets++;
      client.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => reset(pair));
      return true;
    });
  }

  #carry(from: Socket, to: Socket, way: Way, intercepts: (chunk: Buffer) => boolean = () => false): void {
    let due = 0;
    // In order, however long each part takes, and whichever timer fires first.
    const inFlight: Buffer[] = [];
    const arrive = () => {
      const chunk = inFlight.shift()!;
      if (!to.destroyed && !intercepts(chunk)) to.write(chunk);
    };
    from.on('data', (chunk) => {
      if (this.#silent.has(way)) return;
      due = Math.max(due, performance.now() + this.latency + this.jitter * this.#random());
      const wait = due - performance.now();
      inFlight.push(chunk);
      if (wait > 0 || inFlight.length > 1) setTimeout(arrive, wait);
      else arrive();
    });
  }
}

function reset({ client, upstream }: Pair): void {
  client.resetAndDestroy();
  upstream.destroy();
}

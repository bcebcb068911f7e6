import { type Cost, sameCost } from '../limits/cost.ts';
import type { Peers, Request } from './request.ts';

/** The permits that the assessed requests without reservations ask for. */
export class QueuedPermits {
  /** Permits of each limit: of all these requests, and of the requests that are certain to be granted. */
  readonly all: number[];
  readonly certain: number[];
  /** The most permits of each limit that a request has asked for since the queue was empty. */
  readonly most: number[];
  /** The peers of the last request that is not certain. */
  #peers: Peers | undefined;

  constructor(limits: number) {
    this.all = new Array(limits).fill(0);
    this.certain = new Array(limits).fill(0);
    this.most = new Array(limits).fill(0);
  }

  /** A request has joined the queue. */
  joined(cost: Cost, isFirst: boolean): void {
    for (let i = 0; i < cost.length; i++) if (isFirst || cost[i] > this.most[i]) this.most[i] = cost[i];
  }

  /** Counts `count` requests like this one, which have been assessed or, if negative, have left. */
  add({ cost, certain, peers }: Request, count: number): void {
    if (peers) peers.count += count;
    for (let i = 0; i < cost.length; i++) {
      this.all[i] += cost[i] * count;
      if (certain) this.certain[i] += cost[i] * count;
    }
  }

  clear(): void {
    this.all.fill(0);
    this.certain.fill(0);
    this.#peers = undefined;
  }

  /** The number of peers that are granted before a request, if it is granted. */
  peersOf(cost: Cost, deadline: number): number {
    return this.#peersFor(cost, deadline)?.count ?? 0;
  }

  /** Whether a request like this one counts among its peers. */
  hasPeers({ cost, deadline, peers }: Request): boolean {
    return peers !== undefined && this.#peersFor(cost, deadline) === peers;
  }

  /** Returns the peers among which a request counts from now on. */
  joinPeers({ cost, deadline }: Request): Peers {
    const peers = this.#peersFor(cost, deadline) ?? { cost, deadline, count: 0 };
    peers.deadline = Math.min(peers.deadline, deadline);
    this.#peers = peers;
    return peers;
  }

  /** The peers of a request. Deadlines within one millisecond are equal, since moments are whole. */
  #peersFor(cost: Cost, deadline: number): Peers | undefined {
    const peers = this.#peers;
    return peers && sameCost(cost, peers.cost) && deadline < peers.deadline + 1 ? peers : undefined;
  }
}

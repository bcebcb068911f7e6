import type { Cost } from '../limits/cost.ts';
import type { Peers, Request } from './request.ts';

/** The permits that requests without reservations ask for, and what is known of their chances. */
export class QueuedPermits {
  /** Permits of each limit that they ask for, and of those the ones of requests that are certain to be granted. */
  readonly all: number[];
  readonly certain: number[];
  /** The peers of the last request that is not certain. */
  peers: Peers | undefined;

  constructor(limits: number) {
    this.all = new Array(limits).fill(0);
    this.certain = new Array(limits).fill(0);
  }

  /** `count` requests like this one have joined or, below 0, left. */
  add({ cost, certain, peers }: Request, count: number): void {
    if (peers) peers.count += count;
    addTo(this.all, cost, count);
    if (certain) addTo(this.certain, cost, count);
  }

  /** Records that a request is certain to be granted, or counts among some peers. */
  assess(request: Request, certain: boolean, peers: Peers | undefined): void {
    this.add(request, -request.count);
    request.certain = certain;
    request.peers = peers;
    this.add(request, request.count);
  }
}

/** Adds the permits of `count` requests of a cost. */
export function addTo(sums: number[], cost: Cost, count: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] += cost[i] * count;
}

/** What the process with the blocked event loop requests, and what it reports of each grant. */
export const limit = { kind: 'slidingWindow', permits: 20, interval: 200, resolution: 1 } as const;
export const requests = 200;

export interface Sight {
  index: number;
  grantedAt: number;
  /** The wall clock at the receipt of the grant. */
  receivedAt: number;
}

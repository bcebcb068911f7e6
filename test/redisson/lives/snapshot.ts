// The keys of a limiter in Redis, read at one moment.

export const clients = ['a', 'b'] as const;
export type ClientId = (typeof clients)[number];

/** The owner of the state: all clients, or one. */
export const owners = ['all', ...clients] as const;
export type Owner = (typeof owners)[number];

export interface Entry {
  /** Epoch milliseconds by the clock of the writer. */
  readonly at: number;
  readonly permits: number;
}

/** The expiry of a key: epoch milliseconds, -1 for never, or -2 if the key is missing. */
export type End = number;

export interface Config {
  readonly rate: number;
  readonly interval: number;
  readonly perClient: boolean;
  readonly keepAlive: number;
  readonly ends: End;
}

export interface State {
  readonly value: number | undefined;
  readonly valueEnds: End;
  readonly log: readonly Entry[];
  readonly logEnds: End;
}

export interface Snapshot {
  readonly config: Config | undefined;
  readonly states: Readonly<Record<Owner, State>>;
}

/** Reads a snapshot. KEYS: the config, and a `value` and a log for each owner. */
export const snapshotScript = `
local answer = { { redis.call('PEXPIRETIME', KEYS[1]), unpack(redis.call(
  'HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')) } }
for i = 2, #KEYS, 2 do
  local members, entries = redis.call('ZRANGE', KEYS[i + 1], 0, -1, 'WITHSCORES'), {}
  for j = 1, #members, 2 do
    local _, permits = struct.unpack('Bc0I', members[j])
    entries[#entries + 1], entries[#entries + 2] = members[j + 1], permits
  end
  answer[#answer + 1] = {
    redis.call('PEXPIRETIME', KEYS[i]), redis.call('PEXPIRETIME', KEYS[i + 1]), redis.call('GET', KEYS[i]), entries,
  }
end
return answer`;

type StateRow = [End, End, string | null, (string | number)[]];
type Row = [[End, string | null, string, string, string | null], ...StateRow[]];

/** The reply of the script above. */
export function readSnapshot(answer: unknown): Snapshot {
  const [[ends, rate, interval, type, keepAlive], ...rows] = answer as Row;
  const config = rate !== null && {
    rate: Number(rate),
    interval: Number(interval),
    perClient: type === '1',
    keepAlive: Number(keepAlive ?? 0),
    ends,
  };
  const states = Object.fromEntries(owners.map((owner, i) => [owner, stateOf(rows[i])]));
  return { config: config || undefined, states: states as Record<Owner, State> };
}

function stateOf([valueEnds, logEnds, value, entries]: StateRow): State {
  const log = Array.from({ length: entries.length / 2 }, (_, i) => ({
    at: Number(entries[2 * i]),
    permits: Number(entries[2 * i + 1]),
  }));
  return { value: value === null ? undefined : Number(value), valueEnds, log, logEnds };
}

/** The owner of the state that a client works on. */
export function ownerFor(config: Config, client: ClientId): Owner {
  return config.perClient ? client : 'all';
}

/** The permits in a log that count at a time in microseconds. Entries in the future count as of now. */
export function counting({ log }: State, interval: number, us: number): number {
  const begin = Math.floor(us / 1000) - interval;
  return log.reduce((sum, { at, permits }) => (at > begin ? sum + permits : sum), 0);
}

/** All permits in a log, including expired ones. */
export function permitsIn({ log }: State): number {
  return log.reduce((sum, { permits }) => sum + permits, 0);
}

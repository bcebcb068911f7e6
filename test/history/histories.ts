import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LimitSpec } from '../properties/specs.ts';
import type { Called, Fault, HistoryEvent } from './events.ts';

/** A request and its result. */
export interface RequestHistory {
  id: number;
  asked: number;
  permits: number;
  /** Milliseconds; Infinity without an end. */
  timeout: number;
  /** Its end and the time of it; undefined for one that was open when its process ended. */
  end?: 'granted' | 'refused' | 'cancelled' | 'failed';
  ended?: number;
  /** Of a granted one. */
  moment?: number;
  source?: string;
  /** Permits refunded by its process since. */
  returned: number;
}

/** The requests of one process and their results. */
export interface ProcessHistory {
  process: string;
  limit: LimitSpec;
  requests: RequestHistory[];
  calls: Called[];
  /** The times of refunds to the store, and their permits. */
  gaveBack: { at: number; permits: number; moments?: number[] }[];
  /** Whether it ended normally; a killed process has not. */
  stopped: boolean;
  /** Contradictions between its lines, such as a request that ended twice. */
  contradictions: string[];
}

/** All histories of a run. */
export interface Histories {
  processes: ProcessHistory[];
  faults: Fault[];
}

/** Reads every `*.jsonl` of a folder. */
export function readHistories(folder: string): Histories {
  return historiesOf(eventsIn(folder));
}

/** The events of every `*.jsonl` of a folder. */
export function eventsIn(folder: string): HistoryEvent[][] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
  return files.map((name) => eventsOf(readFileSync(join(folder, name), 'utf8')));
}

/** The events of a file. A process that is killed may leave half a line at the end. */
function eventsOf(text: string): HistoryEvent[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The histories of several processes, each with its events in the order of writing. */
export function historiesOf(all: readonly (readonly HistoryEvent[])[]): Histories {
  const faults = all.flat().filter((event): event is Fault => event.event === 'fault');
  const processes = all.flatMap((events) =>
    events.some(({ event }) => event === 'started') ? processOf(events) : [],
  );
  return { processes, faults: faults.sort((a, b) => a.at - b.at) };
}

function processOf(events: readonly HistoryEvent[]): ProcessHistory {
  const history: ProcessHistory = {
    process: '',
    limit: undefined as never,
    requests: [],
    calls: [],
    gaveBack: [],
    stopped: false,
    contradictions: [],
  };
  const byId = new Map<number, RequestHistory>();
  const requestOf = (id: number, what: string) => {
    const request = byId.get(id);
    if (!request) history.contradictions.push(`request ${id} was never asked, and is ${what}`);
    return request;
  };
  for (const event of events) {
    switch (event.event) {
      case 'started':
        history.process = event.process;
        history.limit = event.limit;
        break;
      case 'asked': {
        const { id, at, permits, timeout } = event;
        const request = { id, asked: at, permits, timeout: timeout ?? Infinity, returned: 0 };
        byId.set(id, request);
        history.requests.push(request);
        break;
      }
      case 'granted':
      case 'refused':
      case 'cancelled':
      case 'failed': {
        const request = requestOf(event.id, event.event);
        if (!request) break;
        if (request.end)
          history.contradictions.push(`request ${event.id} is ${request.end} and ${event.event}`);
        request.end = event.event;
        request.ended = event.at;
        if (event.event === 'granted') {
          request.moment = event.moment;
          request.source = event.source;
        }
        break;
      }
      case 'returned': {
        const request = requestOf(event.id, event.event);
        if (request) request.returned += event.permits;
        break;
      }
      case 'called':
        history.calls.push(event);
        break;
      case 'gaveBack':
        history.gaveBack.push(event);
        break;
      case 'stopped':
        history.stopped = true;
        break;
    }
  }
  return history;
}

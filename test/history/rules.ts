import { overLimit, type PermitsAt } from '../properties/oracle.ts';
import type { LimitSpec } from '../properties/specs.ts';
import type { Called } from './events.ts';
import type { Histories, ProcessHistory, RequestHistory } from './histories.ts';

/*
 * The invariants of the histories of a fleet under any faults. Each rule returns its first breach, or nothing. Where
 * the histories are inconclusive, a rule reports nothing: it has no false positives.
 */

type Rule = (histories: Histories) => string | undefined;

/** A grant of Redis, and the call that reserved it. */
interface Grant {
  process: ProcessHistory;
  request: RequestHistory;
  moment: number;
  call: Called;
}

/** Milliseconds by which the clocks of a process and of Redis may differ on one machine, rounding included. */
const clockError = 2;

/**
 * Milliseconds without a grant, beyond two intervals, that are allowed while a request waits: twice the time that a
 * reservation is made ahead.
 */
const grace = 4_000;

/** Granted permits that were not refunded never exceed the limit. After a loss of data, the limit counts anew. */
export const neverOver: Rule = (histories) => {
  const byPhase = groupsOf(grantsOf(histories), ({ call }) => phaseOf(histories, call));
  for (const grants of byPhase.values()) {
    const standing = grants
      .map(({ request, moment }) => ({ t: moment, n: request.permits - request.returned }))
      .filter(({ n }) => n > 0);
    const breach = overInParts(grants[0].process.limit, standing);
    if (breach) return breach;
  }
  return undefined;
};

/** Every grant has a moment reserved by a call of its process, and is not handed out before it. */
export const asReserved: Rule = ({ processes }) => {
  for (const { process, requests, calls } of processes) {
    const left = new Map<number, number>();
    for (const { moment, permits, count } of calls.flatMap(({ reserved }) => reserved))
      left.set(moment, (left.get(moment) ?? 0) + permits * count);
    for (const { id, moment, source, permits, ended } of requests) {
      if (moment === undefined || source !== 'redis') continue;
      if (ended! < moment - clockError)
        return `${process}: request ${id} is granted at ${ended}, before ${moment}`;
      const rest = (left.get(moment) ?? 0) - permits;
      if (rest < 0) return `${process}: request ${id} is granted for ${moment}, which it has not reserved`;
      left.set(moment, rest);
    }
  }
  return undefined;
};

/** Within a process, a request never has an earlier moment than an earlier request that was granted too. */
export const inOrderWithin: Rule = (histories) => {
  const byProcess = groupsOf(grantsOf(histories), ({ process }) => process);
  for (const [{ process }, grants] of byProcess) {
    const newest = new Map<string, Grant>();
    for (const grant of grants) {
      const phase = phaseOf(histories, grant.call);
      const before = newest.get(phase);
      if (before && grant.moment < before.moment)
        return `${process}: request ${grant.request.id} is granted for ${grant.moment}, request ${before.request.id} before it for ${before.moment}`;
      newest.set(phase, grant);
    }
  }
  return undefined;
};

/**
 * Across processes, calls reserve in the order in which they reach Redis. Only as many permits pass others as were
 * refunded before: those use the permits freed in the middle of the queue. Clients that wait in order or in turns may pass
 * reservations: what they are granted of a window is not spaced, and reservations are.
 */
export const inOrderAcross: Rule = (histories) => {
  const { processes } = histories;
  const calls = processes.flatMap(({ process, calls }) => calls.map((call) => ({ process, call })));
  const gaveBack = processes.flatMap((one) => one.gaveBack).sort((a, b) => a.at - b.at);
  const groups = groupsOf(calls, ({ call }) => `${call.epoch} ${phaseOf(histories, call)}`);
  for (const ofEpoch of groups.values()) {
    /** The number of requests at each moment whose reservations were not refunded; less than 0 until these are known. */
    const standing = new Map<number, number>();
    const add = (moment: number, count: number) => standing.set(moment, (standing.get(moment) ?? 0) + count);
    const newestOf = () => {
      let newest = -Infinity;
      for (const [moment, count] of standing) if (count > 0) newest = Math.max(newest, moment);
      return newest;
    };
    let newest = -Infinity;
    let passing = 0;
    let returned = 0;
    let next = 0;
    for (const { process, call } of ofEpoch.sort((a, b) => a.call.now - b.call.now)) {
      for (; next < gaveBack.length && gaveBack[next].at <= call.now + clockError; next++) {
        returned += gaveBack[next].permits;
        for (const moment of gaveBack[next].moments ?? []) add(moment, -1);
        if (!(standing.get(newest)! > 0)) newest = newestOf();
      }
      for (const { moment, permits, count } of call.reserved) {
        if (moment < newest && !call.hasTurn) passing += permits * count;
        if (passing > returned)
          return `${process}: ${passing} permits pass others that were reserved before, and ${returned} were given back, at ${call.now}`;
        add(moment, count);
        if (standing.get(moment)! > 0) newest = Math.max(newest, moment);
      }
    }
  }
  return undefined;
};

/** Every request ends once, and refunds at most its grant; requests of a killed process may stay open. */
export const nothingLost: Rule = ({ processes }) => {
  for (const { process, requests, stopped, contradictions } of processes) {
    if (contradictions.length > 0) return `${process}: ${contradictions[0]}`;
    for (const { id, end, permits, returned } of requests) {
      if (stopped && !end) return `${process}: request ${id} has not ended`;
      if (returned > (end === 'granted' ? permits : 0))
        return `${process}: request ${id} of ${permits} permits has given back ${returned}`;
    }
  }
  return undefined;
};

/** Every reservation of a process is granted or refunded: a refused or cancelled request is not charged. */
export const refusedIsFree: Rule = ({ processes, faults }) => {
  // A lost reply has reserved permits unknown to the process, and void reservations are not refunded.
  const epochs = new Set(processes.flatMap(({ calls }) => calls.map(({ epoch }) => epoch)));
  if (faults.length > 0 || epochs.size > 1) return undefined;
  for (const { process, requests, calls, gaveBack, stopped } of processes) {
    if (!stopped) continue;
    const granted = requests.filter(({ end }) => end === 'granted');
    const used = sumOf(granted, ({ permits, returned }) => permits - returned);
    const reserved = sumOf(calls, (call) => sumOf(call.reserved, ({ permits, count }) => permits * count));
    const back = sumOf(gaveBack, ({ permits }) => permits);
    if (reserved !== used + back)
      return `${process}: ${reserved} permits are reserved, ${used} used, ${back} given back`;
  }
  return undefined;
};

/**
 * While a request waits, some request of the fleet is granted repeatedly, unless a fault prevents or has prevented it.
 */
export const liveness: Rule = ({ processes, faults }) => {
  const requests = processes.flatMap((one) => one.requests);
  if (requests.length === 0) return undefined;
  const most = 2 * processes[0].limit.interval + grace;
  const ends = processes
    .filter(({ stopped }) => stopped)
    .flatMap((one) => one.requests.map(({ ended }) => ended!));
  const times = [
    Math.min(...requests.map(({ asked }) => asked)),
    ...requests.filter(({ end }) => end === 'granted').map(({ ended }) => ended!),
    ends.reduce((latest, end) => Math.max(latest, end), -Infinity),
  ]
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  for (let i = 1; i < times.length; i++) {
    const [from, to] = [times[i - 1], times[i]];
    if (to - from <= most) continue;
    const waited = requests.find(
      ({ asked, ended }) => ended !== undefined && Math.min(ended, to) - Math.max(asked, from) > most,
    );
    const disturbed = faults.some(({ at, until }) => at < to && until + most > from);
    if (waited && !disturbed)
      return `nothing is granted from ${from} to ${to}, while request ${waited.id} waits`;
  }
  return undefined;
};

/** Every rule, by its name. */
export const rules: Record<string, Rule> = {
  'never over': neverOver,
  'as reserved': asReserved,
  'first come, first served within a process': inOrderWithin,
  'first come, first served across processes': inOrderAcross,
  'nothing lost': nothingLost,
  'refused is free': refusedIsFree,
  liveness,
};

/**
 * The part of the history that a call belongs to, between two losses of data. After a loss at an unknown time, the ledger has
 * another epoch.
 */
function phaseOf({ faults }: Histories, { now, epoch }: Called): string {
  const before = faults.filter(({ lost, at }) => lost === true && now >= at).length;
  return faults.some(({ lost }) => lost === 'sometime') ? `${before} ${epoch}` : `${before}`;
}

/**
 * All grants of Redis, those of a process in the order of their requests, each with the last call that reserved its
 * moment. Of a moment that a process reserved before a loss of data and after it, the histories do not say which one it was.
 */
function grantsOf(histories: Histories): Grant[] {
  return histories.processes.flatMap((process) => {
    const callOf = new Map<number, Called>();
    const unsure = new Set<number>();
    for (const call of process.calls)
      for (const { moment } of call.reserved) {
        const other = callOf.get(moment);
        if (other && phaseOf(histories, other) !== phaseOf(histories, call)) unsure.add(moment);
        callOf.set(moment, call);
      }
    return process.requests.flatMap((request): Grant[] => {
      const { moment, source } = request;
      if (moment === undefined || source !== 'redis' || unsure.has(moment)) return [];
      const call = callOf.get(moment);
      return call ? [{ process, request, moment, call }] : [];
    });
  });
}

/**
 * Long histories are checked in overlapping parts, as the oracles compare each grant with each: no window is longer
 * than half a part.
 */
function overInParts(limit: LimitSpec, standing: readonly PermitsAt[]): string | undefined {
  const line = [...standing].sort((a, b) => a.t - b.t);
  const half = 2 * limit.interval;
  for (let first = 0; first < line.length; ) {
    const from = line[first].t;
    const part: PermitsAt[] = [];
    let next = line.length;
    for (let i = first; i < line.length && line[i].t < from + 2 * half; i++) {
      part.push(line[i]);
      if (next === line.length && line[i].t >= from + half) next = i;
    }
    const breach = overLimit(limit, part);
    if (breach) return breach;
    first = next < line.length ? next : first + part.length;
  }
  return undefined;
}

function groupsOf<K, T>(all: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}

function sumOf<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0);
}

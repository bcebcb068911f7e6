import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import type {
  ControlledLedger,
  DecideReply,
  LastMoment,
  Rate,
  RateChange,
  Refund,
  RefundReply,
  Reply,
  ReserveReply,
  ReserveRequest,
} from '../store.ts';
import { type Answer, coversAll, listed, malformed, segmentsOf } from './replies.ts';
import { type Seat, Tools } from './seat.ts';
import { specOf } from './spec.ts';

/** Microseconds for a script; -1 for no bound. */
function microseconds(ms: number): number {
  return ms === Infinity ? -1 : Math.floor(ms * 1000);
}

/** Milliseconds of a script's microseconds; undefined for its -1. */
function milliseconds(us: number): number | undefined {
  return us < 0 ? undefined : us / 1000;
}

/** The numbers before the segments of a reply. */
const head = 5;

/** The ledger of one limiter in Redis. One that is not asked is a few words. */
export class RedisLedger implements ControlledLedger {
  readonly #seat: Seat;
  /** The key of a group's limiter. */
  readonly #key: string | undefined;
  #kept: Tools | undefined;

  constructor(seat: Seat, key: string | undefined) {
    this.#seat = seat;
    this.#key = key;
  }

  get sync(): false {
    return false;
  }

  get source(): 'redis' {
    return 'redis';
  }

  get limits(): readonly Limit[] {
    return (this.#kept?.calls.rate ?? this.#seat.own).limits;
  }

  get #tools(): Tools {
    this.#kept ??= new Tools(this.#seat, this.#key);
    return this.#kept;
  }

  /** What a question needs. Of a key of a group it is not kept: many keys are asked about once. */
  get #toolsOnce(): Tools {
    return this.#kept ?? (this.#key === undefined ? this.#tools : new Tools(this.#seat, this.#key));
  }

  /** Unless they have learned of another rate. */
  #keeping<T>(tools: Tools, reply: Reply<T>): Reply<T> {
    if (tools === this.#kept) return reply;
    return (error, answer) => {
      if (tools.calls.rate.stored) this.#kept ??= tools;
      reply(error, answer);
    };
  }

  reserve({ runs, horizon, held, epoch, last }: ReserveRequest, reply: Reply<ReserveReply>): void {
    const after = [horizon, held, epoch, last?.moment ?? 0, last?.epoch ?? 0, runs.length];
    for (const { count, maxWait, cost } of runs) after.push(count, microseconds(maxWait), ...cost);
    const read = (answer: number[] | number): ReserveReply => {
      if (typeof answer === 'number') {
        const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
        return { now: answer / 1000, epoch, contenders: 1, segments };
      }
      const [now, newEpoch, contenders, paused, voidAfter] = answer;
      const segments = segmentsOf(answer, head);
      if (voidAfter === undefined || !coversAll(runs, segments)) throw malformed(answer);
      const replied: ReserveReply = { now: now / 1000, epoch: newEpoch, contenders, segments };
      if (paused >= 0) replied.paused = milliseconds(paused);
      if (voidAfter >= 0) replied.voidAfter = milliseconds(voidAfter);
      return replied;
    };
    const { calls, ofClient } = this.#tools;
    calls.call(this.#seat.scripts.reserve, ofClient, after, read, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const after = [sequence, refunds.length];
    for (const { moment, epoch, count, cost } of refunds) after.push(moment, epoch, count, ...cost);
    const read = (answer: number[] | number): RefundReply => {
      // The sequence was known: what the call gave back was told to the one before it.
      if (Array.isArray(answer) && answer.length === 0) return {};
      return { restored: listed(answer, refunds.length).map((given) => given === 1) };
    };
    const { calls, ofLine } = this.#tools;
    calls.call(this.#seat.scripts.refund, ofLine, after, read, reply);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const { length } = this.#seat.names;
    const read = (answer: number[] | number): DecideReply => {
      // Of several limits, the one that refuses for longest is named.
      const isNamed = length > 1 && Array.isArray(answer) && answer.length > 3 + length;
      const [granted, wait, reset, ...rest] = listed(answer, 3 + length + (isNamed ? 1 : 0));
      const limiting = isNamed ? rest.pop()! : -1;
      if (limiting >= length) throw malformed(answer);
      const decision: DecideReply = {
        granted: granted === 1,
        available: rest,
        retryAfter: milliseconds(wait) ?? Infinity,
        resetAfter: reset / 1000,
      };
      if (limiting >= 0) decision.limiting = limiting;
      return decision;
    };
    const tools = this.#toolsOnce;
    const after = last ? [...cost, last.moment, last.epoch] : cost;
    const { calls, ofClient } = tools;
    calls.call(this.#seat.scripts.decide, ofClient, after, read, this.#keeping(tools, reply));
  }

  peek(reply: Reply<number[]>): void {
    const read = (answer: number[] | number) => listed(answer, this.#seat.names.length);
    const tools = this.#toolsOnce;
    const { calls, ofAnyone } = tools;
    calls.call(this.#seat.scripts.peek, ofAnyone, [], read, this.#keeping(tools, reply));
  }

  setRate(change: RateChange, reply: Reply<boolean>): void {
    const { calls, shared } = this.#tools;
    const spec = specOf(this.#seat.names, change.limits);
    const { ifAbsent, keepState } = change;
    const read = (answer: Answer) => {
      const stored = listed(answer, 1)[0] === 1;
      if (stored) calls.follow(spec);
      return stored;
    };
    calls.send(
      this.#seat.scripts.configure,
      shared,
      [spec, ifAbsent ? 1 : 0, keepState ? 1 : 0],
      read,
      reply,
    );
  }

  getRate(reply: Reply<Rate>): void {
    const { calls, shared } = this.#tools;
    const read = (answer: Answer) => {
      if (typeof answer !== 'string') throw malformed(answer);
      calls.follow(answer);
      const { limits, stored } = calls.rate;
      return { limits, stored };
    };
    calls.send(this.#seat.scripts.configure, shared, ['', 0, 0], read, reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    const { calls, shared } = this.#tools;
    calls.send(
      this.#seat.scripts.pause,
      shared,
      [Math.floor(ms * 1000)],
      (answer) => listed(answer, 1)[0] / 1000,
      reply,
    );
  }

  forget({ rate }: { rate: boolean }, reply: Reply<void>): void {
    const { calls, shared } = this.#tools;
    const read = () => {
      if (rate) calls.follow('[]');
    };
    calls.send(this.#seat.scripts.forget, shared, [rate ? 1 : 0], read, reply);
  }
}

import type { Cost } from '../../limits/cost.ts';
import { capacityOf, type Limit } from '../../limits/limit.ts';
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
import { KnownRate, type LedgerSetting } from './ledgerSetting.ts';
import {
  type Answer,
  answersOf,
  coversAll,
  listed,
  malformed,
  quickDecision,
  segmentsOf,
} from './replies.ts';
import { type Caller, ScriptCall, sendScript } from './scriptCall.ts';
import type { Script } from './scripts.ts';
import { limitsOf, specOf } from './spec.ts';
import { KeyWords, type Words } from './words.ts';

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

/** The ledger of one limiter in Redis. It takes little memory, as a group has many that are called once. */
export class RedisLedger implements ControlledLedger, Caller {
  readonly setting: LedgerSetting;
  /** The key of a group's limiter. */
  readonly #key: string | undefined;
  rate: KnownRate;
  #keys: Words | undefined;
  #refundKeys: Words | undefined;

  constructor(setting: LedgerSetting, key: string | undefined) {
    this.setting = setting;
    this.#key = key;
    this.rate = setting.own;
  }

  get sync(): false {
    return false;
  }

  get source(): 'redis' {
    return 'redis';
  }

  get limits(): readonly Limit[] {
    return this.rate.limits;
  }

  /** Follows a stored rate, or the limits of the code for an empty list. */
  follow(text: string): void {
    if (this.rate.isStored && this.rate.spec === text) return;
    const { names, client, keySpace, own } = this.setting;
    const limits = limitsOf(names, text, keySpace.tagOf(this.#key) + keySpace.control);
    this.rate = limits ? new KnownRate(client, limits, text, true) : own;
  }

  reserve({ runs, horizon, held, epoch, last }: ReserveRequest, reply: Reply<ReserveReply>): void {
    // Few clients have reservations: the others send fewer arguments.
    const numbers = [epoch, horizon];
    if (held > 0 || last) numbers.push(3, held, last?.moment ?? 0, last?.epoch ?? 0);
    else numbers.push(0);
    for (const { count, maxWait, cost } of runs) numbers.push(count, microseconds(maxWait), ...cost);
    const read = (answer: number[] | number): ReserveReply => {
      if (typeof answer === 'number') {
        if (answer <= 0) throw malformed(answer);
        const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
        return { now: answer / 1000, epoch, contenders: 1, segments };
      }
      const [now, newEpoch, contenders, paused, voidAfter] = answer;
      const segments = segmentsOf(answer, head);
      const isHead = now > 0 && newEpoch >= 0 && contenders >= 1 && paused >= -1 && voidAfter >= -1;
      if (!isHead || !coversAll(runs, segments)) throw malformed(answer);
      const replied: ReserveReply = { now: now / 1000, epoch: newEpoch, contenders, segments };
      if (paused >= 0) replied.paused = milliseconds(paused);
      if (voidAfter >= 0) replied.voidAfter = milliseconds(voidAfter);
      return replied;
    };
    this.#keys ??= this.#sharedKeys;
    this.#call(this.setting.scripts.reserve, this.#keys, numbers, read, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const { scripts, keySpace, client } = this.setting;
    const numbers = [sequence, refunds.length];
    for (const { moment, epoch, count, cost } of refunds) numbers.push(moment, epoch, count, ...cost);
    const read = (answer: number[] | number): RefundReply => {
      // The sequence number was known: the first reply to this call reported what it gave back.
      if (Array.isArray(answer) && answer.length === 0) return {};
      return { restored: answersOf(answer, refunds.length) };
    };
    // Sequence numbers count from 1 in every ledger, so that each has a key of its own for them.
    const line = () => `${client}:${globalThis.crypto.randomUUID()}`;
    this.#refundKeys ??= new KeyWords(keySpace.tagOf(this.#key), keySpace.refunds(line()));
    this.#call(scripts.refund, this.#refundKeys, numbers, read, reply);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const { scripts, names } = this.setting;
    const { length } = names;
    const read = (answer: number[] | number): DecideReply => {
      if (typeof answer === 'number')
        return quickDecision(answer, length > 1 ? -1 : capacityOf(this.limits[0]) - cost[0]);
      // Of several limits, the one with the longest wait is named.
      const isNamed = length > 1 && answer.length > 3 + length;
      const [granted, wait, reset, ...rest] = listed(answer, 3 + length + (isNamed ? 1 : 0), -1);
      const limiting = isNamed ? rest.pop()! : -1;
      const isWhole = granted === 0 || granted === 1;
      if (!isWhole || reset < 0 || rest.some((n) => n < 0) || limiting >= length) throw malformed(answer);
      const decision: DecideReply = {
        granted: granted === 1,
        available: rest,
        retryAfter: milliseconds(wait) ?? Infinity,
        resetAfter: reset / 1000,
      };
      if (limiting >= 0) decision.limiting = limiting;
      return decision;
    };
    const numbers = last ? [...cost, last.moment, last.epoch] : cost;
    this.#call(scripts.decide, this.#keysForOneCall, numbers, read, reply);
  }

  peek(reply: Reply<number[]>): void {
    const nothing = this.setting.names.map(() => 0);
    this.decide(nothing, (error, decision) => reply(error, decision?.available));
  }

  setRate({ limits, ifAbsent, keepState }: RateChange, reply: Reply<boolean>): void {
    const { scripts, names } = this.setting;
    const spec = specOf(names, limits);
    const read = (answer: Answer) => {
      const isStored = listed(answer, 1)[0] === 1;
      if (isStored) this.follow(spec);
      return isStored;
    };
    this.#send(scripts.configure, [spec, ifAbsent ? 1 : 0, keepState ? 1 : 0], read, reply);
  }

  getRate(reply: Reply<Rate>): void {
    const read = (answer: Answer) => {
      if (typeof answer !== 'string') throw malformed(answer);
      this.follow(answer);
      return { limits: this.limits, stored: this.rate.isStored };
    };
    this.#send(this.setting.scripts.configure, ['', 0, 0], read, reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    const read = (answer: Answer) => listed(answer, 1)[0] / 1000;
    this.#send(this.setting.scripts.pause, [Math.floor(ms * 1000)], read, reply);
  }

  forget({ rate }: { rate: boolean }, reply: Reply<void>): void {
    const read = (answer: Answer) => {
      if (answer !== 1) throw malformed(answer);
      if (rate) this.follow('[]');
    };
    this.#send(this.setting.scripts.forget, [rate ? 1 : 0], read, reply);
  }

  get #sharedKeys(): Words {
    const { keySpace } = this.setting;
    return new KeyWords(keySpace.tagOf(this.#key), keySpace.shared);
  }

  /** They are not kept for a key of a group, as many keys are called once. */
  get #keysForOneCall(): Words {
    if (this.#keys) return this.#keys;
    const keys = this.#sharedKeys;
    if (this.#key === undefined) this.#keys = keys;
    return keys;
  }

  #call<T>(
    script: Script,
    keys: Words,
    numbers: readonly number[],
    read: (answer: number[] | number) => T,
    reply: Reply<T>,
  ): void {
    new ScriptCall(this, script, keys, numbers, read, reply).make();
  }

  #send<T>(
    script: Script,
    args: readonly (string | number)[],
    read: (answer: Answer) => T,
    reply: Reply<T>,
  ): void {
    this.#keys ??= this.#sharedKeys;
    sendScript(this.setting, script, this.#keys.words, args, read, reply);
  }
}

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
  Run,
} from '../store.ts';
import { decideReplyOf, refundReplyOf, reserveReplyOf } from './ledgerReplies.ts';
import { KnownRate, type LedgerSetting } from './ledgerSetting.ts';
import { type Answer, listed, malformed } from './replies.ts';
import type { Script } from './script.ts';
import { type Caller, ScriptCall } from './scriptCall.ts';
import { sendScript } from './sendScript.ts';
import { limitsOf, specOf } from './spec.ts';
import { KeyWords, microseconds, type Words } from './words.ts';

/** Over a long connection, permits that come back must not wait for the reply to those before them. */
export const mostRefundCalls = 8;

/** Whether a cost is one permit of the only limit. */
function isOne(cost: Cost): boolean {
  return cost.length === 1 && cost[0] === 1;
}

/** Whether these are requests of one permit that wait as long as necessary. */
function isUsual(runs: readonly Run[]): boolean {
  if (runs.length !== 1) return runs.length === 0;
  const [{ count, maxWait, cost }] = runs;
  return count > 0 && maxWait === Infinity && isOne(cost);
}

/** The ledger of one limiter in Redis. It takes little memory, as a group has many that are called once. */
export class RedisLedger implements ControlledLedger, Caller {
  readonly setting: LedgerSetting;
  /** The key of a group's limiter. */
  readonly #key: string | undefined;
  rate: KnownRate;
  isSlow: boolean;
  #keys: Words | undefined;
  #fewKeys: Words | undefined;
  #refundKeys: Words[] | undefined;

  constructor(setting: LedgerSetting, key: string | undefined) {
    this.setting = setting;
    this.#key = key;
    this.rate = setting.own;
    this.isSlow = setting.names[0] !== '';
  }

  get sync(): false {
    return false;
  }

  get source(): 'redis' {
    return 'redis';
  }

  get mostRefundCalls(): number {
    return mostRefundCalls;
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

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    const { runs, horizon, held, epoch, last, earlier } = request;
    const numbers = [epoch, horizon];
    // Few clients have reservations, and most calls are of requests of one permit: fewer arguments take less of the server.
    if (held > 0 || last) numbers.push(earlier ? 4 : 3, held, last?.moment ?? 0, last?.epoch ?? 0);
    else if (!isUsual(runs)) numbers.push(0);
    if (numbers.length === 2) {
      const count = runs[0]?.count ?? 0;
      if (count !== 1 || this.setting.serverTime) numbers.push(count);
    } else for (const { count, maxWait, cost } of runs) numbers.push(count, microseconds(maxWait), ...cost);
    const { scripts } = this.setting;
    this.#call(scripts.reserve, this.allKeys, numbers, (answer) => reserveReplyOf(answer, request), reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const { scripts } = this.setting;
    const numbers = [sequence, refunds.length];
    for (const { moment, epoch, count, cost } of refunds) numbers.push(moment, epoch, count, ...cost);
    const keys = this.#keysOfRefunds(sequence % mostRefundCalls);
    this.#call(scripts.refund, keys, numbers, (answer) => refundReplyOf(answer, refunds), reply);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const { scripts, names, serverTime } = this.setting;
    const isUsual = isOne(cost) && !serverTime;
    const numbers = last ? [...cost, last.moment, last.epoch] : isUsual ? [] : cost;
    const read = (answer: number[] | number) => {
      // The limits may have changed since the call was made.
      const most = names.length > 1 ? -1 : capacityOf(this.limits[0]) - cost[0];
      return decideReplyOf(answer, names.length, most);
    };
    // The fast path serves no cost of 0, as that of a peek: such a call needs all keys.
    const keys = cost[0] > 0 ? this.#keysOfDecision : this.allKeys;
    this.#call(scripts.decide, keys, numbers, read, reply);
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

  get allKeys(): Words {
    const { keySpace } = this.setting;
    this.#keys ??= new KeyWords(keySpace.tagOf(this.#key), keySpace.shared);
    return this.#keys;
  }

  /** Few keys, until a call has needed all. They are not kept for a key of a group, as many keys are called once. */
  get #keysOfDecision(): Words {
    const known = this.#keys ?? this.#fewKeys;
    if (known) return known;
    const { keySpace } = this.setting;
    const keys = new KeyWords(keySpace.tagOf(this.#key), keySpace.few);
    if (this.#key === undefined) this.#fewKeys = keys;
    return keys;
  }

  /** Each ledger object counts its sequence numbers from 1, so each has its own keys for them. */
  #keysOfRefunds(remainder: number): Words {
    const { keySpace, client } = this.setting;
    this.#refundKeys ??= [];
    this.#refundKeys[remainder] ??= new KeyWords(
      keySpace.tagOf(this.#key),
      keySpace.refunds(`${client}:${globalThis.crypto.randomUUID()}`),
    );
    return this.#refundKeys[remainder];
  }

  #call<T>(
    script: Script,
    keys: Words,
    numbers: readonly number[],
    read: (answer: number[] | number) => T,
    reply: Reply<T>,
  ): void {
    new ScriptCall(this, { script, keys, numbers, read }, reply).make();
  }

  #send<T>(
    script: Script,
    args: readonly (string | number)[],
    read: (answer: Answer) => T,
    reply: Reply<T>,
  ): void {
    sendScript(this.setting, script, this.allKeys.words, args, read, reply);
  }
}

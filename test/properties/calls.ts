import type { Cost } from '../../src/limits/cost.ts';
import type {
  ControlledLedger,
  DecideReply,
  LastMoment,
  Rate,
  Refund,
  RefundReply,
  Reply,
  ReserveReply,
  ReserveRequest,
} from '../../src/stores/store.ts';
import { type LimitSpec, limitOf } from './specs.ts';

/** A rate to store, as plain data. */
export interface RateSpec {
  limits: readonly LimitSpec[];
  ifAbsent: boolean;
  keepState: boolean;
}

/** A call of a ledger, as plain data, and the server's time when it arrives. */
export type Call = { client: number; serverUs: number } & (
  | { kind: 'reserve'; request: ReserveRequest }
  | { kind: 'decide'; cost: Cost; last?: LastMoment }
  | { kind: 'refund'; refunds: readonly Refund[]; sequence: number }
  | { kind: 'peek' }
  | { kind: 'setRate'; change: RateSpec }
  | { kind: 'getRate' }
  | { kind: 'pause'; ms: number }
  | { kind: 'forget'; rate: boolean }
);

/** A ledger's reply: available permits for a peek, whether a rate was stored, the length of a pause, or nothing. */
export type CallReply =
  | ReserveReply
  | RefundReply
  | DecideReply
  | Rate
  | number[]
  | boolean
  | number
  | undefined;

export function callLedger(ledger: ControlledLedger, call: Call, reply: Reply<CallReply>): void {
  const done: Reply<void> = (error) => reply(error);
  if (call.kind === 'reserve') ledger.reserve(call.request, reply);
  else if (call.kind === 'decide') ledger.decide(call.cost, reply, call.last);
  else if (call.kind === 'refund') ledger.refund(call.refunds, call.sequence, reply);
  else if (call.kind === 'peek') ledger.peek(reply);
  else if (call.kind === 'setRate')
    ledger.setRate({ ...call.change, limits: call.change.limits.map(limitOf) }, reply);
  else if (call.kind === 'getRate') ledger.getRate(reply);
  else if (call.kind === 'pause') ledger.pause(call.ms, reply);
  else ledger.forget({ rate: call.rate }, done);
}

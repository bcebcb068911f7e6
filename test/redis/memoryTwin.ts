import { lift, noControl, pause, storeRate } from '../../src/stores/memory/control.ts';
import { expand } from '../../src/stores/memory/createLedger.ts';
import { decide, decideReopened } from '../../src/stores/memory/decide.ts';
import type { LedgerState } from '../../src/stores/memory/ledgerState.ts';
import { moveUp } from '../../src/stores/memory/moveUp.ts';
import { closeLedger, instantOf, openLedger } from '../../src/stores/memory/openLedger.ts';
import { type LastRefunds, refund } from '../../src/stores/memory/refund.ts';
import { reserve } from '../../src/stores/memory/reserve.ts';
import { reopen, takeNow } from '../../src/stores/memory/take.ts';
import type { Call, CallReply } from '../properties/calls.ts';
import { limitOf } from '../properties/specs.ts';
import { type ControlPicture, controlPicture } from './controlString.ts';
import { type Picture, pictureOf } from './picture.ts';
import type { Config, Scope } from './twins.ts';

/** The reply to a call, and the states of the ledger and the control after it. */
export interface Outcome {
  reply: CallReply;
  /** Undefined if there is no ledger. */
  state: Picture | undefined;
  control: ControlPicture;
  /** After refunds: the last sequence number of the client, and until when it is remembered. */
  sequence: { last: number; until: number } | undefined;
}

/**
 * The memory store's ledgers, whose states can be inspected. With `taken`, single requests take the fast path where possible,
 * and `taken` is called for each of them.
 */
export function memoryTwin(scope: Scope, taken?: () => void): (config: Config, call: Call) => Outcome {
  const ledgers = new Map<number | undefined, LedgerState>();
  const control = noControl();
  /** Of the limiter objects of the clients. */
  const refunds = new Map<number, LastRefunds>();

  function refundsOf(client: number): LastRefunds {
    const known = refunds.get(client) ?? { last: 0, until: 0 };
    refunds.set(client, known);
    return known;
  }

  function replyTo({ names, limits }: Config, call: Call, whose: number | undefined): CallReply {
    const { serverUs } = call;
    const client = `client ${call.client}`;
    const kept = ledgers.get(whose);
    if (call.kind === 'pause') return pause(control, call.ms, serverUs);
    if (call.kind === 'getRate')
      return { limits: control.limits ?? limits, stored: control.limits !== undefined };
    if (call.kind === 'forget') {
      lift(control, call.rate, serverUs);
      // In Redis, only the sequences remain, which have their own keys.
      if (kept) ledgers.set(whose, { ...expand(kept), epoch: 0, shift: 0, seen: 0, expires: 0 });
      return undefined;
    }
    if (call.kind === 'setRate') {
      const { limits: rate, ifAbsent, keepState } = call.change;
      if (ifAbsent && control.limits) return false;
      storeRate(control, names, rate.map(limitOf), keepState, kept?.epoch ?? 0, serverUs);
    }
    const quick = taken && takeQuickly({ names, limits }, call, whose);
    if (quick) {
      taken();
      return quick;
    }
    const { ledger, instant } = openLedger(kept, names, limits, serverUs, control, 0, 0, scope === 'client');
    ledgers.set(whose, ledger);
    const answer = (): CallReply => {
      if (call.kind === 'setRate') return true;
      if (call.kind === 'decide') return decide(ledger, instant, client, call.cost, call.last);
      if (call.kind === 'reserve') {
        moveUp(ledger, instant);
        return { now: serverUs / 1000, ...reserve(ledger, instant, client, call.request) };
      }
      if (call.kind === 'peek')
        return decide(
          ledger,
          instant,
          client,
          names.map(() => 0),
          undefined,
        ).available;
      return refund(ledger, instant, refundsOf(call.client), call.refunds, call.sequence);
    };
    const reply = answer();
    closeLedger(ledger, instant);
    return reply;
  }

  function takeQuickly({ names, limits }: Config, call: Call, whose: number | undefined): CallReply {
    if (call.kind === 'decide' && call.last) return undefined;
    if (call.kind !== 'decide' && !isSingle(call)) return undefined;
    const { serverUs } = call;
    const ledger = reopen(ledgers.get(whose), names, limits, serverUs, control);
    if (!ledger) return undefined;
    const instant = instantOf(ledger, serverUs);
    let reply: CallReply;
    if (call.kind === 'decide') reply = decideReopened(ledger, instant, `client ${call.client}`, call.cost);
    else if (takeNow(ledger, instant, call.request.runs[0].cost)) {
      const segments = [{ count: 1, delay: 0, retryAfter: 0 }];
      reply = { now: serverUs / 1000, epoch: ledger.epoch, contenders: 1, segments };
    } else return undefined;
    closeLedger(ledger, instant);
    ledgers.set(whose, ledger);
    return reply;
  }

  return (config, call) => {
    const whose = scope === 'client' ? call.client : undefined;
    const reply = replyTo(config, call, whose);
    const ledger = ledgers.get(whose);
    const now = Math.floor(call.serverUs / 1000) + (ledger?.shift ?? 0);
    const isThere = ledger && ledger.expires > 0;
    return {
      reply,
      state: isThere ? pictureOf(expand(ledger), now) : undefined,
      control: controlPicture(control),
      sequence: call.kind === 'refund' ? { ...refundsOf(call.client) } : undefined,
    };
  };
}

/** Whether a call reserves for one request of a client without reservations. */
function isSingle(call: Call): call is Extract<Call, { kind: 'reserve' }> {
  if (call.kind !== 'reserve' || call.request.last) return false;
  const { runs, held } = call.request;
  return runs.length === 1 && runs[0].count === 1 && held === 0;
}

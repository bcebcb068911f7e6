import { noControl } from '../../src/stores/memory/control.ts';
import { decide } from '../../src/stores/memory/decide.ts';
import {
  availableNow,
  closeLedger,
  type Instant,
  type LedgerState,
  openLedger,
} from '../../src/stores/memory/ledgerState.ts';
import { refund, rememberSequence } from '../../src/stores/memory/refund.ts';
import { reserve } from '../../src/stores/memory/reserve.ts';
import type { Call, CallReply } from '../properties/world.ts';
import { type Picture, pictureOf } from './picture.ts';
import type { Config } from './twins.ts';

/** What a call answered, and what the ledger knew after it. */
export interface Outcome {
  reply: CallReply;
  state: Picture;
}

/** The memory store's ledger, open to be looked at. */
export function memoryTwin(): (config: Config, call: Call) => Outcome {
  let kept: LedgerState | undefined;
  const control = noControl();
  return (config, call) => {
    const { ledger, instant } = openLedger(kept, config.names, config.limits, call.serverUs, control);
    kept = ledger;
    const reply = replyTo(ledger, instant, call);
    closeLedger(ledger, instant);
    return { reply, state: pictureOf(ledger, instant, config) };
  };
}

function replyTo(ledger: LedgerState, instant: Instant, call: Call): CallReply {
  const client = `client ${call.client}`;
  if (call.kind === 'decide') return decide(ledger, instant, client, call.cost);
  if (call.kind === 'reserve') {
    return { now: call.serverUs / 1000, ...reserve(ledger, instant, client, call.request) };
  }
  if (call.kind === 'peek') return availableNow(ledger, instant);
  const fresh = refund(ledger, instant, client, call.refunds, call.sequence);
  if (fresh) rememberSequence(ledger, instant, client, call.sequence);
  return undefined;
}

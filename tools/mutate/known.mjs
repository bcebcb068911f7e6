/*
 * Mutants that tests once failed to detect, and those that no operator makes. Each names the tests that are expected to
 * detect it; the script fails unless each `find` occurs exactly once in its file.
 */

const log = 'lua/limits/sliding-window/log.lua';
const history = 'lua/limits/token-bucket/history.lua';
const epochs = 'lua/ledger/epochs.lua';
const constants = ['test/redis/constants'];
const givenBack = ['test/redis/givenBack'];
const tickets = ['test/redis/tickets'];
const debts = ['test/redis/debts'];
const windowRates = ['test/limits/windowRates'];
const window = 'src/limits/fixedWindow.ts';
const windows = 'src/limits/windows.ts';
const fixedGap = 'src/limits/fixedGap.ts';
const bucket = 'src/limits/bucketHistory.ts';
const bucketRoom = 'src/limits/bucketRoom.ts';
const bucketLevel = 'src/limits/bucketLevel.ts';
const tokenBucket = 'src/limits/tokenBucket.ts';
const memory = (file) => `src/stores/memory/${file}.ts`;

export const known = [
  {
    area: 'scripts',
    title: 'a log does not live longer after its interval was made longer',
    tests: ['test/redis/stretched'],
    changes: [{ file: log, find: ' or lives and state.len > 0', replace: '' }],
  },
  {
    area: 'scripts',
    title: "a bucket's refund takes all reserved permits, in both twins",
    tests: givenBack,
    changes: [
      {
        file: history,
        find: 'step.held - n or step.held',
        replace: 'step.held or step.held',
      },
      {
        file: bucketRoom,
        find: 't >= since ? held - n : held',
        replace: 'held',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a deadline that replaces another one does not rise',
    tests: ['test/dispatcher/deadlines'],
    changes: [
      {
        file: 'src/heap.ts',
        find: 'while (index > 0) {',
        replace: 'while (index > 0 && free === members.length) {',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'granted reservations are kept',
    tests: ['test/dispatcher/(leaving|reservedMoments)'],
    changes: [
      {
        file: 'src/dispatcher/reservedMoments.ts',
        find: 'this.#list.remove(reservation);',
        replace: 'this.#list.remove(reservation); ((this as any).gone ??= []).push(reservation);',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'requests that have left the queue keep all later ones in memory',
    tests: ['test/dispatcher/(leaving|reservedMoments)'],
    changes: [
      {
        file: 'src/chain.ts',
        find: 'member.previous = member.next = undefined',
        replace: 'member.previous = undefined',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a block of reservations stays in the queue after all were granted',
    tests: ['test/dispatcher/reservations'],
    changes: [
      {
        file: 'src/dispatcher/reservedMoments.ts',
        find: '    if (block.count === 0) this.#removeBlock(block);\n',
        replace: '    void this.#removeBlock;\n',
      },
    ],
  },
  {
    area: 'limits',
    title: 'expired entries of a log are kept',
    tests: ['test/limits/longLog'],
    changes: [
      {
        file: 'src/limits/slidingWindow.ts',
        find: 'state.head > 128 && state.head * 2',
        replace: 'false && state.head * 2',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'the earliest time of a moment is counted from the receipt of the reply',
    tests: ['test/dispatcher/(soonest|shortTimeouts)'],
    changes: [
      {
        file: 'src/dispatcher/applyReply.ts',
        find: 'earliestDue = sent + delay',
        replace: 'earliestDue = received + delay',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'pacing at 0.4, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/pace.lua', find: 'local PACING = 0.8', replace: 'local PACING = 0.4' },
      { file: memory('pace'), find: 'const pacing = 0.8', replace: 'const pacing = 0.4' },
    ],
  },
  {
    area: 'scripts',
    title: 'contenders linger for four seconds, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/reserve/opened.lua',
        find: 'local CONTENDER_PERIOD = 2000',
        replace: 'local CONTENDER_PERIOD = 4000',
      },
      {
        file: 'src/stores/store.ts',
        find: 'const contenderPeriod = 2000',
        replace: 'const contenderPeriod = 4000',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'reservations are void at once when the rate changes, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/state.lua', find: 'ledger.shift + NOTICE_PERIOD)', replace: 'ledger.shift)' },
      {
        file: memory('openLedger'),
        find: 'Math.max(now, changed + noticePeriod)',
        replace: 'Math.max(now, changed)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a deleted rate leaves the reservations of other clients, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/state.lua', find: 'rules or #keys[1] > #keys[3]', replace: 'rules' },
      { file: memory('openLedger'), find: 'control.limits || isOwn', replace: 'control.limits' },
    ],
  },
  {
    area: 'scripts',
    title: 'clients with unlike limits void the reservations of each other, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/state.lua', find: 'rules or #keys[1] > #keys[3]', replace: 'true' },
      { file: memory('openLedger'), find: 'control.limits || isOwn', replace: 'true' },
    ],
  },
  {
    area: 'scripts',
    title: 'reservations are void at once when a pause is lifted, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/ledger/state.lua',
        find: 'voidReservations(ledger, now, now + NOTICE_PERIOD,',
        replace: 'voidReservations(ledger, now, now,',
      },
      {
        file: memory('openLedger'),
        find: 'voidReservations(ledger, now, now + noticePeriod,',
        replace: 'voidReservations(ledger, now, now,',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a ledger forgets a change before all clients have received it, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/ledger/state.lua',
        find: 'noticed = last and last.from + NOTICE_PERIOD or 0',
        replace: 'noticed = last and last.from or 0',
      },
      {
        file: memory('epochs'),
        find: 'voids[voids.length - 1].from + noticePeriod',
        replace: 'voids[voids.length - 1].from',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a new change removes the previous one before all clients have received it, in both twins',
    tests: constants,
    changes: [
      { file: epochs, find: 'voids[1].from + NOTICE_PERIOD <= now', replace: 'voids[1].from <= now' },
      {
        file: memory('epochs'),
        find: 'voids[0].from + noticePeriod <= now',
        replace: 'voids[0].from <= now',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a lifted pause is reported for five seconds, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/forget.lua',
        find: 'math.max(control.liftedUntil, control.pausedUntil)',
        replace: 'math.min(now + 5000, control.pausedUntil)',
      },
      {
        file: memory('control'),
        find: 'Math.max(control.liftedUntil, control.pausedUntil)',
        replace: 'Math.min(now + 5000, control.pausedUntil)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a shorter pause hides that a longer one was lifted, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/forget.lua',
        find: 'math.max(control.liftedUntil, control.pausedUntil)',
        replace: 'control.pausedUntil',
      },
      {
        file: memory('control'),
        find: 'Math.max(control.liftedUntil, control.pausedUntil)',
        replace: 'control.pausedUntil',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a contender that has finished lingers, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/reserve.lua',
        find: 'stays and till or 0',
        replace: 'till',
      },
      {
        file: memory('reserve'),
        find: 'stays ? until : 0',
        replace: 'until',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a release that is sent again counts again after half a minute, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/refund.lua', find: 'RESENT = 60000', replace: 'RESENT = 30000' },
      { file: memory('refund'), find: 'resent = 60_000', replace: 'resent = 30_000' },
    ],
  },
  {
    area: 'scripts',
    title: 'a refund that is sent again counts again after a minute, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/refund.lua', find: 'ledger.expires + longestInterval(ledger)', replace: '0' },
      {
        file: memory('refund'),
        find: 'Math.max(instant.now + resent, ledger.expires + longestInterval(ledger))',
        replace: 'instant.now + resent + 0 * longestInterval(ledger)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a late refund counts as much as an early one, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/refund.lua', find: 'or not isLate(ledger, age)', replace: 'or true' },
      { file: memory('pace'), find: '|| !isLate(ledger, age)', replace: '|| ledger' },
    ],
  },
  {
    area: 'scripts',
    title: 'permits refunded in the middle of a queue are not handed over, in both twins',
    tests: givenBack,
    changes: [
      {
        file: 'lua/reserve/serve.lua',
        find: 'wait > 0 and holeFor and',
        replace: 'wait < 0 and holeFor and',
      },
      { file: memory('serve'), find: 'wait > 0 ? holeFor(', replace: 'wait < 0 ? holeFor(' },
    ],
  },
  {
    area: 'scripts',
    title: 'permits refunded in the middle of a queue under another rate are handed over, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/refund.lua', find: 'isAhead and epoch == ledger.epoch and', replace: 'isAhead and' },
      { file: memory('refund'), find: 'isAhead && epoch === ledger.epoch &&', replace: 'isAhead &&' },
    ],
  },
  {
    area: 'scripts',
    title:
      'permits refunded in the middle of a queue go to requests of any cost, even larger ones, in both twins',
    tests: givenBack,
    changes: [
      {
        file: 'lua/reserve/holes.lua',
        find: 'hole.moment < before and fits(cost, hole.cost)',
        replace: 'hole.moment < before',
      },
      { file: memory('holes'), find: 'moment < before && fits(cost, own)', replace: 'moment < before' },
    ],
  },
  {
    area: 'scripts',
    title: 'a refunded moment that no request has taken over stays charged, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/state.lua', find: '  closeHoles(ledger, now, now)\n', replace: '' },
      {
        file: memory('openLedger'),
        find: '  closeHoles(ledger, now, now);\n',
        replace: '  void closeHoles;\n',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'permits refunded in the middle stay charged when the queue ends before them, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/refund.lua', find: 'while #holes > 0 and', replace: 'while #holes < 0 and' },
      { file: memory('refund'), find: '  closeEnd(ledger, now);\n', replace: '  void closeEnd;\n' },
    ],
  },
  {
    area: 'scripts',
    title: 'the queue never moves up, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/move-up.lua', find: 'ledger.freed == 0 or', replace: 'ledger.freed >= 0 or' },
      { file: memory('moveUp'), find: 'freed === 0 ||', replace: 'freed >= 0 ||' },
    ],
  },
  {
    area: 'scripts',
    title: 'reservations move up twice within 100 milliseconds, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/move-up.lua', find: 'LEAST_PAUSE = 100', replace: 'LEAST_PAUSE = 10' },
      { file: memory('moveUp'), find: 'leastPause = 100', replace: 'leastPause = 10' },
    ],
  },
  {
    area: 'scripts',
    title: 'reservations in a fixed window that is used up move up, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/move-up.lua', find: 'isFast and window.stop or t', replace: 't' },
      { file: 'src/limits/windows.ts', find: 'isFast ? window.end : t', replace: 't' },
    ],
  },
  {
    area: 'scripts',
    title: 'the pace ignores refunds, in both twins',
    tests: givenBack,
    changes: [
      {
        file: 'lua/ledger/pace.lua',
        find: 'LEAST_PART, keptPart(ledger)',
        replace: 'LEAST_PART, 1',
      },
      { file: memory('pace'), find: 'leastPart, keptPart(ledger)', replace: 'leastPart, 1' },
    ],
  },
  {
    area: 'scripts',
    title: 'beside large requests, a client reserves no more, in both twins',
    tests: ['test/redis/constants'],
    changes: [
      {
        file: 'lua/ledger/share.lua',
        find: 'ledger.largestUntil <= now',
        replace: 'ledger.largestUntil >= 0',
      },
      { file: memory('share'), find: 'if (largestUntil <= now)', replace: 'if (largestUntil >= 0)' },
    ],
  },
  {
    area: 'scripts',
    title: 'large requests are never rare, in both twins',
    tests: ['test/contention/used'],
    changes: [
      { file: 'lua/ledger/pace.lua', find: 'ledger.largest >= least', replace: 'ledger.largest < 0' },
      { file: memory('pace'), find: 'largest >= least', replace: 'largest < 0' },
    ],
  },
  {
    area: 'scripts',
    title: 'a client that waits for rare permits is overtaken without end, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/tickets.lua', find: 'not isFirst and overtaken <= now', replace: 'false' },
      { file: memory('tickets'), find: 'overtaken <= now', replace: 'false' },
    ],
  },
  {
    area: 'scripts',
    title: 'turns of several windows are expected at their rate, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/order.lua', find: '#ledger.limits > 1 and not', replace: 'false and not' },
      { file: memory('order'), find: 'ledger.limits.length > 1 &&', replace: 'false &&' },
    ],
  },
  {
    area: 'scripts',
    title: 'slow requests of a fixed window have reservations where there are no turns, in both twins',
    tests: tickets,
    changes: [
      {
        file: 'lua/ledger/order.lua',
        find: 'isSlow(ledger, load) and mayTakeTurns(ledger, load)',
        replace: 'isSlow(ledger, load)',
      },
      {
        file: memory('order'),
        find: 'isSlow(ledger, load) && mayTakeTurns(ledger, load)',
        replace: 'isSlow(ledger, load)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a request that the pace alone delays stays queued, in both twins',
    tests: ['test/contention/records'],
    changes: [
      {
        file: 'lua/reserve/queueing.lua',
        find: '#ledger.limits > 1 and fitAll',
        replace: 'false and fitAll',
      },
      { file: memory('queueing'), find: 'ledger.limits.length > 1 && fitAll', replace: 'false && fitAll' },
    ],
  },
  {
    area: 'scripts',
    title: 'the start of a fixed window does not count for the next turn, in both twins',
    tests: ['test/redis/turns'],
    changes: [
      { file: 'lua/reserve/turns.lua', find: 'state.start <= now then', replace: 'false then' },
      { file: memory('turns'), find: 'state.start <= now ? state.start : 0', replace: 'false ? 1 : 0' },
    ],
  },
  {
    area: 'scripts',
    title: 'clients call less often for few fast requests, in both twins',
    tests: ['test/contention/fewRequests'],
    changes: [
      { file: 'lua/reserve/turns.lua', find: ', shortestInterval(ledger) / FEW_IN_VAIN', replace: '' },
      { file: memory('turns'), find: ', shortestInterval(ledger) / fewInVain', replace: '' },
    ],
  },
  {
    area: 'scripts',
    title: 'few requests that are refunded have reservations, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/order.lua', find: 'FEW_FOR_ANY or 0', replace: '0' },
      { file: memory('order'), find: '? fewForAny : 0', replace: '? 0 : 0' },
    ],
  },
  {
    area: 'scripts',
    title: 'slow requests of a bucket have reservations, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/order.lua', find: 'contenders <= FEW_FOR_ANY', replace: 'false' },
      { file: memory('order'), find: 'contenders <= fewForAny', replace: 'false' },
    ],
  },
  {
    area: 'scripts',
    title: 'clients that have not called again count, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/tickets.lua', find: 'now < ticket.due + load or', replace: 'true or' },
      { file: memory('tickets'), find: 'now < due + load ||', replace: 'true ||' },
    ],
  },
  {
    area: 'scripts',
    title: 'turns are expected as if nothing were refunded, in both twins',
    tests: tickets,
    changes: [
      {
        file: 'lua/ledger/tickets.lua',
        find: 'keptLoad(ledger, math.abs(ticket.stride), isPaced)',
        replace: 'math.abs(ticket.stride)',
      },
      {
        file: memory('tickets'),
        find: 'keptLoad(ledger, Math.abs(stride), isPaced)',
        replace: 'Math.abs(stride)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a client whose turn has passed waits for those in front, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/tickets.lua', find: 'own.due <= now', replace: 'own.due <= 0' },
      {
        file: memory('tickets'),
        find: 'hasPassed = stride > 0 && due <= now',
        replace: 'hasPassed = stride > 0 && due <= 0',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'clients that have left keep their place, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/tickets.lua', find: 'ticket.till > now', replace: 'ticket.till > 0' },
      { file: memory('tickets'), find: 'until > now', replace: 'until > 0' },
    ],
  },
  {
    area: 'scripts',
    title: 'cancelled reservations that nobody takes over do not move the pace back, in both twins',
    tests: ['test/contention/used'],
    changes: [
      { file: 'lua/ledger/holes.lua', find: 'if now < ledger.pacedUntil then', replace: 'if false then' },
      { file: memory('holes'), find: 'if (now < pacedUntil)', replace: 'if (now < 0 * pacedUntil)' },
    ],
  },
  {
    area: 'scripts',
    title: 'refunded reservations do not move the pace back, in both twins',
    tests: givenBack,
    changes: [
      {
        file: 'lua/ledger/pace.lua',
        find: 'frontier - strides[i] * count',
        replace: 'frontier',
      },
      {
        file: memory('pace'),
        find: 'frontier - strides[i] * count',
        replace: 'frontier',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a refund of an older epoch is ignored, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/refund.lua', find: 'epoch < ledger.refundable or', replace: 'epoch < ledger.epoch or' },
      { file: memory('refund'), find: 'epoch < ledger.refundable ||', replace: 'epoch < ledger.epoch ||' },
    ],
  },
  {
    area: 'scripts',
    title: 'void reservations are refunded again, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/refund.lua', find: ' or t >= validUntil(ledger, epoch))', replace: ')' },
      { file: memory('refund'), find: ' || t >= validUntil(ledger, epoch))', replace: ')' },
    ],
  },
  {
    area: 'scripts',
    title: 'a client passes its own earlier reservations, in both twins',
    tests: givenBack,
    changes: [
      { file: epochs, find: 'if not (moment > 0 and', replace: 'if not (moment < 0 and' },
      { file: memory('epochs'), find: 'if (!last) return 0;', replace: 'return 0;' },
    ],
  },
  {
    area: 'scripts',
    title: 'a client stays behind void reservations, in both twins',
    tests: givenBack,
    changes: [
      {
        file: epochs,
        find: ' and t < validUntil(ledger, math.max(epoch, known)))',
        replace: ')',
      },
      {
        file: memory('epochs'),
        find: 'if (moment >= validUntil(ledger, Math.max(last.epoch, known))) return 0;',
        replace: '',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'many changes make a reservation void for the store alone, in both twins',
    tests: ['test/redis/lastMoment'],
    changes: [
      { file: epochs, find: 'math.max(epoch, known)', replace: 'epoch' },
      { file: memory('epochs'), find: 'Math.max(last.epoch, known)', replace: 'last.epoch' },
    ],
  },
  {
    area: 'scripts',
    title: 'a client waits for its last reservation as long as its clock has stepped back, in both twins',
    tests: ['test/redis/lastMoment'],
    changes: [
      {
        file: epochs,
        find: 'epoch < ledger.refundable and math.min(t, now + NOTICE_PERIOD, newestOf(ledger)) or t',
        replace: 't',
      },
      {
        file: memory('epochs'),
        find: 'last.epoch >= ledger.refundable) return moment',
        replace: 'last) return moment',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'any call begins the time anew in which the first client is overtaken, in both twins',
    tests: ['test/redis/tickets'],
    changes: [
      {
        file: 'lua/ledger/tickets.lua',
        find: 'first.due = first.due + periods * (most + hold)',
        replace: 'first.due = now',
      },
      { file: memory('tickets'), find: 'first.due += periods * (most + hold)', replace: 'first.due = now' },
    ],
  },
  {
    area: 'scripts',
    title: 'a window on the clock is forgotten as it ends, in both twins',
    tests: ['test/redis/alignedSteps'],
    changes: [
      { file: 'lua/ledger/state.lua', find: 'if isAligned then', replace: 'if false then' },
      { file: memory('openLedger'), find: 'isAligned(ledger) ? full + leastLife : full', replace: 'full' },
    ],
  },
  {
    area: 'scripts',
    title: 'the fast path forgets a window on the clock as it ends',
    tests: ['test/redis/alignedSteps'],
    changes: [
      { file: 'lua/quick/renew.lua', find: 'till = till + LEAST_LIFE end', replace: 'till = till + 0 end' },
    ],
  },
  {
    area: 'scripts',
    title: 'of the slot below a cancelled reservation, only the end is known, in both twins',
    tests: ['test/redis/coarseSlots'],
    changes: [
      {
        file: 'lua/limits/sliding-window/log.lua',
        find: 'slotUnder(state) == time',
        replace: 'slotUnder(state) == -1',
      },
      {
        file: 'src/limits/slidingWindow.ts',
        find: 'slotUnder(state) === last',
        replace: 'slotUnder(state) === -1',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'in a coarse slot, a request waits for a refunded reservation, in both twins',
    tests: ['test/redis/coarseSlots'],
    changes: [
      {
        file: 'lua/reserve/serve.lua',
        find: 'after, others == 0 and last == 0)',
        replace: 'after, false)',
      },
      { file: memory('reserve'), find: 'isClear: others === 0 && last === 0', replace: 'isClear: false' },
    ],
  },
  {
    area: 'scripts',
    title: 'in a coarse slot, a request overtakes the reservations of others, in both twins',
    tests: ['test/redis/coarseSlots'],
    changes: [
      {
        file: 'lua/reserve/serve.lua',
        find: 'after, others == 0 and last == 0)',
        replace: 'after, last == 0)',
      },
      {
        file: memory('reserve'),
        find: 'isClear: others === 0 && last === 0',
        replace: 'isClear: last === 0',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a reservation of its own is in the way of a client, in both twins',
    tests: ['test/redis/coarseSlots'],
    changes: [
      { file: 'lua/reserve/earlier.lua', find: ' + remaining > 0', replace: ' > 0' },
      { file: memory('earlier'), find: ' + count > 0', replace: ' > 0' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt is charged in parts of a whole window, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: 'lua/ledger/debts.lua', find: 'DEBT_PARTS = 100', replace: 'DEBT_PARTS = 1' },
      { file: memory('debts'), find: 'debtParts = 100', replace: 'debtParts = 1' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt is not charged, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      {
        file: 'lua/ledger/debts.lua',
        find: 'left = math.min(permits, MOST_DEBT * most, math.max(0, 2 ^ 52 - algebra.taken(state)))',
        replace: 'left = 0',
      },
      {
        file: memory('debts'),
        find: 'left = Math.min(permits, mostDebt * most, Math.max(0, 2 ** 52 - taken(state).permits))',
        replace: 'left = 0',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt is void with the reservations, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: epochs, find: 'if owed > 0', replace: 'if owed < 0' },
      { file: memory('debts'), find: 'owed > 0', replace: 'owed < 0' },
    ],
  },
  {
    area: 'scripts',
    title: 'a reservation of the last moment of a debt counts as one, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: epochs, find: 'debt.tail > 0 and ofDebts.slotStart(state, debt.till) or', replace: '' },
      { file: memory('debts'), find: 'tail > 0 ? slotStart(state, until) : until', replace: 'until' },
    ],
  },
  {
    area: 'scripts',
    title: 'a coarse slot holds but one moment of a debt, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: epochs, find: 'if not state.coarsest then', replace: 'if true then' },
      { file: memory('debts'), find: "state.kind !== 'slidingWindow'", replace: 'state' },
    ],
  },
  {
    area: 'scripts',
    title: 'of debts in one window, the first one keeps its tail, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: epochs, find: 'tail = left })', replace: 'tail = 0 })' },
      { file: memory('debts'), find: 'tail: left }', replace: 'tail: 0 }' },
    ],
  },
  {
    area: 'scripts',
    title: 'of a debt that a void moment divides, what stays charged is forgotten, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: epochs, find: 'elseif left > 0 then', replace: 'elseif false then' },
      { file: memory('debts'), find: 'else debts.push({', replace: 'else void ({' },
    ],
  },
  {
    area: 'scripts',
    title: 'of many debts, the last one is forgotten, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: 'lua/ledger/debts.lua', find: 'ofDebts.joined(debts[last], debt)', replace: 'debts[last]' },
      { file: memory('debts'), find: 'joined(last, debt)', replace: 'last' },
    ],
  },
  {
    area: 'scripts',
    title: 'a search that has passed the newest entry does not learn of permits that are added to it',
    tests: ['test/redis/twinsByHand'],
    changes: [
      {
        file: 'lua/limits/sliding-window.lua',
        find: 'state.needed = state.needed + n',
        replace: 'state.needed = state.needed',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'all permits of a lost list count as granted at the moment of the newest entry',
    tests: ['test/redis/writesLast'],
    changes: [
      {
        file: log,
        find: '    state.coarsest = state.coarsest + state.openTime - state.oldest\n',
        replace: '',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'entries that were taken out before a list turned out to be lost count twice',
    tests: ['test/redis/writesLast'],
    changes: [
      {
        file: 'lua/limits/sliding-window.lua',
        find: '        state.openTime, state.oldest, behind = last, last, {}\n',
        replace: '',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a grant ahead of the reservations of a lost list counts as granted with these',
    tests: ['test/redis/writesLast'],
    changes: [
      {
        file: 'lua/limits/sliding-window.lua',
        find: '        state.coarsest = state.coarsest + last - slot\n',
        replace: '',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a wait ahead of reservations may be more than a reply can hold',
    tests: ['test/redis/twinsByHand'],
    changes: [
      {
        file: 'lua/ledger/ahead.lua',
        find: 'math.min(t * 1000 - instant.us, MOST_WAIT)',
        replace: 't * 1000 - instant.us',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'each cut beside debts forgets as many entries, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: 'lua/limits/sliding-window.lua', find: 'room.entries = room.entries - 1', replace: '' },
      { file: 'src/limits/slidingWindow.ts', find: 'room.entries--', replace: '' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt behind a reservation that is cancelled keeps its moments, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: 'lua/refund.lua', find: 'debt.till > t)', replace: 'false)' },
      { file: memory('refund'), find: '> 0 && until > t)', replace: '> 0 && until < 0)' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt within the notice period is not remembered, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: 'lua/ledger/debts.lua', find: 'or not last then', replace: 'then' },
      { file: memory('debts'), find: 'debt.until > far || !last', replace: 'debt.until > far' },
    ],
  },
  {
    area: 'scripts',
    title: 'permits that come back to a fixed window before a debt are not granted, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      {
        file: 'lua/reserve/gaps.lua',
        find: 'math.max(ledger.freed, ledger.credit) or',
        replace: 'ledger.credit or',
      },
      { file: memory('pace'), find: 'Math.max(freed, credit)', replace: 'credit' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt is charged up to a hundred windows, in both twins',
    tests: ['test/redis/debts'],
    changes: [
      { file: 'lua/ledger/debts.lua', find: 'MOST_DEBT = 1000', replace: 'MOST_DEBT = 100' },
      { file: memory('debts'), find: 'mostDebt = 1000', replace: 'mostDebt = 100' },
    ],
  },
  {
    area: 'scripts',
    title: 'sixteen moments in the middle of a queue are remembered, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/holes.lua', find: 'MOST_HOLES = 32', replace: 'MOST_HOLES = 16' },
      { file: memory('holes'), find: 'mostHoles = 32', replace: 'mostHoles = 16' },
    ],
  },
  {
    area: 'scripts',
    title: 'a pace grows up to five times as fast for refunds, in both twins',
    tests: tickets,
    changes: [
      { file: 'lua/ledger/pace.lua', find: 'LEAST_PART = 0.05', replace: 'LEAST_PART = 0.2' },
      { file: memory('pace'), find: 'leastPart = 0.05', replace: 'leastPart = 0.2' },
    ],
  },
  {
    area: 'scripts',
    title: 'a release takes refunded permits that are still charged, in both twins',
    tests: givenBack,
    changes: [
      {
        file: 'lua/refund.lua',
        find: 'if moment == NEWEST then closeHoles(ledger, now, instant.at) end',
        replace: '',
      },
      { file: memory('refund'), find: 'if (isNewest) closeHoles(ledger, now, at);', replace: '' },
    ],
  },
  {
    area: 'scripts',
    title: 'a single expired entry stays in the list',
    tests: ['test/redis/twins'],
    changes: [{ file: log, find: 'elseif state.front > 0 or', replace: 'elseif state.front > 1 or' }],
  },
  {
    area: 'limits',
    title: 'a window under a shorter interval ends before its newest grant',
    tests: windowRates,
    changes: [
      {
        file: window,
        find: 'Math.max(window.start + interval, window.newest + 1)',
        replace: 'window.start + interval',
      },
    ],
  },
  {
    area: 'limits',
    title: 'the window before the last one ends before its newest grant under a shorter interval',
    tests: windowRates,
    changes: [
      {
        file: window,
        find: 'window; window = window.earlier)\n      window.end = Math.max(',
        replace: 'window; window = undefined)\n      window.end = Math.max(',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket restores permits for which later grants leave no room',
    tests: ['test/limits/bucketHistory'],
    changes: [{ file: bucketRoom, find: 'if (others > 0) room =', replace: 'if (others < 0) room =' }],
  },
  {
    area: 'limits',
    title: 'a bucket restores permits granted before its steps',
    tests: ['test/limits/bucketHistory'],
    changes: [{ file: bucketRoom, find: '  return 0;\n', replace: '  return room;\n' }],
  },
  {
    area: 'limits',
    title: 'a bucket has one step for all its grants',
    tests: ['test/limits/bucketHistory'],
    changes: [{ file: bucket, find: 't > until && moment !== lastAt', replace: 'held === 0' }],
  },
  {
    area: 'limits',
    title: 'a grant among reservations of an earlier rate is restored with them',
    tests: ['test/redis/twins'],
    changes: [
      {
        file: bucket,
        find: '  while (history.earlier && history.earlier.until >= t) merge(history);\n',
        replace: '',
      },
    ],
  },
  {
    area: 'redisson',
    title: 'timers of a limiter on Redisson’s keys remain after close',
    tests: ['test/redisson/closed'],
    changes: [
      { file: 'src/redisson/deadlineTimer.ts', find: '      cancel();\n', replace: '      void cancel;\n' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt may be ten times as large, in both twins',
    tests: debts,
    changes: [
      { file: 'lua/ledger/debts.lua', find: 'MOST_DEBT = 1000', replace: 'MOST_DEBT = 10000' },
      { file: memory('debts'), find: 'mostDebt = 1000', replace: 'mostDebt = 10_000' },
    ],
  },
  {
    area: 'scripts',
    title: 'a debt is charged in ten parts, in both twins',
    tests: debts,
    changes: [
      { file: 'lua/ledger/debts.lua', find: 'DEBT_PARTS = 100', replace: 'DEBT_PARTS = 10' },
      { file: memory('debts'), find: 'debtParts = 100', replace: 'debtParts = 10' },
    ],
  },
  {
    area: 'scripts',
    title: 'the pace remembers refunds for a hundredth of the time, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/pace.lua', find: 'MEMORY = 1000', replace: 'MEMORY = 10' },
      { file: memory('pace'), find: 'memory = 1000', replace: 'memory = 10' },
    ],
  },
  {
    area: 'scripts',
    title: 'the pace remembers refunds of a single request, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/pace.lua', find: 'REQUESTS = 16', replace: 'REQUESTS = 1' },
      { file: memory('pace'), find: 'requests = 16', replace: 'requests = 1' },
    ],
  },
  {
    area: 'scripts',
    title: 'a refunded part leaves half of the stride, in both twins',
    tests: givenBack,
    changes: [
      { file: 'lua/ledger/pace.lua', find: 'LEAST_PART = 0.05', replace: 'LEAST_PART = 0.5' },
      { file: memory('pace'), find: 'leastPart = 0.05', replace: 'leastPart = 0.5' },
    ],
  },
  {
    area: 'scripts',
    title: 'two changes are remembered, in both twins',
    tests: constants,
    changes: [
      { file: epochs, find: 'MOST_VOIDS = 8', replace: 'MOST_VOIDS = 2' },
      { file: memory('epochs'), find: 'mostVoids = 8', replace: 'mostVoids = 2' },
    ],
  },
  {
    area: 'scripts',
    title: 'a step of a bucket holds half a burst, in both twins',
    tests: ['test/limits/bucketHistory'],
    changes: [
      { file: 'lua/heads/token-bucket.lua', find: 'MERGED_PART = 8', replace: 'MERGED_PART = 2' },
      { file: bucket, find: 'mergedPart = 8', replace: 'mergedPart = 2' },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket keeps steps of which no refund restores anything, in both twins',
    tests: ['test/limits/bucketHistory'],
    changes: [
      {
        file: history,
        find: 'steps[#steps].held, taken) <= 0',
        replace: 'steps[#steps].held, taken) < -1e300',
      },
      {
        file: bucket,
        find: 'earlier.held, taken, history) <= 0',
        replace: 'earlier.held, taken, history) < -1e300',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a contender for a slow bucket moves nothing after late refunds',
    tests: ['test/dispatcher/refundCalls'],
    changes: [
      {
        file: 'src/dispatcher/rescheduler.ts',
        find: 'this.#late ? slowLoad : leastPause',
        replace: 'leastPause',
      },
    ],
  },
  {
    area: 'limits',
    title: 'the refill before a change of the rate does not count, in both twins',
    tests: givenBack,
    changes: [
      {
        file: history,
        find: 'state.formerUntil and present + formerRefill',
        replace: 'false and formerRefill',
      },
      { file: bucketRoom, find: 'former ? present + formerRefill', replace: 'false ? formerRefill' },
    ],
  },
  {
    area: 'limits',
    title: 'the refill before several changes counts at the last rate',
    tests: ['test/limits/bucketHistory'],
    changes: [{ file: bucketRoom, find: 'until - Math.max(moment, from)', replace: 'until - moment' }],
  },
  {
    area: 'limits',
    title: 'a fixed window knows two windows before the last, in both twins',
    tests: ['test/limits/severalWindows'],
    changes: [
      {
        file: 'lua/limits/fixed-window/format.lua',
        find: 'MOST_EARLIER = 16',
        replace: 'MOST_EARLIER = 2',
      },
      { file: windows, find: 'mostEarlier = 16', replace: 'mostEarlier = 2' },
    ],
  },
  {
    area: 'limits',
    title: 'the refill before several changes counts at the faster rate, in both twins',
    tests: ['test/limits/bucketHistory'],
    changes: [
      {
        file: history,
        find: 'math.min(state.formerPermits, permits)',
        replace: 'math.max(state.formerPermits, permits)',
      },
      {
        file: bucket,
        find: 'Math.min(former.permits, permits)',
        replace: 'Math.max(former.permits, permits)',
      },
    ],
  },
  {
    area: 'limits',
    title: 'the refill before a change counts twice',
    tests: ['test/limits/bucketRefunds'],
    changes: [{ file: bucketRoom, find: '* former.permits;', replace: '* former.permits * 2;' }],
  },
  {
    area: 'limits',
    title: 'steps of a bucket that are ahead hold as much as others, in both twins',
    tests: ['test/limits/bucketHistory'],
    changes: [
      { file: 'lua/limits/token-bucket/history.lua', find: 'MERGED_PART ^ 3', replace: 'MERGED_PART' },
      { file: bucket, find: 'mergedPart ** 3', replace: 'mergedPart' },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket grants ahead of reservations that need the permits',
    tests: ['test/limits/bucketHistory'],
    changes: [
      {
        file: bucketLevel,
        find: 'if (step.since < before) pass',
        replace: 'if (step.since < 0) pass',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket counts void reservations as reserved',
    tests: ['test/limits/bucketHistory'],
    changes: [
      {
        file: bucketLevel,
        find: 'Math.max(now + 1, unsureUntil, sameSince - 1)',
        replace: 'Math.max(now + 1, sameSince - 1)',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket grants nothing ahead of reservations that wait for another limit, in both twins',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: tokenBucket,
        find: 'return freeBefore(state, ts, presentAt(state, ts), t, n * interval);',
        replace: 'return Infinity;',
      },
      {
        file: 'lua/limits/token-bucket.lua',
        find: 'return freeBefore(state, state.ts, presentAt(state, state.ts), t, n * state.interval)',
        replace: 'return math.huge',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'requests ahead of reservations are granted one by one, in memory',
    tests: ['test/redis/aside'],
    changes: [
      { file: 'src/stores/memory/offer.ts', find: 'while (2 * count <= most &&', replace: 'while (false &&' },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket that owes a part of a permit to the next millisecond forgets what it has, in memory',
    tests: ['test/limits/bucketHistory', 'test/contention/aside'],
    changes: [
      {
        file: tokenBucket,
        find: 'ahead) state.present = level;',
        replace: 'ahead && level >= 0) state.present = level;',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a bucket has room for the refill of reservations that count as taken already, in memory',
    tests: ['test/limits/bucketHistory'],
    changes: [{ file: bucketLevel, find: '(burst - run.early) * interval', replace: 'burst * interval' }],
  },
  {
    area: 'limits',
    title: 'a bucket takes what its reservations lose for what it has, in memory',
    tests: ['test/limits/freeBefore', 'test/limits/bucketHistory'],
    changes: [
      {
        file: tokenBucket,
        find: '- (isAhead ? 0 : cost) - merged',
        replace: '- merged',
      },
    ],
  },
  {
    area: 'limits',
    title: 'reservations that become one step with grants stay in the bucket, in memory',
    tests: ['test/limits/bucketHistory'],
    changes: [{ file: tokenBucket, find: ' - merged)', replace: ')' }],
  },
  {
    area: 'limits',
    title: 'a bucket is fuller at the end of a step than it leaves room for, in memory',
    tests: ['test/limits/freeBefore', 'test/properties/neverOver'],
    changes: [
      {
        file: bucketLevel,
        find: '  run.level = Math.min(run.level, (burst - held) * interval);\n',
        replace: '',
      },
    ],
  },
  {
    area: 'limits',
    title: 'the bucket is full at a moment ahead, whatever is reserved until then, in memory',
    tests: ['test/limits/freeBefore'],
    changes: [
      {
        file: bucketLevel,
        find: 'if (leastAhead(bucket, now, free, run.level - cost, Infinity) >= 0) return free;',
        replace: 'return free;',
      },
    ],
  },
  {
    area: 'limits',
    title: 'grants of one millisecond do not make a bucket live longer',
    tests: ['test/properties/repeats'],
    changes: [{ file: memory('repeats'), find: '    closeLedger(state, instant);\n', replace: '' }],
  },
  {
    area: 'scripts',
    title: 'the reservation for the moment from which they are void is refunded, in both twins',
    tests: givenBack,
    changes: [
      { file: memory('refund'), find: 't >= validUntil', replace: 't > validUntil' },
      { file: 'lua/refund.lua', find: 't >= validUntil', replace: 't > validUntil' },
    ],
  },
  {
    area: 'scripts',
    title: 'a change of the control overwrites a part of the moment at which the key expires',
    tests: ['test/redis/control'],
    changes: [{ file: 'lua/ledger/control.lua', find: ':rep(6)', replace: ':rep(7)' }],
  },
  {
    area: 'dispatcher',
    title: 'more earlier moments are refunded than a reply has',
    tests: ['test/dispatcher/earlier'],
    changes: [
      {
        file: 'src/dispatcher/reservedMoments.ts',
        find: 'earlier.part(earlier.count - count)',
        replace: 'earlier.part(earlier.count + count)',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a moment in front of another cost goes to a request behind it',
    tests: ['test/dispatcher/requeue'],
    changes: [{ file: 'src/dispatcher/reservations.ts', find: 'if (isLast) for', replace: 'if (block) for' }],
  },
  {
    area: 'dispatcher',
    title: 'a dropped value leaves its request in the queue',
    tests: ['test/operators/throttleDistributed/leftovers'],
    changes: [
      {
        file: 'src/dispatcher/joining.ts',
        find: '    if (replaces && !wasReserved) reservations.remove(replaces);\n',
        replace: '',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'one of several requests of one deadline that may be granted is denied',
    tests: ['test/dispatcher/hopeless\\.'],
    changes: [
      {
        file: 'src/dispatcher/hopelessRequests.ts',
        find: 'least(n) <= request.deadline',
        replace: 'least(n + 1) <= request.deadline',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'the wait of a hopeless part of a request is that of its first',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/hopelessRequests.ts',
        find: 'least(viable + 1)',
        replace: 'least(1)',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a request with a short timeout is counted in one that expires at its deadline',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/joining.ts',
        find: ' || this.#expiry.delays(timeout)',
        replace: '',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'requests are counted in one that waited when the call was sent',
    tests: ['test/dispatcher/countedParts'],
    changes: [
      {
        file: 'src/dispatcher/joining.ts',
        find: 'this.#admission.waitsForCall(last)',
        replace: 'false',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'timeouts are counted to the microsecond',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/joining.ts',
        find: 'Math.ceil(now) + timeout',
        replace: 'now + timeout',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'the front part of a split request does not expire',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/queue.ts',
        find: 'if (request.heapIndex >= 0) this.deadlines.add(front);',
        replace: 'if (request.heapIndex > 1e9) this.deadlines.add(front);',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a denied part is reported before the granted one',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [{ file: 'src/dispatcher/request.ts', find: '    this.order += count;\n', replace: '' }],
  },
  {
    area: 'dispatcher',
    title: 'a certain request is counted in one of a later deadline',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      { file: 'src/dispatcher/hopelessRequests.ts', find: 'deadline < last.deadline || ', replace: '' },
    ],
  },
  {
    area: 'dispatcher',
    title: 'requests of several deadlines are counted together before they are assessed',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/hopelessRequests.ts',
        find: 'queue.firstUnassessed) return isAlike;',
        replace: 'queue.firstUnassessed) return true;',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'certain requests of several deadlines expire together',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/expiry.ts',
        find: 'if (first.deadlines)',
        replace: 'if (!first)',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'the reply to a call is applied to requests of several deadlines as to one',
    tests: ['test/dispatcher/hopelessMixed'],
    changes: [{ file: 'src/dispatcher/gather.ts', find: '    queue.split(waiting);\n', replace: '' }],
  },
  {
    area: 'dispatcher',
    title: 'a request is certain whatever another client has charged',
    tests: ['test/dispatcher/countedTimeouts'],
    changes: [
      {
        file: 'src/dispatcher/grantBounds.ts',
        find: ' && this.least(request, count, now, 0) <= request.deadline',
        replace: '',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a late timer reads no replies if a request that no call has expires first',
    tests: ['test/dispatcher/lateTimers'],
    changes: [
      {
        file: 'src/dispatcher/expiry.ts',
        find: "isLate && first.stage !== 'queued'",
        replace: "isLate && queue.settled.isEmpty && first.stage !== 'queued'",
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'certain requests of several deadlines that are late are assessed by the earliest one',
    tests: ['test/dispatcher/hopelessMixed'],
    changes: [
      {
        file: 'src/dispatcher/hopelessRequests.ts',
        find: 'if (request.deadlines && ',
        replace: 'if (!request && ',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a call asks for all permits for requests without a timeout, too',
    tests: ['test/dispatcher/fairShare\\.'],
    changes: [
      {
        file: 'src/dispatcher/gather.ts',
        find: 'isFree && waiting.timeout < Infinity',
        replace: 'isFree',
      },
    ],
  },
  {
    area: 'dispatcher',
    title:
      'a call asks for all permits although some were not free, or others contend, or long after the last one',
    tests: ['test/dispatcher/fairShare\\.'],
    changes: [
      {
        file: 'src/dispatcher/reserveCalls.ts',
        find: 'this.#grantedAll && this.#parts.fairShare.contenders === 1 && now < this.#repliedTo + heartbeat',
        replace: 'true',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'the wait for a connection counts as a round trip',
    tests: ['test/dispatcher/fairShare\\.'],
    changes: [{ file: 'src/dispatcher/reserveCalls.ts', find: ' && !answer.hasWaited', replace: '' }],
  },
  {
    area: 'dispatcher',
    title: 'a bucket counts as empty at the end of a pause',
    tests: ['test/limiter/pause\\.'],
    changes: [
      {
        file: 'src/dispatcher/grantBounds.ts',
        find: 'now + paused + 1',
        replace: 'now + paused - 1',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'rounding leaves a credit below zero, in memory',
    tests: givenBack,
    changes: [
      {
        file: memory('grant'),
        find: 'Math.max(0, ledger.credit - stride * Math.min(count, unpaced))',
        replace: 'ledger.credit - stride * Math.min(count, unpaced)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'rounding leaves a credit below zero, in Lua',
    tests: givenBack,
    changes: [
      {
        file: 'lua/ledger/grant.lua',
        find: 'math.max(0, ledger.credit - stride * math.min(count, unpaced))',
        replace: 'ledger.credit - stride * math.min(count, unpaced)',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a window that is forgotten after a lower limit counts as no more than full, in memory',
    tests: givenBack,
    changes: [
      {
        file: 'src/limits/fixedWindow.ts',
        find: 'Math.max(state.permits, state.most)',
        replace: 'state.permits',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a window that is forgotten after a lower limit counts as no more than full, in Lua',
    tests: givenBack,
    changes: [
      {
        file: 'lua/limits/fixed-window.lua',
        find: 'math.max(state.permits, state.most)',
        replace: 'state.permits',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a new fixed window takes what lies before its first reservation to be empty, in both twins',
    tests: ['test/limits/severalWindows'],
    changes: [
      { file: fixedGap, find: 'past.newest === 0 || start < past.end', replace: 'start < past.end' },
      {
        file: 'lua/limits/fixed-window/gaps.lua',
        find: 'past.newest == 0 or start < past.stop',
        replace: 'start < past.stop',
      },
    ],
  },
  {
    area: 'scripts',
    title:
      'a fixed window forgets what lies before its reservations once the window in use is past, in both twins',
    tests: ['test/redis/gaps'],
    changes: [
      {
        file: windows,
        find: 'if (startAt(state, now + 1) >= next.start) next',
        replace: 'next',
      },
      {
        file: 'lua/limits/fixed-window/windows.lua',
        find: 'startAt(state, now + 1) < after.start',
        replace: 'false',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'no window of reservations starts earlier, in both twins',
    tests: ['test/redis/gaps', 'test/contention/records'],
    changes: [
      { file: fixedGap, find: "return align === 'first' && isLast", replace: 'return false' },
      {
        file: 'lua/limits/fixed-window/gaps.lua',
        find: 'return state.epoch == 0 and isLast',
        replace: 'return false',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a window of reservations that starts earlier may hold too many permits, in both twins',
    tests: ['test/redis/gaps'],
    changes: [
      { file: fixedGap, find: '&& next.used + n <= permits;', replace: ';' },
      {
        file: 'lua/limits/fixed-window/gaps.lua',
        find: ' and after.used + n <= state.permits\n',
        replace: '\n',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a window starts earlier although its last reservation is an interval ahead, in memory',
    tests: ['test/limits/severalWindows'],
    changes: [{ file: fixedGap, find: 'next.newest < end && ', replace: '' }],
  },
  {
    area: 'limits',
    title: 'a window starts earlier and ends behind the start of the next one, in memory',
    tests: ['test/limits/severalWindows'],
    changes: [{ file: fixedGap, find: "=== 'first' && isLast", replace: "=== 'first'" }],
  },
  {
    area: 'limits',
    title: 'a window that starts earlier ends when it would have, in memory',
    tests: ['test/limits/severalWindows'],
    changes: [
      {
        file: fixedGap,
        find: 'Object.assign(after, { start, end })',
        replace: 'Object.assign(after, { start })',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a fixed window that opens now keeps what is past in memory, and not in Redis',
    tests: ['test/redis/shortWindows'],
    changes: [
      {
        file: windows,
        find: 'startAt(state, now + 1) >= next.start',
        replace: 'startAt(state, now) >= next.start',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'refund calls in flight share one sequence, so that one sent again counts as a repetition',
    tests: ['test/faults/refundPace'],
    changes: [
      {
        file: 'src/stores/redis/redisLedger.ts',
        find: 'this.#keysOfRefunds(sequence % mostRefundCalls)',
        replace: 'this.#keysOfRefunds(0)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'the text of a limit in a small ledger does not tell where it ends',
    tests: ['test/redis/twins\\.'],
    changes: [
      {
        file: 'src/stores/redis/spec.ts',
        find: '(\\d+,\\d+,\\d+\\])\\]$/',
        replace: '(\\d+,\\d+,\\d+)\\]\\]$/',
      },
      { file: 'lua/ledger/asked.lua', find: "argument:sub(2) .. ']'", replace: "argument:sub(2) .. ']]'" },
      {
        file: 'lua/ledger/format.lua',
        find: "'%s%.0f,%.0f,%.0f]', kind",
        replace: "'%s%.0f,%.0f,%.0f', kind",
      },
      { file: 'lua/quick/open.lua', find: '(%d+),(%d+),(%d+)]$', replace: '(%d+),(%d+),(%d+)$' },
    ],
  },
  {
    area: 'scripts',
    title: 'the fast path renews the key of a log only when it adds an entry',
    tests: ['test/redis/expiry'],
    changes: [
      { file: 'lua/quick/save.lua', find: 'if lengthBefore then redis', replace: 'if pushed then redis' },
    ],
  },
  {
    area: 'limits',
    title: 'free permits are left to a large request for four seconds at most, in memory',
    tests: ['test/contention/longIntervals'],
    changes: [
      {
        file: 'src/stores/memory/tickets.ts',
        find: ': Math.max(leastHold, first.stride)',
        replace: ': Math.min(mostOfSeveral, Math.max(leastHold, first.stride))',
      },
    ],
  },
  {
    area: 'limits',
    title: 'small requests leave nothing to a large one of which most are refunded, in memory',
    tests: ['test/contention/sizes'],
    changes: [
      {
        file: 'src/stores/memory/queueing.ts',
        find: '? leadBeside : leadOfFew',
        replace: '? leadBeside : Infinity',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'small requests leave nothing to a large one of which most are refunded, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/reserve/queueing.lua',
        find: 'LEAD_BESIDE or LEAD_OF_FEW',
        replace: 'LEAD_BESIDE or math.huge',
      },
    ],
  },
  {
    area: 'limits',
    title: 'requests for several permits of a bucket have reservations, in memory',
    tests: ['test/contention/sizes'],
    changes: [{ file: 'src/stores/memory/order.ts', find: 'isLarge || (isLate', replace: '(isLate' }],
  },
  {
    area: 'scripts',
    title: 'requests for several permits of a bucket have reservations, in Redis',
    tests: ['test/redis/contention'],
    changes: [{ file: 'lua/ledger/order.lua', find: 'isLarge or isLate', replace: 'isLate' }],
  },
  {
    area: 'limits',
    title: 'small requests of several limits leave nothing to a large one, in memory',
    tests: ['test/contention/records'],
    changes: [
      {
        file: 'src/stores/memory/tickets.ts',
        find: '(areSeveral || areRare(ledger))',
        replace: 'areRare(ledger)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'small requests of several limits leave nothing to a large one, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/ledger/tickets.lua',
        find: '(areSeveral or areRare(ledger))',
        replace: 'areRare(ledger)',
      },
    ],
  },
  {
    area: 'limits',
    title: 'a sliding window is free ahead of reservations that come within an interval, in memory',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: 'src/limits/slidingGap.ts',
        find: 'log[ahead] - coarsest < free + interval; ahead += 2) taken',
        replace: 'false; ahead += 2) taken',
      },
    ],
  },
  {
    area: 'limits',
    title: 'all reservations of a sliding window count ahead of them, in memory',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: 'src/limits/slidingGap.ts',
        find: 'log[ahead - 2] - coarsest >= free + interval',
        replace: 'log[ahead - 2] - coarsest >= Infinity',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a decision just before the end of a window on the clock counts in the next one, in both twins',
    tests: ['test/redis/aside'],
    changes: [
      { file: fixedGap, find: 'opensAt ? at : t', replace: 't' },
      {
        file: 'lua/limits/fixed-window/gaps.lua',
        find: 'startAt(state, at) > t then t = at end',
        replace: 'false then t = at end',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'refill that is lost before a reservation is room for earlier grants, in both twins',
    tests: ['test/properties/neverOver'],
    changes: [
      {
        file: 'src/limits/tokenBucket.ts',
        find: 'backOf(state, now, t, n, present, last)',
        replace: 'back',
      },
      {
        file: 'lua/limits/token-bucket.lua',
        find: 'backOf(state, now, t, n, present, last)',
        replace: 'back',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a rare limit has those wait in order that do not need it, in both twins',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: memory('order'),
        find: 'const ledger = neededBy(all, requests)',
        replace: 'const ledger = all',
      },
      { file: 'lua/ledger/order.lua', find: 'if needed[1] then ledger.limits = needed end', replace: '' },
    ],
  },
  {
    area: 'limits',
    title: 'a window ahead of reservations forgets the present one, in memory',
    tests: ['test/limits/freeBefore'],
    changes: [{ file: fixedGap, find: 'window.end > now ? window : undefined', replace: 'undefined' }],
  },
  {
    area: 'limits',
    title: 'a full window ahead of reservations is free, in memory',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: fixedGap,
        find: 'used + n <= state.permits) return free',
        replace: 'used <= state.permits) return free',
      },
    ],
  },
  {
    area: 'limits',
    title: 'requests wait behind reservations that wait for another limit, in memory',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: 'src/stores/memory/serve.ts',
        find: 'ledger.limits.length > 1 && behind.t',
        replace: 'false && behind.t',
      },
    ],
  },
  {
    area: 'limits',
    title: 'reservations that wait for another limit restart the pace, in memory',
    tests: ['test/contention/aside'],
    changes: [
      {
        file: 'src/stores/memory/grant.ts',
        find: 'limits.length > 1 && freeBefore',
        replace: 'false && freeBefore',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a sliding window is free ahead of reservations that come within an interval, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/limits/sliding-window/search.lua',
        find: 'if later - state.coarsest >= free + state.interval then break end',
        replace: 'if true then break end',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'all reservations of a sliding window count ahead of them, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/limits/sliding-window/search.lua',
        find: 'if time - state.coarsest < free + state.interval then break end',
        replace: 'if true then break end',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a window ahead of reservations forgets the present one, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/limits/fixed-window/gaps.lua',
        find: 'if state.earlier[place].stop <= now then forgetFrom(state, place) end',
        replace: 'forgetFrom(state, place)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a full window ahead of reservations is free, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/limits/fixed-window/gaps.lua',
        find: 'window.used + n <= state.permits then return free end',
        replace: 'window.used <= state.permits then return free end',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'requests wait behind reservations that wait for another limit, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      { file: 'lua/reserve/serve.lua', find: '#ledger.limits > 1 and t > now', replace: 'false and t > now' },
    ],
  },
  {
    area: 'scripts',
    title: 'reservations that wait for another limit restart the pace, in Redis',
    tests: ['test/redis/contention'],
    changes: [
      {
        file: 'lua/ledger/grant.lua',
        find: '#ledger.limits > 1 and algebra.freeBefore',
        replace: 'false and algebra.freeBefore',
      },
    ],
  },
  {
    area: 'limits',
    title: 'grants under another kind of limit count from the change on, in memory',
    tests: ['test/limits/twoKinds'],
    changes: [
      {
        file: 'src/limits/states.ts',
        find: 'const at = newest > 0 ? newest : now;',
        replace: 'const at = Math.max(now, newest);',
      },
    ],
  },
  {
    area: 'limits',
    title: 'after a step of the clock, an ended window that overlaps the present one is forgotten, in memory',
    tests: ['test/limits/windowRates'],
    changes: [
      {
        file: windows,
        find: 'if (startAt(state, now) < past.end) continue;',
        replace: 'if (now < past.end) continue;',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a failed lookup emits no event',
    tests: ['test/limiter/events'],
    changes: [
      {
        file: 'src/limiter/ledgerLine.ts',
        find: 'if (error) this.#rare.events?.emitError(error);',
        replace: '',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a stream that fails tells its consumer before it ends',
    tests: ['test/operators/throttleDistributed/leftovers'],
    changes: [
      {
        file: 'src/throttle/throttleSubscriber.ts',
        find: '    this.unsubscribe();\n    this.#end();\n    this.output.error(error);',
        replace: '    this.output.error(error);',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a permit is refunded again after project has refunded it',
    tests: ['test/operators/throttleDistributed/project'],
    changes: [
      {
        file: 'src/throttle/requestingSubscriber.ts',
        find: '      if (this.hasEnded) {\n        void permit.refund();',
        replace: '      if (this.hasEnded) {\n        line.refund(grant);',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a maxAge of 0 is not taken for a millisecond',
    tests: ['test/creation/fromThrottledAhead'],
    changes: [
      {
        file: 'src/creation/prefetch.ts',
        find: 'return Math.max(tick, maxAge);',
        replace: 'return maxAge;',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'the moments of cancelled reservations stay charged when all clients have left',
    tests: ['test/redis/gaps'],
    changes: [{ file: 'lua/reserve.lua', find: '  closeHoles(ledger, now, math.huge)\n', replace: '' }],
  },
  {
    area: 'limits',
    title: 'the moments of cancelled reservations stay charged when all clients have left, in memory',
    tests: ['test/redis/gaps'],
    changes: [{ file: memory('reserve'), find: '    closeHoles(ledger, now, Infinity);\n', replace: '' }],
  },
  {
    area: 'dispatcher',
    title: 'a group evicts limiters that hold a pause',
    tests: ['test/fallback/steering'],
    changes: [
      {
        file: 'src/limiter/keyedLimiters.ts',
        find: 'line.idle && (this.size > roomOfPaused || !line.opened?.isPaused)',
        replace: 'line.idle',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a group keeps any number of limiters that hold a pause',
    tests: ['test/fallback/steering'],
    changes: [
      { file: 'src/limiter/keyedLimiters.ts', find: '(this.size > roomOfPaused || !line', replace: '(!line' },
    ],
  },
  {
    area: 'dispatcher',
    title: 'closing reports the decisions that it cancels as errors',
    tests: ['test/limiter/events'],
    changes: [
      {
        file: 'src/dispatcher/reporter.ts',
        find: 'if (error) this.#failed(cost, error);',
        replace: 'if (error) this.#events.emitError(error);',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'calls stay with a replica of a cluster',
    tests: ['test/cluster/dropped'],
    changes: [
      { file: 'src/stores/redis/scripts.ts', find: '      cluster.refreshSlotsCache!();\n', replace: '' },
    ],
  },
];

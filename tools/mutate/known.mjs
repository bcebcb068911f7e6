/*
 * Changes that tests once let pass, and those that no operator would make. Each says which tests are expected to notice it;
 * each `find` is in its file just once, or the script says so.
 */

const lua = 'lua/limits/sliding-window.lua';
const constants = ['test/redis/constants'];
const memory = (file) => `src/stores/memory/${file}.ts`;

export const known = [
  {
    area: 'scripts',
    title: 'a log is not kept longer where its interval was made longer',
    tests: ['test/redis/stretched'],
    changes: [{ file: lua, find: 'if from == 1 and not state.stretched then', replace: 'if from == 1 then' }],
  },
  {
    area: 'scripts',
    title: "a bucket's refund takes the earlier peak for all, in both twins",
    tests: constants,
    changes: [
      {
        file: 'lua/limits/token-bucket.lua',
        find: 'if t >= state.since1 then peak = state.peak1 end',
        replace: '',
      },
      {
        file: 'src/limits/tokenBucket.ts',
        find: 't >= state.since1 ? state.peak1 : state.peak0',
        replace: 'state.peak0',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'a deadline that takes the place of another one does not rise',
    tests: ['test/limiter/deadlines'],
    changes: [{ file: 'src/limiter/deadlines.ts', find: '    this.#rise(last);\n', replace: '' }],
  },
  {
    area: 'dispatcher',
    title: 'reservations that were handed out are kept',
    tests: ['test/limiter/reservations'],
    changes: [
      {
        file: 'src/limiter/reservations.ts',
        find: 'this.#head > 32 && this.#head * 2',
        replace: 'false && this.#head * 2',
      },
    ],
  },
  {
    area: 'limits',
    title: 'entries of a log that are past are kept',
    tests: ['test/limits/longLog'],
    changes: [
      {
        file: 'src/limits/slidingWindow.ts',
        find: 'state.head > 64 && state.head * 2',
        replace: 'false && state.head * 2',
      },
    ],
  },
  {
    area: 'dispatcher',
    title: 'the soonest of a moment is counted from the receipt of the reply',
    tests: ['test/limiter/'],
    changes: [
      { file: 'src/limiter/reply.ts', find: 'soonest: sent + delay', replace: 'soonest: received + delay' },
    ],
  },
  {
    area: 'scripts',
    title: 'pacing at 0.4, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/offer.lua', find: 'local PACING = 0.8', replace: 'local PACING = 0.4' },
      { file: memory('reserve'), find: 'const pacing = 0.8', replace: 'const pacing = 0.4' },
    ],
  },
  {
    area: 'scripts',
    title: 'contenders linger for four seconds, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/reserve.lua', find: 'local LINGERS = 2000', replace: 'local LINGERS = 4000' },
      { file: memory('reserve'), find: 'const lingers = 2000', replace: 'const lingers = 4000' },
    ],
  },
  {
    area: 'scripts',
    title: 'what is booked is void at once when the rate changes, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/state.lua', find: 'ledger.shift + HEARD)) end', replace: 'ledger.shift)) end' },
      {
        file: memory('ledgerState'),
        find: 'Math.max(now, changed + heard)',
        replace: 'Math.max(now, changed)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'what is booked is void at once when a pause is lifted, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/ledger/state.lua',
        find: 'voidBookings(ledger, now, now + HEARD)',
        replace: 'voidBookings(ledger, now, now)',
      },
      {
        file: memory('ledgerState'),
        find: 'voidBookings(ledger, now, now + heard)',
        replace: 'voidBookings(ledger, now, now)',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a ledger forgets a change before all have heard of it, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/ledger/state.lua',
        find: 'ledger.heardBy = after + HEARD',
        replace: 'ledger.heardBy = after',
      },
      {
        file: memory('ledgerState'),
        find: 'ledger.heardBy = after + heard',
        replace: 'ledger.heardBy = after',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'it is told for one second that a pause was lifted, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/ledger/control.lua', find: 'local TOLD = 5000', replace: 'local TOLD = 1000' },
      { file: memory('control'), find: 'const told = 5000', replace: 'const told = 1000' },
    ],
  },
  {
    area: 'scripts',
    title: 'a contender that has finished lingers, in both twins',
    tests: constants,
    changes: [
      {
        file: 'lua/reserve.lua',
        find: 'stays and math.max(now, last) + LINGERS or 0',
        replace: 'math.max(now, last) + LINGERS',
      },
      {
        file: memory('reserve'),
        find: 'stays ? Math.max(now, line.last) + lingers : 0',
        replace: 'Math.max(now, line.last) + (stays ? 1 : 1) * lingers',
      },
    ],
  },
  {
    area: 'scripts',
    title: 'a release that is sent again counts again at once, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/refund.lua', find: 'if moment == NEWEST then least = RESENT end', replace: '' },
      { file: memory('refund'), find: '? resent : 1;', replace: '? 1 : 1;' },
    ],
  },
  {
    area: 'scripts',
    title: 'a refund that is sent again counts again at once, in both twins',
    tests: constants,
    changes: [
      { file: 'lua/refund.lua', find: 'ledger.expires + ledger.limits[i].interval', replace: '0' },
      {
        file: memory('refund'),
        find: 'Math.max(now + least, ledger.expires + longest)',
        replace: 'now + least + 0 * longest',
      },
    ],
  },
  {
    area: 'redisson',
    title: 'timers of a limiter on Redisson’s keys are left after it was closed',
    tests: ['test/redisson/closed'],
    changes: [
      { file: 'src/redisson/patience.ts', find: '      cancel();\n', replace: '      void cancel;\n' },
    ],
  },
];

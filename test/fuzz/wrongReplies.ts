import fc from 'fast-check';

/** Items that are in no reply of a script. */
const wrongItem: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, false, '', 'OK', '1.5', '-', '0x10', 'NaN', {}, [], [[1]]),
  fc.double({ noInteger: true }),
  fc.constantFrom<unknown>(NaN, Infinity, -Infinity, 2 ** 64, -(2 ** 64), 1e300, -1e300),
  fc.constantFrom<unknown>('9'.repeat(400), `-${'9'.repeat(20)}`, 10n ** 30n),
  // A connection may be set to pass on numbers as text.
  fc.string().filter((text) => !/^-?\d+$/.test(text)),
);

/** One number of a reply. */
interface Part {
  readonly least: number;
  readonly right: number;
}

/** A valid reply with one number replaced, cut short, or with items after its end. */
function wrongPart(parts: readonly Part[]): fc.Arbitrary<unknown> {
  const right = parts.map((part) => part.right);
  const at = fc.integer({ min: 0, max: parts.length - 1 });
  const replaced = fc.tuple(at, wrongItem).map(([i, item]) => put(right, i, item));
  const tooSmall = fc
    .tuple(
      at.filter((i) => parts[i].least > -Infinity),
      fc.integer({ min: 1, max: 2 ** 40 }),
    )
    .map(([i, less]) => put(right, i, parts[i].least - less));
  const cut = fc.integer({ min: 0, max: parts.length - 1 }).map((length) => right.slice(0, length));
  const longer = fc
    .array(fc.oneof(fc.integer(), wrongItem), { minLength: 1, maxLength: 3 })
    .map((more) => [...right, ...more]);
  return fc.oneof(replaced, tooSmall, cut, longer);
}

/** Texts that begin like limits, and name none. */
const wrongText: fc.Arbitrary<unknown> = fc.oneof(
  fc.string().map((text) => `[${text}`),
  fc
    .json()
    .map((json) => `[${json}]`)
    .filter((text) => text !== '[]'),
  fc
    .constantFrom(['', 's', -1, 1000, 1], ['', 's', 5, 0, 1], ['', 'x', 5, 1000, 1], ['', 's', 5, 1000])
    .map((entry) => JSON.stringify([entry])),
);

/** Replies that no script sends to any call. */
const nothing: fc.Arbitrary<unknown> = fc.oneof(
  wrongItem,
  wrongText,
  fc.array(wrongItem, { maxLength: 8 }),
  fc.object(),
);

const now = 1_700_000_000_000_000;
const time: Part = { least: 1, right: now };

/** Replies that no script sends to a call for one permit of one limit. */
export const wrongReply = {
  reserve: fc.oneof(
    nothing,
    fc.integer({ max: 0 }),
    wrongPart([
      time,
      { least: 0, right: 7 },
      { least: 1, right: 1 },
      { least: -1, right: -1 },
      { least: -1, right: -1 },
      { least: 1, right: 1 },
      { least: -Infinity, right: 0 },
    ]),
  ),
  decide: fc.oneof(
    nothing,
    fc.integer({ max: 0 }),
    // More permits than any limit of the tests has.
    fc.integer({ min: 2 ** 43, max: 2 ** 53 - 1 }),
    wrongPart([
      { least: 0, right: 1 },
      { least: -1, right: 0 },
      { least: 0, right: 1_000 },
      { least: 0, right: 4 },
    ]),
  ),
  // An empty list is the reply to a refund that was sent again.
  refund: fc.oneof(nothing, fc.integer(), wrongPart([{ least: 0, right: 1 }])).filter(notEmpty),
  configure: fc.oneof(nothing, fc.integer(), wrongPart([{ least: 0, right: 1 }])),
  forget: fc.oneof(
    nothing,
    fc.integer().filter((n) => n !== 1),
    fc.array(fc.integer()),
  ),
  pause: fc.oneof(nothing, fc.integer(), wrongPart([{ least: 0, right: 1_000 }])),
} as const;

/** Values other than 1 and 0. */
const wrongFlag = fc.oneof(
  nothing,
  fc.integer().filter((n) => n !== 0 && n !== 1),
  fc.array(fc.integer()),
);

/**
 * Replies that no script sends to a call for one permit on the keys of Redisson. An empty list means that there is no
 * rate.
 */
export const wrongRedissonReply = {
  acquire: fc
    .oneof(
      nothing,
      fc.integer({ max: 0 }),
      wrongPart([
        time,
        { least: 1, right: 5 },
        { least: 1, right: 1_000 },
        { least: 0, right: 4 },
        { least: 0, right: 0 },
        { least: 0, right: 0 },
        { least: 1, right: 1 },
        { least: -Infinity, right: 0 },
      ]).filter((reply) => (reply as unknown[]).length > 2),
    )
    .filter(notEmpty),
  available: fc.oneof(nothing, fc.integer(), wrongPart([{ least: 0, right: 4 }])).filter(notEmpty),
  release: fc
    .oneof(
      nothing,
      fc.integer(),
      wrongPart([
        { least: 0, right: 3 },
        { least: 0, right: 0 },
      ]),
      fc.constant([0, 1]),
    )
    .filter(notEmpty),
  setRate: wrongFlag,
  expire: wrongFlag,
} as const;

function put(items: readonly unknown[], at: number, item: unknown): unknown[] {
  return items.map((old, i) => (i === at ? item : old));
}

function notEmpty(reply: unknown): boolean {
  return !Array.isArray(reply) || reply.length > 0;
}

// A store in the process drops the state of keys that are not in use, so that its memory depends on the keys in use.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow } from '../../src/limits/limit.ts';
import { algebraOf } from '../../src/limits/states.ts';
import { noControl, storeRate } from '../../src/stores/memory/control.ts';
import { closeLedger, openLedger } from '../../src/stores/memory/openLedger.ts';
import { Place, Places } from '../../src/stores/memory/places.ts';
import { refund } from '../../src/stores/memory/refund.ts';
import { Setting } from '../../src/stores/memory/setting.ts';

const test = suite('places of keys');
const limits = [fixedWindow({ permits: 10, interval: 1_000 })];
const names = [''];

/** Uses keys of a store by a clock that each use advances by a millisecond. */
function keysInUse(isIndexed = true) {
  const places = new Places(isIndexed);
  const all: Place[] = [];
  let ms = 1e12;
  return {
    use(key: string): Place {
      places.called(++ms);
      const place = isIndexed ? places.of('api', key) : places.of('api', key, new Place(key));
      const { ledger, instant } = openLedger(place.ledger, names, limits, ms * 1000, noControl());
      closeLedger(ledger, instant);
      if (!place.ledger) all.push(place);
      place.ledger = ledger;
      return place;
    },
    /** Refunds the permit of a key that was just used. */
    refund({ ledger }: Place) {
      const { instant } = openLedger(ledger, names, limits, ms * 1000, noControl());
      algebraOf(ledger!.limits[0]).commit(ledger!.limits[0], instant.now, instant.at, 1);
      const one = { moment: ms, epoch: ledger!.epoch, source: 'memory', cost: [1], count: 1 } as const;
      assert.equal(refund(ledger!, instant, { last: 0, until: 0 }, [one], 1), { restored: [true] });
      closeLedger(ledger!, instant);
    },
    kept: () => all.filter(({ family }) => family !== undefined).length,
    sleep(length: number) {
      ms += length;
    },
    places,
  };
}

for (const isIndexed of [true, false])
  test(`if each call is for a new key, at most four times as many are kept as are in use, ${isIndexed ? 'with' : 'without'} an index`, () => {
    const { use, kept } = keysInUse(isIndexed);
    let most = 0;
    for (let i = 0; i < 20_000; i++) {
      use(`key ${i}`);
      if (i % 100 === 0) most = Math.max(most, kept());
    }
    // A key is in use for a second.
    assert.ok(most >= 1_000 && most <= 4_000, `${most} kept`);
  });

test('a key whose permits were refunded is kept for no longer than others', () => {
  const { use, refund, kept, sleep } = keysInUse();
  for (let i = 0; i < 500; i++) refund(use(`key ${i}`));
  sleep(3_000);
  for (let i = 0; i < 501 * 4 + 64; i++) use('last');
  assert.is(kept(), 1);
});

test('an index has the places that it was made for, and all later ones', () => {
  const places = new Places(false);
  const placeOf = (key: string) => places.of('api', key, new Place(key));
  const [early, idle] = [placeOf('early'), placeOf('idle')];
  const { ledger } = openLedger(undefined, names, limits, 1e15, noControl());
  ledger.expires = 2e12;
  early.ledger = ledger;
  for (let i = 0; i < 64; i++) places.called(1e12);
  assert.is(idle.family, undefined);
  places.index(early);
  places.index(idle);
  assert.is(placeOf('early'), early);
  assert.is.not(placeOf('idle'), idle);
  assert.is(placeOf('next'), placeOf('next'));
});

test('without an index, a place of several ledgers is found again', () => {
  const places = new Places(false);
  assert.is(places.of('api', 'control'), places.of('api', 'control'));
});

test('calls for one key drop all others that are not in use, and never that one', () => {
  const { use, kept, sleep } = keysInUse();
  for (let i = 0; i < 500; i++) use(`key ${i}`);
  const first = use('first');
  sleep(2_000);
  // Each 32 calls visit eight keys.
  for (let i = 0; i < 501 * 4 + 64; i++) assert.is(use('first'), first);
  assert.is(kept(), 1);
});

test('a key with a stored rate is kept', () => {
  const { use, kept, sleep } = keysInUse();
  const control = noControl();
  storeRate(control, names, limits, true, 0, 1e15);
  use('steered').control = control;
  sleep(2_000);
  for (let i = 0; i < 1_000; i++) use('first');
  assert.is(kept(), 2);
});

test('a key that was dropped and is used again gets a later epoch', () => {
  const { use, sleep, places } = keysInUse();
  const { ledger } = use('key');
  sleep(2_000);
  for (let i = 0; i < 1_000; i++) use('first');
  // Even if the clock has stepped back.
  const again = openLedger(undefined, names, limits, 1, noControl(), places.lastEpoch).ledger;
  assert.is(again.epoch, ledger!.epoch + 1);
});

test('a key that was only looked up is dropped', () => {
  const { use, places } = keysInUse();
  const place = places.of('api', 'asked for its rate');
  for (let i = 0; i < 64; i++) use('first');
  assert.is(place.family, undefined);
});

test('a call visits a few keys only, however many are in use', () => {
  const { use, places } = keysInUse();
  let visited = 0;
  for (let i = 0; i < 500; i++) {
    const place = use(`key ${i}`);
    const { ledger } = place;
    Object.defineProperty(place, 'ledger', {
      get() {
        visited++;
        return ledger;
      },
    });
  }
  // After the search that visits more, for the keys that were added.
  for (let i = 0; i < 32; i++) places.called(1e12);
  visited = 0;
  for (let i = 0; i < 320; i++) places.called(1e12);
  assert.is(visited, 10 * 8);
});

test('the keys of a group share one setting, and a limiter without a key does not use it', () => {
  const clock = { origin: 0, now: () => 0, after: () => () => {} };
  const config = { name: 'api', prefix: '', clientId: 'one', names, limits, clock };
  const setting = new Setting({ ...config, key: 'one key' }, new Places(true));
  assert.is(setting.suits({ ...config, key: 'another key' }), true);
  assert.is(setting.suits(config), false);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Circuit } from '../../src/stores/fallback/circuit.ts';

test('what is to be done on the return is done once', () => {
  const circuit = new Circuit(100);
  let done = 0;
  circuit.onReturn(() => done++);
  for (let now = 0; now < 300; now += 100) {
    circuit.failed('call', new Error('lost'), now);
    assert.is(circuit.pass(now + 100, true), 'probe');
    circuit.answered();
  }
  assert.is(done, 1);
});

test('the time until a call may pass is that of the cooldown', () => {
  const circuit = new Circuit(100);
  assert.is(circuit.untilProbe(0), 0);
  circuit.failed('call', new Error('lost'), 50);
  assert.is(circuit.untilProbe(60), 90);
  assert.is(circuit.untilProbe(1000), 0);
});

test.run();

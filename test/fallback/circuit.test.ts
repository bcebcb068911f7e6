import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Circuit } from '../../src/stores/fallback/circuit.ts';

test('calls a callback for the closed circuit once', () => {
  const circuit = new Circuit(100);
  let done = 0;
  circuit.onClosed(() => done++);
  for (let now = 0; now < 300; now += 100) {
    circuit.failed('call', new Error('lost'), now);
    assert.is(circuit.permits(now + 100, true), 'probe');
    circuit.close();
  }
  assert.is(done, 1);
});

test('is due for a probe after the cooldown', () => {
  const circuit = new Circuit(100);
  assert.is(circuit.untilProbe(0), 0);
  circuit.failed('call', new Error('lost'), 50);
  assert.is(circuit.untilProbe(60), 90);
  assert.is(circuit.untilProbe(1000), 0);
});

test.run();

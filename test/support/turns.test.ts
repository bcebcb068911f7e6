import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { turns } from './turns.mjs';

test('the output of each writer follows that of the earlier ones', () => {
  const heard: string[] = [];
  const [first, second, third] = turns(3, (text) => text && heard.push(text));
  second.write('b');
  first.write('a');
  third.write('c');
  third.end();
  assert.equal(heard, ['a']);
  first.end();
  assert.equal(heard, ['a', 'b']);
  second.write('B');
  assert.equal(heard, ['a', 'b', 'B']);
  second.end();
  assert.equal(heard, ['a', 'b', 'B', 'c']);
});

test.run();

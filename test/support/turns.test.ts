import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { turns } from './turns.mjs';

test('the output of each writer follows that of the earlier ones', () => {
  const written: string[] = [];
  const [first, second, third] = turns(3, (text) => text && written.push(text));
  second.write('b');
  first.write('a');
  third.write('c');
  third.end();
  assert.equal(written, ['a']);
  first.end();
  assert.equal(written, ['a', 'b']);
  second.write('B');
  assert.equal(written, ['a', 'b', 'B']);
  second.end();
  assert.equal(written, ['a', 'b', 'B', 'c']);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RequestReader } from './requests.ts';

const incr = '*2\r\n$4\r\nincr\r\n$1\r\na\r\n';
const set = '*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$6\r\n*1\r\n$1\r\n';

test('finds requests at any split of the bytes', () => {
  const bytes = Buffer.from(incr + set);
  for (let at = 0; at <= bytes.length; at++) {
    const reader = new RequestReader();
    const frames = [...reader.read(bytes.subarray(0, at)), ...reader.read(bytes.subarray(at))];
    assert.equal(
      frames.map((frame) => [frame.name, frame.bytes.toString()]),
      [
        ['INCR', incr],
        ['SET', set],
      ],
    );
  }
});

test('fails on bytes that are not a request', () => {
  assert.throws(() => new RequestReader().read(Buffer.from('PING\r\n')), /expected \*/);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WorkQueue, worksInTurn } from '../src/workQueue.ts';
import { timed } from './support/fakeTime.ts';

/** Works that record their numbers. */
function recorded() {
  const ran: number[] = [];
  return { ran, work: (i: number) => () => void ran.push(i) };
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

timed('works are run in their order at the end of the turn', (clock) => {
  const { ran, work } = recorded();
  const queue = new WorkQueue();
  for (let i = 0; i < 3; i++) queue.add(work(i));
  assert.equal(ran, []);
  clock.runMicrotasks();
  assert.equal(ran, [0, 1, 2]);
});

timed('a work that is run at once waits behind others, and after many for the next turn', (clock) => {
  const { ran, work } = recorded();
  const queue = new WorkQueue();
  queue.add(work(0));
  queue.run(work(1));
  assert.equal(ran, []);
  clock.runMicrotasks();
  for (let i = 2; i < worksInTurn + 2; i++) queue.run(work(i));
  assert.equal(ran, upTo(worksInTurn));
  clock.next();
  assert.equal(ran, upTo(worksInTurn + 2));
});

timed('a work that throws an error does not keep the others from being run', (clock) => {
  const { ran, work } = recorded();
  const queue = new WorkQueue();
  queue.add(() => {
    throw new Error('broken');
  });
  for (let i = 0; i < 3; i++) queue.add(work(i));
  assert.throws(() => clock.runMicrotasks(), /broken/);
  clock.runMicrotasks();
  assert.equal(ran, [0, 1, 2]);
});

timed('works that are added meanwhile are run after the others', (clock) => {
  const { ran, work } = recorded();
  const queue = new WorkQueue();
  queue.add(() => queue.add(work(2)));
  queue.add(work(1));
  clock.runMicrotasks();
  assert.equal(ran, [1, 2]);
});

test.run();

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { work } from './work.mjs';

/** This process alone, with the in-memory store. */
export function alone() {
  return { processes: 1, run: ({ url, ...job }) => work({ ...job, url: `${url}/0` }), stop() {} };
}

/** Several processes that share the lines and one limit, over the Redis at `url`. */
export async function fleet(processes, redis) {
  const children = Array.from({ length: processes }, () =>
    fork(new URL('./worker.mjs', import.meta.url), [redis]),
  );
  // The workers end with this process, and so before the API.
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map(answer));
  return {
    processes,
    async run({ url, lines, name }) {
      const answers = children.map((child, i) => {
        child.send({ url: `${url}/${i}`, lines: lines.filter((_, index) => index % processes === i), name });
        return answer(child);
      });
      await Promise.all(answers);
    },
    stop() {
      for (const child of children) child.disconnect();
    },
  };
}

async function answer(child) {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(() => Promise.reject(new Error('a worker ended too early'))),
    ]);
    return message;
  } finally {
    ended.abort();
  }
}

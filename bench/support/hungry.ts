/** Calls for each reading of the clock: a reading would take a noticeable part of the time of a call. */
const callsPerReading = 16;

/** The rate per second at which `callers` callers repeat `work` for `ms` milliseconds. */
export async function perSecond(callers: number, work: () => Promise<unknown>, ms = 1_000): Promise<number> {
  let done = 0;
  let isOver = false;
  const start = performance.now();
  const caller = async () => {
    while (!isOver) {
      await work();
      if (++done % callsPerReading === 0) isOver = performance.now() - start >= ms;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (done * 1_000) / (performance.now() - start);
}

/** The rate per second at which `callers` callers repeat `work` for `ms` milliseconds. */
export async function perSecond(callers: number, work: () => Promise<unknown>, ms = 1_000): Promise<number> {
  let done = 0;
  const start = performance.now();
  const caller = async () => {
    while (performance.now() - start < ms) {
      await work();
      done++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (done * 1_000) / (performance.now() - start);
}

/** A stretch of time, and how many grants it contains. Times in milliseconds. */
export interface Window {
  from: number;
  to: number;
  count: number;
}

/** Windows of one length, one after the other, each starting at the first grant that the one before does not contain. */
export function windowsOf(grants: readonly number[], interval: number, end: number): Window[] {
  const windows: Window[] = [];
  let from = grants[0] ?? Infinity;
  while (from + interval <= end) {
    const to = from + interval;
    const start = from;
    windows.push({ from, to, count: grants.filter((at) => at >= start && at < to).length });
    from = grants.find((at) => at >= to) ?? Infinity;
  }
  return windows;
}

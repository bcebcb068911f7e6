import { readFileSync } from 'node:fs';

/** A table of the seconds of each file, its processor seconds, and those of the processes it started: the most first. */
export function timesOf(outcomes) {
  const files = new Map();
  for (const { name, wall = 0, cpu = 0, children = 0 } of outcomes) {
    if (!name) continue;
    const sum = files.get(name) ?? { wall: 0, cpu: 0, children: 0 };
    files.set(name, { wall: sum.wall + wall, cpu: sum.cpu + cpu, children: sum.children + children });
  }
  const seconds = (ms) => (ms / 1000).toFixed(1).padStart(10);
  const row = ({ wall, cpu, children }, name) =>
    `${seconds(wall)} ${seconds(cpu)} ${seconds(children)}  ${name}\n`;
  const work = ({ cpu, children }) => cpu + children;
  const rows = [...files].sort(([, a], [, b]) => work(b) - work(a)).map(([name, sum]) => row(sum, name));
  const all = [...files.values()];
  const total = (what) => all.reduce((sum, one) => sum + one[what], 0);
  const sums = { wall: total('wall'), cpu: total('cpu'), children: total('children') };
  return `   seconds        cpu  its children\n${rows.join('')}${row(sums, 'in all')}`;
}

/** The processor time, in ms, of the children of this process that have ended: known on Linux only, 0 elsewhere. */
export function childrenCpu() {
  if (process.platform !== 'linux') return 0;
  const afterName = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
  // In ticks of 10 ms: cutime and cstime.
  return (Number(afterName[13]) + Number(afterName[14])) * 10;
}

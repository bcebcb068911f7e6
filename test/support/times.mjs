/** A table of the seconds and processor seconds of each file, the slowest first. */
export function timesOf(outcomes) {
  const files = new Map();
  for (const { name, wall = 0, cpu = 0 } of outcomes) {
    if (!name) continue;
    const sum = files.get(name) ?? { wall: 0, cpu: 0 };
    files.set(name, { wall: sum.wall + wall, cpu: sum.cpu + cpu });
  }
  const seconds = (ms) => (ms / 1000).toFixed(1).padStart(8);
  const row = ({ wall, cpu }, name) => `${seconds(wall)} ${seconds(cpu)}  ${name}\n`;
  const rows = [...files].sort(([, a], [, b]) => b.wall - a.wall).map(([name, sum]) => row(sum, name));
  const all = [...files.values()];
  const total = (what) => all.reduce((sum, one) => sum + one[what], 0);
  return `  seconds      cpu\n${rows.join('')}${row({ wall: total('wall'), cpu: total('cpu') }, 'in all')}`;
}

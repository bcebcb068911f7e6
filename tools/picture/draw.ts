import type { Window } from '../../playground/model/windows.ts';
import { end, limit, type Scene, windows as windowsIn } from './scenario.ts';
import type { Theme } from './themes.ts';

// Small enough for a phone: at a width of 340 pixels, the letters are still 11 pixels high.
const width = 480;
const height = 304;
const left = 96;
const radius = 11;
/** The middle of the lane of each process, and of the lane of all grants. */
const lanes = [64, 108, 152];
const all = 214;
const axis = 278;
const letters = ['A', 'B', 'C'];

const x = (ms: number) => Math.round(left + ((width - left - 8) * ms) / end);
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

/** Draws what happened, as a self-contained SVG. */
export function draw(scene: Scene, theme: Theme): string {
  const windows = windowsIn(scene);
  const parts = [
    `<title id="title">Three processes share one limit of ${limit.permits} permits in any second</title>`,
    `<desc id="desc">${description(scene, windows)}</desc>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${theme.background}"/>`,
    `<text x="16" y="28" fill="${theme.text}" font-weight="600">3 processes, one limit: ${limit.permits} permits in any second</text>`,
    ...windows.map((window) => drawWindow(window, theme)),
    ...lanes.flatMap((y, i) => drawLane(`process ${letters[i]}`, y, theme)),
    ...drawLane('together', all, theme),
    ...drawAxis(theme),
    ...drawTransfer(scene, theme),
    ...scene.marbles.flatMap((marble) => drawMarble(marble, theme)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="15">
${parts.map((part) => `  ${part}`).join('\n')}
</svg>
`;
}

function description({ cancelled, reservedAt, next }: Scene, windows: readonly Window[]): string {
  const counts = windows.map(({ from, to, count }) => `${count} from ${seconds(from)} to ${seconds(to)}`);
  return [
    'Time runs from left to right. Each ring is a request, and each filled marble a grant.',
    `Granted by all processes together: ${counts.join(', ')}.`,
    `A request of process ${letters[cancelled.process]} is cancelled at ${seconds(cancelled.endedAt!)} while it waits.`,
    `Its permit, reserved for ${seconds(reservedAt)}, goes to the next request, of process ${letters[next.process]}.`,
  ].join(' ');
}

function drawLane(label: string, y: number, theme: Theme): string[] {
  return [
    `<text x="16" y="${y + 5}" fill="${theme.text}">${label}</text>`,
    `<path d="M${left} ${y}H${width - 8}" stroke="${theme.line}"/>`,
  ];
}

function drawAxis(theme: Theme): string[] {
  const marks = Array.from({ length: Math.floor(end / 1_000) + 1 }, (_, i) => i);
  return marks.map(
    (i) =>
      `<text x="${x(i * 1_000)}" y="${axis + 14}" fill="${theme.muted}" text-anchor="middle">${i} s</text>`,
  );
}

function drawWindow({ from, to, count }: Window, theme: Theme): string {
  const [a, b] = [x(from) - radius - 1, x(to) - radius - 3];
  return [
    `<rect x="${a}" y="${all - 30}" width="${b - a}" height="${axis - all + 22}" rx="6" fill="${theme.window}" stroke="${theme.line}"/>`,
    `<text x="${(a + b) / 2}" y="${all + 38}" fill="${theme.text}" text-anchor="middle">${count} of ${limit.permits} in 1 s</text>`,
  ].join('');
}

/** The cancelled request's moment, and the way of its permit to the next request. */
function drawTransfer({ cancelled, reservedAt, next }: Scene, theme: Theme): string[] {
  const [from, to] = [lanes[cancelled.process], lanes[next.process]];
  const [start, at] = [x(cancelled.endedAt!), x(reservedAt)];
  return [
    `<path d="M${start + 8} ${from}H${at}V${to - radius - 5}" fill="none" stroke="${theme.text}" stroke-width="2" stroke-dasharray="2 4" stroke-linecap="round"/>`,
    `<path d="M${at - 5} ${to - radius - 9}l5 7l5 -7z" fill="${theme.text}"/>`,
    `<text x="${start}" y="${from - 13}" fill="${theme.text}" text-anchor="middle">cancelled</text>`,
    `<text x="${at + 10}" y="${(from + to) / 2 + 6}" fill="${theme.text}">its permit goes to ${letters[next.process]}</text>`,
  ];
}

function drawMarble(
  { process, arrivedAt, state, endedAt }: Scene['marbles'][number],
  theme: Theme,
): string[] {
  const colour = theme.processes[process];
  const [y, start] = [lanes[process], x(arrivedAt)];
  const stop = x(endedAt ?? end);
  const parts: string[] = [];
  if (stop > start) {
    parts.push(
      `<path d="M${start} ${y}H${stop}" stroke="${colour}" stroke-width="4" opacity="0.45"/>`,
      `<circle cx="${start}" cy="${y}" r="${radius - 4}" fill="${theme.background}" stroke="${colour}" stroke-width="2.5"/>`,
    );
  }
  if (state === 'cancelled')
    parts.push(
      `<path d="M${stop - 6} ${y - 6}l12 12m0 -12l-12 12" stroke="${theme.cancelled}" stroke-width="3"/>`,
    );
  if (state === 'granted')
    for (const lane of [y, all]) {
      parts.push(
        `<circle cx="${stop}" cy="${lane}" r="${radius}" fill="${colour}"/>`,
        `<text x="${stop}" y="${lane + 4.5}" fill="${theme.letter}" font-size="13" font-weight="600" text-anchor="middle">${letters[process]}</text>`,
      );
    }
  return parts;
}

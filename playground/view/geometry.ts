import type { Simulation } from '../model/simulation.ts';

/** Where things are in the timeline, in pixels. */
export interface Geometry {
  readonly width: number;
  readonly height: number;
  /** The left end of the rows. */
  readonly left: number;
  /** Where the present is. Pauses reach into the future, to its right. */
  readonly nowX: number;
  /** Pixels of a millisecond. */
  readonly scale: number;
  readonly rowHeight: number;
  readonly radius: number;
  /** The middle of the row of a process. */
  rowY(process: number): number;
  /** The middle of the row of all grants. */
  readonly allY: number;
}

const rowHeight = 44;
const top = 4;

/** The geometry of a timeline of a width: it shows at least three intervals. */
export function geometryOf(width: number, { limit, config }: Simulation): Geometry {
  const isNarrow = width < 560;
  const left = isNarrow ? 36 : 92;
  const nowX = left + (width - left) * 0.88;
  const rowY = (process: number) => top + (process + 0.5) * rowHeight;
  const allY = top + config.processes * rowHeight + 44;
  return {
    width,
    height: allY + 80,
    left,
    nowX,
    scale: (nowX - left) / Math.max(1_000, 3.4 * limit.interval),
    rowHeight,
    radius: isNarrow ? 9 : 11,
    rowY,
    allY,
  };
}

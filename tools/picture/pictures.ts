import { draw } from './draw.ts';
import { play } from './scenario.ts';
import { themes } from './themes.ts';

/** The pictures, with their paths from the root of the repository. */
export function pictures(): { file: string; svg: string }[] {
  const scene = play();
  return Object.entries(themes).map(([name, theme]) => ({
    file: `docs/images/timeline-${name}.svg`,
    svg: draw(scene, theme),
  }));
}

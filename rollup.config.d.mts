import type { RollupOptions } from 'rollup';

/** The builds: the library, the command, the declarations; with `configQuick` the library alone, its types unchecked. */
export default function builds(args: { configQuick?: boolean }): RollupOptions[];

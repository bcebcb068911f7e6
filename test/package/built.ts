import { type OutputChunk, type RollupOptions, rollup } from 'rollup';
import * as assert from 'uvu/assert';

/** The first output of one build of the package, in memory. */
export async function built(options: RollupOptions): Promise<OutputChunk> {
  const bundle = await rollup({ ...options, onwarn: (warning) => assert.unreachable(warning.message) });
  const [output] = [options.output].flat();
  const { output: files } = await bundle.generate(output!);
  await bundle.close();
  return files[0];
}

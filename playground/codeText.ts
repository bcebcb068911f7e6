import { burstEvery } from './model/arrivals.ts';
import type { Config } from './model/config.ts';

const number = (value: number) =>
  value >= 1_000 ? String(value).replace(/(\d)(\d{3})$/, '$1_$2') : String(value);

/** The program that does what a configuration describes, ready to run. */
export function codeOf(config: Config): string {
  const { names, text, comment } = arrivalsOf(config);
  const imports = [...new Set([...names, 'map', 'mergeMap', 'range'])].sort((a, b) => a.localeCompare(b));
  return `import { ${imports.join(', ')} } from 'rxjs';
import { memoryStore, permits$, RateLimiter, ${config.kind} } from 'rxjs-sluice';

const name = 'playground';
const limit = ${limitText(config)};
const store = memoryStore(); // in production: redis: new Redis()

// ${comment}
${text}

const process = (index: number) => {
  const limiter = new RateLimiter({ name, limit, store });
  return requestsOf(index).pipe(
    mergeMap(() => permits$(limiter)), // unsubscribe to cancel
    map(({ waited }) => \`process \${index} waited \${waited} ms\`),
  );
};

range(0, ${config.processes}).pipe(mergeMap(process)).subscribe(console.log);
`;
}

function limitText({ kind, permits, interval, resolution, align, burst }: Config): string {
  const options = [`permits: ${permits}`, `interval: ${number(interval)}`];
  if (kind === 'slidingWindow' && resolution > 0)
    options.push(`resolution: ${number(Math.min(resolution, interval))}`);
  if (kind === 'fixedWindow' && align !== 'first') options.push(`align: '${align}'`);
  if (kind === 'tokenBucket' && burst > 0) options.push(`burst: ${burst}`);
  return `${kind}({ ${options.join(', ')} })`;
}

/** The arrivals of a process: RxJS's names, the statements, and what they do. */
function arrivalsOf({ arrivals, rate, processes }: Config): {
  names: string[];
  text: string;
  comment: string;
} {
  const period = number(Math.round(1_000 / rate));
  const every = number(burstEvery);
  const count = Math.max(1, Math.round((rate * burstEvery) / 1_000));
  switch (arrivals) {
    case 'steady':
      return {
        names: ['timer'],
        text: `const requestsOf = (index: number) =>
  timer((index / ${processes}) * ${period}, ${period});`,
        comment: `One request every ${period} ms.`,
      };
    case 'bursts':
      return {
        names: ['timer'],
        text: `const requestsOf = (index: number) =>
  timer((index / ${processes}) * ${every}, ${every}).pipe(
    mergeMap(() => range(0, ${count})),
  );`,
        comment: `${count} at once, every ${burstEvery / 1_000} seconds.`,
      };
    case 'poisson':
      return {
        names: ['defer', 'repeat', 'timer'],
        text: `const requestsOf = (_index: number) =>
  defer(() => timer(-Math.log(1 - Math.random()) * ${period})).pipe(repeat());`,
        comment: `A Poisson process: one request every ${period} ms on average.`,
      };
    case 'hand':
      return {
        names: ['filter', 'Subject'],
        text: `const hand$ = new Subject<number>(); // hand$.next(0)
const requestsOf = (index: number) =>
  hand$.pipe(filter((process) => process === index));`,
        comment: 'One request of a process for each call of next.',
      };
  }
}

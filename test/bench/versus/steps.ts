/**
 * @module The processor time of a warm request by step of its chain. A sampled call stack counts for the innermost
 * frame with a known step. The bundles' source maps give the source of each frame.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

export const STEPS = [
  'authenticate',
  'parse',
  'rates',
  'access',
  'use case',
  'store',
  'provider',
  'log',
  'chain',
  "Node's own",
] as const;
type Step = (typeof STEPS)[number];
export type StepTimes = Readonly<Record<Step, number>>;

/** The first matching pattern decides. Sources outside both sides' chains have no step. */
const STEP_OF: readonly (readonly [pattern: RegExp, step: Step])[] = [
  [
    /shared\/access\/(?:authenticate|identity|identify-key|bearer)|shared\/http\/callers|reference\/session/,
    'authenticate',
  ],
  [/shared\/http\/(?:rate-limit|sliding-window|windows)/, 'rates'],
  [/shared\/http\/(?:check-access|acting)|shared\/access\//, 'access'],
  [
    /shared\/http\/(?:parse|read-request|json|known|fields|sent-back)|card-number|node_modules\/zod|json-body-parser/,
    'parse',
  ],
  [/shared\/core\/(?:log|metrics)|aws-lambda-powertools|reference\/api/, 'log'],
  [/shared\/platform|node_modules\/@(?:aws-sdk|smithy|aws)\/|reference\/table/, 'store'],
  [/shared\/providers|node_modules\/stripe|reference\/stripe/, 'provider'],
  [/shared\/http|node_modules\/@middy|shared\/host|shared\/runtime/, 'chain'],
  [/shared\/|functions\/|peers\/reference/, 'use case'],
];

interface Frame {
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

const maps = new Map<string, SourceMap | undefined>();

const mapOf = (url: string): SourceMap | undefined => {
  if (!url.startsWith('file:') || !url.endsWith('.mjs')) return undefined;
  if (!maps.has(url)) maps.set(url, new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8'))));
  return maps.get(url);
};

const stepOf = ({ url, lineNumber, columnNumber }: Frame): Step | undefined => {
  const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
  const source = entry && 'originalSource' in entry ? entry.originalSource : undefined;
  return source === undefined ? undefined : STEP_OF.find(([pattern]) => pattern.test(source))?.[1];
};

const SAMPLE_US = 100;
/** Frames outside of a request's work. */
const OUTSIDE = /^\((?:idle|program)\)$/;

/** @returns milliseconds of one call, by step */
export const timesBySteps = async (calls: number, run: () => Promise<void>): Promise<StepTimes> => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  await session.post('Profiler.start');
  await run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const stepOfStack = (id: number): Step => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      const step = frame && stepOf(frame);
      if (step) return step;
    }
    return "Node's own";
  };
  const known = new Map<number, Step>();
  const times = Object.fromEntries(STEPS.map((step) => [step, 0])) as Record<Step, number>;
  for (const [index, id] of (profile.samples ?? []).entries()) {
    if (OUTSIDE.test(nodes.get(id)?.callFrame.functionName ?? '')) continue;
    const step = known.get(id) ?? stepOfStack(id);
    known.set(id, step);
    times[step] += (profile.timeDeltas?.[index] ?? 0) / 1_000 / calls;
  }
  return times;
};

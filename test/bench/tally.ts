import type { Level, Run, TableCall } from './meter.ts';
import { type CapacityUnits, NO_UNITS, sumOf } from './units.ts';

/** Totals of runs, separately for the time before the caller's response and for later work. */
export interface Cost {
  readonly requests: number;
  readonly levels: number;
  readonly units: CapacityUnits;
}

/** Parts of a request with separate budgets, identified by the kinds of their items. */
const PARTS = { RATE: 'limits', IDEM: 'key', CACHE: 'epoch' } as const;
export type Part = 'own' | (typeof PARTS)[keyof typeof PARTS];

/** Names of the work after the response, by function. A write of a log entry counts as `log` in every function. */
const WORKERS: Readonly<Record<string, string>> = {
  'workers.publish-changes': 'publish',
  'workers.project-changes': 'project',
  'webhooks.provider-a': 'inbound',
  'workers.apply-provider-event': 'apply',
  'workers.dispatch-webhooks': 'deliver',
  'workers.deliver-webhook': 'deliver',
  'workers.sweep-due': 'sweep',
  'workers.run-due': 'due',
};

export interface Tally {
  readonly parts: Readonly<Record<Part, Cost>>;
  readonly levels: readonly Level[];
  readonly later: ReadonlyMap<string, CapacityUnits>;
  readonly waitedFor: Run;
  /** Functions that ran after the response, each as a separate call. */
  readonly runsLater: readonly Run[];
}

/** @throws if the endpoint was not called */
export const tallyOf = (runs: readonly Run[], functionId: string): Tally => {
  const waitedFor = runs.find((run) => run.functionId === functionId);
  if (!waitedFor) throw new Error(`${functionId} was not called`);
  const { levels } = waitedFor;
  const runsLater = runs.filter((run) => run !== waitedFor);
  return {
    parts: {
      own: costOf(levels, 'own'),
      limits: costOf(levels, 'limits'),
      key: costOf(levels, 'key'),
      epoch: costOf(levels, 'epoch'),
    },
    levels,
    later: workOf(runsLater),
    waitedFor,
    runsLater,
  };
};

const isPartName = (about: string): about is keyof typeof PARTS => Object.hasOwn(PARTS, about);
const partOf = ({ about }: TableCall): Part => (isPartName(about) ? PARTS[about] : 'own');

/**
 * A level that contains several parts counts as one level of each part. Parts that run concurrently thus add one level
 * too many in total.
 */
const costOf = (levels: readonly Level[], part: Part): Cost => {
  const own = levels.map((level) => level.filter((call) => partOf(call) === part)).filter((level) => level.length > 0);
  const calls = own.flat();
  return { requests: calls.length, levels: own.length, units: sumOf(calls.map(({ units }) => units)) };
};

/** Capacity units per function. */
export const workOf = (runs: readonly Run[]): ReadonlyMap<string, CapacityUnits> => {
  const work = new Map<string, CapacityUnits>(Object.values(WORKERS).map((name) => [name, NO_UNITS]));
  for (const { functionId, levels } of runs) {
    for (const call of levels.flat()) {
      const name = call.about === 'LOG' ? 'log' : (WORKERS[functionId] ?? functionId);
      work.set(name, sumOf([work.get(name) ?? NO_UNITS, call.units]));
    }
  }
  return work;
};

/** The levels in words, such as `Get PAY > Put PAY`. Concurrent requests are joined by `|`. */
export const trailOf = (levels: readonly Level[]): string =>
  levels.map((level) => level.map(nameOf).join(' | ')).join(' > ');

const nameOf = ({ operation, about }: TableCall): string => `${operation.replace(/Items?$/, '')} ${about}`;

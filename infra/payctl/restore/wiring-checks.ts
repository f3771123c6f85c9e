/**
 * @module Checks that a stage's functions and workers use the table of the settings, and lists the running parts of due
 * work.
 */

import { workerTriggers } from '../../../functions/workers/triggers.ts';
import type { Check } from '../commands/checks.ts';
import type { StageWiring } from '../installation/facts.ts';
import { verdict } from './table-checks.ts';

const STREAM_READERS = workerTriggers.filter(({ kind }) => kind === 'stream').length;

interface TableInUse {
  readonly name: string;
  readonly streamArn: string | undefined;
}

export const wiringChecks = ({ functions, sources }: StageWiring, table: TableInUse): readonly Check[] => {
  const others = functions.filter((one) => one.table !== table.name);
  const named = others.slice(0, MOST_NAMED).map((one) => `${one.name} uses ${one.table}`);
  const more = others.length > MOST_NAMED ? [`and ${others.length - MOST_NAMED} more`] : [];
  const streams = sources.filter(({ arn }) => arn.includes(':dynamodb:'));
  const wrong = streams.flatMap(({ id, arn, state }) => [
    ...(arn === table.streamArn ? [] : [`${id} reads another stream`]),
    ...(state === 'Enabled' ? [] : [`${id} is ${state}`]),
  ]);
  const missing = streams.length < STREAM_READERS ? [`${STREAM_READERS - streams.length} readers are missing`] : [];
  return [
    verdict('functions', [...named, ...more], `all ${functions.length} functions that use a table use ${table.name}`),
    verdict('event sources', [...wrong, ...missing], `all ${streams.length} readers of the stream read this table`),
  ];
};

const MOST_NAMED = 3;

/** The running parts of due work. Empty if due work is off. */
export const runningDueWork = ({ sources, schedules }: StageWiring): readonly string[] => [
  ...schedules.filter(({ id, state }) => id.includes('SweepDue') && state !== 'DISABLED').map(({ id }) => id),
  ...sources.filter(({ id, state }) => id.includes('RunDue') && !STOPPED.includes(state)).map(({ id }) => id),
];

/** The schedule that queues due work, and the event source of its worker. */
export const PARTS_OF_DUE_WORK = 2;

const STOPPED: readonly string[] = ['Disabled', 'Disabling'];

/**
 * @module Triggers without HTTP: streams, queues and schedules. Each declares its rights, limits and business impact.
 */

import type { MemoryMb, QueueName, Right } from '../core/rights.ts';
import type { Settings } from '../core/settings.ts';
import { SECOND_MS } from '../core/time.ts';
import type { ItemKind } from './keys.ts';

interface TriggerBase {
  /**
   * The id names the entry. For example, `workers.run-due` is the entry functions/workers/run-due.ts, export `handler`.
   */
  readonly id: string;
  readonly summary: string;
  readonly uses: readonly Right[];
  readonly timeoutSeconds: number;
  readonly memoryMb: MemoryMb;
  /** The business impact of a failing trigger, used as the text of its alarm. */
  readonly impact: string;
  /** The trigger exists but is disabled, so messages wait in its queue. */
  readonly isPaused?: true;
}

/**
 * Reads the table's stream (INSERT and MODIFY of items with one of these sort keys), with up to ten attempts. Changes
 * of one item arrive in order; changes of different items may not.
 */
export interface StreamTrigger extends TriggerBase {
  readonly kind: 'stream';
  readonly sortKeys: readonly ItemKind[];
  /** The trigger also reads removals of items with these sort keys, including removals by expiry. */
  readonly removalsOf?: readonly ItemKind[];
  readonly batchSize: number;
  /** Concurrent batches per stream shard, 1 to 10. Two concurrent batches never contain the same item. */
  readonly batchesAtOnce: number;
  /** The maximum number of seconds to wait for more changes while a batch is not full. */
  readonly gatherSeconds?: number | undefined;
}

type BusValues = readonly (string | { readonly prefix: string })[];
interface BusFields {
  readonly [name: string]: BusValues | BusFields;
}

/** An EventBridge pattern of exact values or {prefix}. */
export interface BusPattern {
  readonly source?: readonly string[];
  readonly 'detail-type'?: BusValues;
  readonly detail?: BusFields;
}

/** A queue, optionally fed by bus rules. A failed message is retried, then goes to the dead-letter queue. */
export interface QueueTrigger extends TriggerBase {
  readonly kind: 'queue';
  readonly queue: QueueName;
  readonly rules: readonly { readonly name: string; readonly pattern: BusPattern }[];
  readonly batchSize: number;
  readonly maxConcurrency: number;
  readonly visibilitySeconds: number;
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly maxReceives: number;
  /**
   * True if dead letters can wait for an operator's next look, because their loss harms no one. The alarm then rises
   * only for many dead letters or after an hour. In every other queue, the first dead letter raises an alarm, because
   * it concerns money or the record of money.
   */
  readonly deadLettersCanWait?: true;
}

export interface ScheduleTrigger extends TriggerBase {
  readonly kind: 'schedule';
  readonly everyMinutes: number;
  /** The setting that installs the trigger; without a setting, every host installs it. */
  readonly installedBy?: 'HEALTH_CHECK';
}

export type Trigger = StreamTrigger | QueueTrigger | ScheduleTrigger;

export type OperatedSettings = Pick<
  Settings,
  | 'DUE_WORK'
  | 'EXTERNAL_WEBHOOK_MAX_RETRIES'
  | 'EXTERNAL_WEBHOOK_RETRY_SCHEDULE'
  | 'EXTERNAL_WEBHOOK_TIMEOUT'
  | 'HEALTH_CHECK'
  | 'RUN_DUE_CONCURRENCY'
>;

/** The triggers of due work. The first queues due records, and the second does their work. */
const DUE_TRIGGERS: readonly string[] = ['workers.sweep-due', 'workers.run-due'];

/** The time of a delivery attempt in addition to the POST. */
const AROUND_A_POST_SECONDS = 10;

/**
 * Applies the operator's settings: the number and time-out of webhook attempts, the concurrency of due work, and
 * whether due work is off. Omits triggers not installed by the operator.
 */
export const withOperatorSettings = (triggers: readonly Trigger[], settings: OperatedSettings): readonly Trigger[] =>
  triggers
    .filter((trigger) => isInstalled(trigger, settings))
    .map((given) => {
      const isPaused = settings.DUE_WORK === 'off' && DUE_TRIGGERS.includes(given.id);
      const trigger: Trigger = isPaused ? { ...given, isPaused } : given;
      if (trigger.kind !== 'queue') return trigger;
      switch (trigger.queue) {
        case 'webhook-delivery':
          return {
            ...trigger,
            maxReceives: 1 + (settings.EXTERNAL_WEBHOOK_RETRY_SCHEDULE.length || settings.EXTERNAL_WEBHOOK_MAX_RETRIES),
            timeoutSeconds: Math.ceil(settings.EXTERNAL_WEBHOOK_TIMEOUT / SECOND_MS) + AROUND_A_POST_SECONDS,
          };
        case 'run-due':
          return { ...trigger, maxConcurrency: settings.RUN_DUE_CONCURRENCY };
        default:
          return trigger;
      }
    });

const isInstalled = (trigger: Trigger, settings: OperatedSettings): boolean =>
  trigger.kind !== 'schedule' || trigger.installedBy === undefined || settings[trigger.installedBy];

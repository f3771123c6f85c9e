import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { QueueTrigger } from '../../../shared/messaging/trigger.ts';
import { AwsError, type Operations, operation } from '../machine/aws-protocol.ts';
import type { Clock } from '../machine/clock.ts';
import { ACCOUNT, REGION } from '../machine/environment.ts';
import { matchesPattern } from './bus-pattern.ts';
import type { NewMessage } from './queue-store.ts';

/** EventBridge for one machine: sends each event to the queues whose rules match. */
export interface Envelope {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

export interface LocalBus {
  readonly operations: Operations;
  /** The latest events, oldest first. */
  events(): readonly Envelope[];
}

export interface BusOptions {
  readonly name: string;
  readonly triggers: readonly QueueTrigger[];
  readonly send: (queue: string, messages: readonly NewMessage[]) => unknown;
  readonly clock: Pick<Clock, 'now'>;
}

const MAX_ENTRIES = 10;
const MAX_BYTES = 1_048_576;
const KEPT_EVENTS = 100_000;

const entrySchema = z.object({
  Source: z.string().optional(),
  DetailType: z.string().optional(),
  Detail: z.string().optional(),
  EventBusName: z.string().default('default'),
  /** Epoch seconds. */
  Time: z.number().optional(),
  Resources: z.array(z.string()).default([]),
});
type Entry = z.infer<typeof entrySchema>;

export const createBus = ({ name, triggers, send, clock }: BusOptions): LocalBus => {
  const events: Envelope[] = [];
  const rules = triggers.flatMap(({ queue, rules }) => rules.map(({ pattern }) => ({ queue, pattern })));

  const publish = (envelope: Envelope): void => {
    events.push(envelope);
    // Drop old events in bulk: only when twice the promised number is kept.
    if (events.length > 2 * KEPT_EVENTS) events.splice(0, KEPT_EVENTS);
    const body = JSON.stringify(envelope);
    for (const rule of rules) if (matchesPattern(rule.pattern, envelope)) send(rule.queue, [{ body }]);
  };
  const take = (entry: Entry): TakenEntry => {
    const refused = refusalOf(entry);
    if (refused) return refused;
    const envelope = envelopeOf(entry, clock.now());
    if (entry.EventBusName.split('/').at(-1) === name) publish(envelope);
    return { EventId: envelope.id };
  };

  return {
    events: () => events,
    operations: {
      'AWSEvents.PutEvents': operation(z.object({ Entries: z.array(entrySchema).min(1).max(MAX_ENTRIES) }), (input) => {
        const bytes = input.Entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.Detail ?? ''), 0);
        if (bytes > MAX_BYTES) throw new AwsError('ValidationException', `Total size of the entries over ${MAX_BYTES}`);
        const taken = input.Entries.map(take);
        return { FailedEntryCount: taken.filter((one) => 'ErrorCode' in one).length, Entries: taken };
      }),
    },
  };
};

type TakenEntry = { readonly EventId: string } | { readonly ErrorCode: string; readonly ErrorMessage: string };

const refusalOf = (entry: Entry): TakenEntry | undefined => {
  for (const field of ['Source', 'DetailType', 'Detail'] as const) {
    if (!entry[field]) {
      return { ErrorCode: 'InvalidArgument', ErrorMessage: `Parameter ${field} is not valid. Reason: it is required.` };
    }
  }
  if (isJsonObject(entry.Detail ?? '')) return undefined;
  return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
};

const isJsonObject = (text: string): boolean => {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

const envelopeOf = (entry: Entry, now: number): Envelope => ({
  version: '0',
  id: randomUUID(),
  'detail-type': entry.DetailType ?? '',
  source: entry.Source ?? '',
  account: ACCOUNT,
  // EventBridge keeps whole seconds.
  time: new Date(entry.Time === undefined ? now : entry.Time * 1_000).toISOString().replace(/\.\d+Z$/, 'Z'),
  region: REGION,
  resources: entry.Resources,
  detail: JSON.parse(entry.Detail ?? '{}'),
});

/** @module A local EventBridge. Sends each event to the queues with matching rules. */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { QueueTrigger } from '../../../shared/platform/trigger.ts';
import { AwsError, type Operations, operation } from '../machine/aws-protocol.ts';
import type { Clock } from '../machine/clock.ts';
import { ACCOUNT, REGION } from '../machine/environment.ts';
import type { Throttling } from '../machine/throttling.ts';
import { matchesPattern } from './bus-pattern.ts';
import type { NewMessage } from './queue-store.ts';

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
  readonly throttling?: Pick<Throttling, 'strikes'>;
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

export const createBus = ({ name, triggers, send, clock, throttling }: BusOptions): LocalBus => {
  const events: Envelope[] = [];
  const rules = triggers.flatMap(({ queue, rules }) => rules.map(({ pattern }) => ({ queue, pattern })));

  const keep = (envelope: Envelope): void => {
    events.push(envelope);
    // Drops old events in bulk, at twice the guaranteed number.
    if (events.length > 2 * KEPT_EVENTS) events.splice(0, KEPT_EVENTS);
  };
  /** Writes each queue's events in one batch, so its consumer can receive them together. */
  const route = (envelopes: readonly Envelope[]): void => {
    const bodies = new Map(envelopes.map((envelope) => [envelope, JSON.stringify(envelope)]));
    for (const { queue, pattern } of rules) {
      const wanted = envelopes.filter((envelope) => matchesPattern(pattern, envelope));
      if (wanted.length > 0)
        send(
          queue,
          wanted.map((envelope) => ({ body: bodies.get(envelope) ?? '' })),
        );
    }
  };
  const takeAll = (entries: readonly Entry[]): readonly TakenEntry[] => {
    const published: Envelope[] = [];
    const taken = entries.map((entry): TakenEntry => {
      const detail = detailOf(entry);
      if ('ErrorCode' in detail) return detail;
      const envelope = envelopeOf(entry, detail.detail, clock.now());
      if (entry.EventBusName.split('/').at(-1) === name) published.push(envelope);
      return { EventId: envelope.id };
    });
    for (const envelope of published) keep(envelope);
    route(published);
    return taken;
  };

  return {
    events: () => events,
    operations: {
      'AWSEvents.PutEvents': operation(z.object({ Entries: z.array(entrySchema).min(1).max(MAX_ENTRIES) }), (input) => {
        const bytes = input.Entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.Detail ?? ''), 0);
        if (bytes > MAX_BYTES) throw new AwsError('ValidationException', `Total size of the entries over ${MAX_BYTES}`);
        const isPartial = throttling?.strikes('PutEvents') === true;
        const taken = isPartial ? [...takeAll(input.Entries.slice(0, -1)), THROTTLED] : takeAll(input.Entries);
        return { FailedEntryCount: taken.filter((one) => 'ErrorCode' in one).length, Entries: taken };
      }),
    },
  };
};

interface Refused {
  readonly ErrorCode: string;
  readonly ErrorMessage: string;
}
const THROTTLED: Refused = { ErrorCode: 'ThrottlingException', ErrorMessage: 'Rate exceeded' };
type TakenEntry = { readonly EventId: string } | Refused;

const detailOf = (entry: Entry): { readonly detail: object } | Refused => {
  for (const field of ['Source', 'DetailType', 'Detail'] as const) {
    if (!entry[field]) {
      return { ErrorCode: 'InvalidArgument', ErrorMessage: `Parameter ${field} is not valid. Reason: it is required.` };
    }
  }
  const detail = parsed(entry.Detail ?? '');
  if (typeof detail === 'object' && detail !== null && !Array.isArray(detail)) return { detail };
  return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const envelopeOf = (entry: Entry, detail: object, now: number): Envelope => ({
  version: '0',
  id: randomUUID(),
  'detail-type': entry.DetailType ?? '',
  source: entry.Source ?? '',
  account: ACCOUNT,
  // EventBridge stores whole seconds.
  time: new Date(entry.Time === undefined ? now : entry.Time * 1_000).toISOString().replace(/\.\d+Z$/, 'Z'),
  region: REGION,
  resources: entry.Resources,
  detail,
});

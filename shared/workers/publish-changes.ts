/** @module Publishes the events of stored changes. The table's stream is the outbox, so no event is lost. */

import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../core/logger.ts';
import { rowOf } from '../core/rows.ts';
import { runInSpan, traceparentOf } from '../core/trace.ts';
import { customerShape } from '../customers/customer.ts';
import { customerEvents } from '../customers/customer-events.ts';
import { providerBusEvent, storedEventOf } from '../event-log/stored-event.ts';
import { membershipSchema } from '../memberships/membership.ts';
import { membershipEvents } from '../memberships/membership-events.ts';
import { paymentOf } from '../payments/payment.ts';
import { paymentEvents } from '../payments/payment-events.ts';
import type { Bus } from '../platform/bus.ts';
import type { BusEvent } from '../platform/bus-event.ts';
import { newSpan } from '../platform/doors.ts';
import type { PublishedKind } from '../platform/keys.ts';
import { traceOfItem } from '../platform/stored-trace.ts';
import { changeOf, type ItemChange } from '../platform/stream-images.ts';
import type { Table } from '../platform/table.ts';
import { subscriptionOf } from '../subscriptions/record/subscription.ts';
import { subscriptionEvents } from '../subscriptions/record/subscription-events.ts';
import { withAddresses } from './event-addresses.ts';

export interface PublishDeps {
  readonly bus: Bus;
  readonly table: Pick<Table, 'getMany'>;
  readonly log: Log;
}

/** The events of a stored change, by the sort key of its item. The stream reports these kinds to the publisher. */
export const EVENTS_OF: Readonly<Record<PublishedKind, (change: ItemChange) => readonly BusEvent[]>> = {
  PAY: ({ before, after }) => paymentEvents(before && paymentOf(before), paymentOf(after)),
  CUS: ({ before, after }) => {
    const customer = customerShape.parse(after);
    return customer ? customerEvents(before && customerShape.parse(before), customer) : [];
  },
  SUB: ({ before, after }) => {
    const subscription = subscriptionOf(after);
    return subscription ? subscriptionEvents(before && subscriptionOf(before), subscription) : [];
  },
  MBR: ({ before, after }) => membershipEvents(before && membershipSchema.parse(before), membershipSchema.parse(after)),
  EVT: ({ before, after }) => (before ? [] : [providerBusEvent(storedEventOf(after))]),
};

/** Publishes a batch. @returns the sequence number to resume from, if publishing failed */
export const publishChanges = async (
  deps: PublishDeps,
  records: readonly DynamoDBRecord[],
): Promise<string | undefined> => {
  const changes = records.map(changeOf).filter((change) => change !== undefined);
  const events = await withAddresses(deps.table, changes.flatMap(eventsOfChange));
  const failed = new Set(await deps.bus.publish(events.map(({ event }) => event)));
  const firstFailed = events.findIndex(({ event }) => failed.has(event));
  // The stream delivers the rest again.
  const passed = firstFailed === -1 ? events : events.slice(0, firstFailed);
  for (const { event, change } of passed) {
    runInSpan(newSpan(traceOfItem(change.after)), () => logSettled(deps.log, event.type, change));
  }
  const end =
    firstFailed === -1
      ? changes.length
      : changes.findIndex(({ sequenceNumber }) => sequenceNumber === events[firstFailed]?.change.sequenceNumber);
  // A declined first charge sends no event, but it still counts as a decline.
  for (const change of changes.slice(0, end).filter(failsUnseen)) logSettled(deps.log, 'payment.failed', change);
  deps.log.info('changes published', { count: events.length - failed.size, failed: failed.size });
  return events[firstFailed]?.change.sequenceNumber;
};

const eventsOfChange = (change: ItemChange) =>
  (rowOf(EVENTS_OF, change.after['sk'])?.(change) ?? []).map((event) => ({
    event: traced(event, change),
    item: change.after,
    change,
  }));

/** Adds the trace of the work that stored the change. */
const traced = (event: BusEvent, { after }: ItemChange): BusEvent => {
  const context = traceOfItem(after);
  return context ? { ...event, traceparent: traceparentOf(newSpan(context)) } : event;
};

/** True if a withheld payment, which its readers do not see, has just failed. */
const failsUnseen = ({ before, after }: ItemChange): boolean =>
  after['sk'] === 'PAY' &&
  after['withheld'] === true &&
  after['status'] === 'failed' &&
  before?.['status'] !== 'failed';

/** Logs each outcome of a payment once, from a call or an event. The decline rate is computed from this line. */
const logSettled = (log: Log, type: BusEvent['type'], { after }: ItemChange): void => {
  if (type !== 'payment.succeeded' && type !== 'payment.failed') return;
  const { id, providerId, failureCode } = paymentOf(after);
  const outcome = type === 'payment.succeeded' ? 'succeeded' : isDecline(failureCode) ? 'declined' : 'failed';
  log.info('payment settled', { payment_id: id, provider: providerId, outcome });
};

/** A processing error is not a decline, because neither the payer nor the bank caused it. */
const isDecline = (failureCode: string | undefined): boolean => failureCode !== 'processing_error';

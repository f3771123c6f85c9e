/** @module The timeline of a subscription; see `timeline.ts`. */

import * as z from 'zod';
import { shownActor } from '../core/actor.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { optionalText, timestamp } from '../http/fields.ts';
import type { Reply } from '../http/request.ts';
import type { Item, Table } from '../platform/table.ts';
import { REASONS, SUBSCRIPTION_STATUSES, type VisibleSubscription } from '../subscriptions/subscription.ts';
import {
  changeEntry,
  changeFields,
  LOG_ENTRIES,
  type LoggedEntry,
  readTimeline,
  type Timeline,
  type TimelineDeps,
  type TimelinePage,
  type TimelineRequest,
  timelineReply,
  versionFields,
} from './timeline.ts';

const change = z
  .object({
    ...changeFields,
    status: z.enum(SUBSCRIPTION_STATUSES).describe('The status of the subscription in this version.'),
    previous_status: z
      .enum(SUBSCRIPTION_STATUSES)
      .nullable()
      .describe('The status before this version; null for the first version.'),
    cause: z.enum(REASONS).nullable().describe("The cause of the version, as in `reason` of the version's event."),
    cancel_at_period_end: z.boolean().describe('Whether the subscription ends with its period, as of this version.'),
    current_period_end: timestamp.describe('When the current period ends, as of this version.'),
    payment_id: optionalText.describe(
      'The payment of the period that was charged, or whose charge failed; absent if none was charged.',
    ),
    failure_code: z
      .enum(DECLINE_CODES)
      .optional()
      .describe('Why the charge was declined; absent if it was not declined.'),
  })
  .meta({
    id: 'SubscriptionTimelineChange',
    description: 'A version of the subscription. Versions are kept as long as the subscription.',
  });
type SubscriptionChange = z.infer<typeof change>;
export type SubscriptionTimelineEntry = SubscriptionChange | LoggedEntry;
export const subscriptionTimelineSchema = z.array(z.discriminatedUnion('kind', [change, ...LOG_ENTRIES]));

export const subscriptionTimeline = (
  deps: TimelineDeps,
  request: TimelineRequest<VisibleSubscription>,
): Promise<Reply> =>
  timelineReply(deps, request, {
    idName: 'subscription_id',
    of: historyOf(request.record.id),
    read: (page) => subscriptionTimelineOf(deps.table, request.record.id, page),
  });

export const subscriptionTimelineOf = (
  table: Table,
  id: string,
  page: TimelinePage,
): Promise<Timeline<SubscriptionChange>> => readTimeline(table, historyOf(id), { page, changeOf: entryOfVersion });

const historyOf = (id: string) => ({ kind: 'SUB', id }) as const;

const versionItem = z.object({
  ...versionFields,
  status: z.enum(SUBSCRIPTION_STATUSES),
  was: z.enum(SUBSCRIPTION_STATUSES).optional(),
  cause: z.enum(REASONS).optional(),
  cancelAtPeriodEnd: z.boolean(),
  periodEnd: z.string(),
  paymentId: z.string().optional(),
  failureCode: z.enum(DECLINE_CODES).optional(),
});

const entryOfVersion = (item: Item): SubscriptionChange => {
  const version = versionItem.parse(item);
  const { status, was, cause, cancelAtPeriodEnd, periodEnd, paymentId, failureCode, actor, requestId } = version;
  return {
    ...changeEntry(version),
    ...{ status, previous_status: was ?? null, cause: cause ?? null },
    ...{ cancel_at_period_end: cancelAtPeriodEnd, current_period_end: periodEnd },
    ...(paymentId && { payment_id: paymentId }),
    ...(failureCode && { failure_code: failureCode }),
    actor: actor ? shownActor(actor) : null,
    request_id: requestId ?? null,
  };
};

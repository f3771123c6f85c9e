import * as z from 'zod';
import type { Standings } from '../access/standing.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { REASONS, SUBSCRIPTION_STATUSES, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import type { Item, Table } from '../table/table.ts';
import {
  changeEntry,
  changeFields,
  LOG_ENTRIES,
  type LoggedEntry,
  readTimeline,
  shownEntries,
  type Timeline,
  versionFields,
} from './timeline.ts';

/** The history of a subscription: see `timeline.ts`. */
const change = z.object({
  ...changeFields,
  status: z.enum(SUBSCRIPTION_STATUSES),
  /** The status before this version; null for the first version. */
  previous_status: z.enum(SUBSCRIPTION_STATUSES).nullable(),
  /** The `reason` of the version's event. */
  cause: z.enum(REASONS).nullable(),
  /** Both as of this version. */
  cancel_at_period_end: z.boolean(),
  current_period_end: z.string(),
  /** The payment of a period that was charged, or whose charge failed. */
  payment_id: z.string().optional(),
  failure_code: z.enum(DECLINE_CODES).optional(),
});
type SubscriptionChange = z.infer<typeof change>;
export type SubscriptionTimelineEntry = SubscriptionChange | LoggedEntry;
export const subscriptionTimelineSchema = z.array(z.discriminatedUnion('kind', [change, ...LOG_ENTRIES]));

export const subscriptionTimeline = async (
  { table, standings }: { readonly table: Table; readonly standings: Standings },
  { record, caller }: Pick<ApiRequest<unknown, unknown, unknown, VisibleSubscription>, 'record' | 'caller'>,
): Promise<Reply> => {
  const shown = await shownEntries(standings, { caller, owner: record }, subscriptionTimelineOf(table, record.id));
  return {
    data: shown.entries,
    meta: { subscription_id: record.id, status: record.status, is_complete: shown.isComplete },
  };
};

export const subscriptionTimelineOf = (table: Table, id: string): Promise<Timeline<SubscriptionChange>> =>
  readTimeline(table, { kind: 'SUB', id }, entryOfVersion);

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
    actor: actor ?? null,
    request_id: requestId ?? null,
  };
};

/** @module The timeline of a subscription; see `timeline.ts`. */

import * as z from 'zod';
import { shownActor } from '../core/actor.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { optionalText, timestamp } from '../http/fields.ts';
import type { Reply } from '../http/request.ts';
import type { Item } from '../platform/table.ts';
import { changeLineFields } from '../subscriptions/record/plan-change.ts';
import { changeLineSchema, changeLinesView } from '../subscriptions/record/plan-change-view.ts';
import { REASONS, SUBSCRIPTION_STATUSES, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import {
  changeEntry,
  changeFields,
  LOG_ENTRIES,
  type LoggedEntry,
  type TimelineDeps,
  type TimelineRequest,
  timelineReply,
  versionFields,
} from './timeline.ts';

const planOfVersion = z
  .object({
    product_id: z.string().nullable().describe('The product; null for a custom price.'),
    quantity: z.int().positive().describe('Units of the product per period.'),
    total_cents: z.int().nonnegative().describe('The price of a period, in minor units.'),
  })
  .meta({ id: 'TimelinePlan', description: 'The plan before or after a change.' });

const change = z
  .object({
    ...changeFields,
    status: z.enum(SUBSCRIPTION_STATUSES).describe('The status of the subscription in this version.'),
    previous_status: z
      .enum(SUBSCRIPTION_STATUSES)
      .nullable()
      .describe('The status before this version; null for the first version.'),
    cause: z
      .enum([...REASONS, 'import'])
      .nullable()
      .describe("The cause of the version, as in `reason` of the version's event; `import` for the reason `imported`."),
    cancel_at_period_end: z.boolean().describe('Whether the subscription ends with its period, as of this version.'),
    current_period_end: timestamp.describe('When the current period ends, as of this version.'),
    payment_id: optionalText.describe('The payment of the succeeded or failed charge; absent without a charge.'),
    plan_change: z
      .object({
        from: planOfVersion.describe('The plan before.'),
        to: planOfVersion.describe('The plan from this version on.'),
        due_cents: z
          .int()
          .nonnegative()
          .describe('The amount charged for the change, in minor units; 0 for a change at the end of the period.'),
        lines: z.array(changeLineSchema()).describe('The parts of the amount due; empty if nothing was due.'),
      })
      .optional()
      .describe('The change of the plan that this version makes; absent in other versions.'),
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
    of: { kind: 'SUB', id: request.record.id },
    changeOf: entryOfVersion,
  });

const storedPlan = z.object({ productId: z.string().optional(), quantity: z.int(), totalCents: z.int() });

const versionItem = z.object({
  ...versionFields,
  status: z.enum(SUBSCRIPTION_STATUSES),
  was: z.enum(SUBSCRIPTION_STATUSES).optional(),
  cause: z.enum([...REASONS, 'import']).optional(),
  cancelAtPeriodEnd: z.boolean(),
  periodEnd: z.string(),
  paymentId: z.string().optional(),
  failureCode: z.enum(DECLINE_CODES).optional(),
  wasPlan: storedPlan.optional(),
  plan: storedPlan.optional(),
  dueCents: z.int().default(0),
  lines: z.array(changeLineFields).default([]),
});

const entryOfVersion = (item: Item): SubscriptionChange => {
  const version = versionItem.parse(item);
  const { status, was, cause, cancelAtPeriodEnd, periodEnd, paymentId, failureCode, actor, requestId } = version;
  return {
    ...changeEntry(version),
    ...{ status, previous_status: was ?? null, cause: cause ?? null },
    ...{ cancel_at_period_end: cancelAtPeriodEnd, current_period_end: periodEnd },
    ...(paymentId && { payment_id: paymentId }),
    ...planChangeOf(version),
    ...(failureCode && { failure_code: failureCode }),
    actor: actor ? shownActor(actor) : null,
    request_id: requestId ?? null,
  };
};

const planChangeOf = ({ wasPlan, plan, dueCents, lines }: z.infer<typeof versionItem>) =>
  wasPlan &&
  plan && {
    plan_change: { from: planView(wasPlan), to: planView(plan), due_cents: dueCents, lines: changeLinesView(lines) },
  };

const planView = ({ productId, quantity, totalCents }: z.infer<typeof storedPlan>) => ({
  product_id: productId ?? null,
  quantity,
  total_cents: totalCents,
});

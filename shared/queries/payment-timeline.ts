/**
 * @module The timeline of a payment (`timeline.ts`). A version with a changed refund or dispute shows that refund or
 * dispute.
 */

import * as z from 'zod';
import { shownActor } from '../core/actor.ts';
import { DISPUTE_STATUSES, REFUND_REASONS, REFUND_STATUSES } from '../core/money-back.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { optionalText, timestamp } from '../http/fields.ts';
import type { Reply } from '../http/request.ts';
import { CAUSES, PAYMENT_STATUSES, type VisiblePayment } from '../payments/payment.ts';
import { causeGroup, holdGroup } from '../payments/payment-fields.ts';
import type { Item } from '../platform/table.ts';
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

const changedRefund = z.object({
  id: z.string().describe('Id of the refund, `ref_…`.'),
  amount_cents: z.int().describe('The refunded amount, in minor units.'),
  status: z.enum(REFUND_STATUSES).describe('The status of the refund after the change.'),
  reason: z.enum(REFUND_REASONS).nullable().describe('Why the payment was refunded; null if no reason was given.'),
});
const changedDispute = z.object({
  id: z.string().describe('Id of the dispute, `dsp_…`.'),
  amount_cents: z.int().describe('The disputed amount, in minor units.'),
  status: z.enum(DISPUTE_STATUSES).describe('The status of the dispute after the change.'),
  reason: z.string().nullable().describe("The provider's own reason; null if the provider gives no reason."),
  evidence_due_by: timestamp
    .nullable()
    .describe('The deadline for evidence at the provider; null if the provider sets no deadline.'),
});
const claimedCall = z.object({
  call: z.enum(['capture', 'release']).describe('Whether the provider captures or releases the hold.'),
  amount_cents: z.int().nullable().describe('The amount to capture, in minor units; null for a release.'),
});
const changedDiscount = z.object({
  code: z.string().nullable().describe('The code in upper case; null if it was taken off.'),
  cents: z.int().describe("The code's own part of the discount, in minor units."),
});
const change = z
  .object({
    ...changeFields,
    status: z.enum(PAYMENT_STATUSES).describe('The status of the payment in this version.'),
    cause: z
      .enum(CAUSES)
      .nullable()
      .describe('The cause of the version: a request, a response or event of the provider, or work of the service.'),
    attempt: z.int().describe('The number of the attempt to charge; 0 before the first.'),
    failure_code: z
      .enum(DECLINE_CODES)
      .optional()
      .describe('Why the attempt was declined; absent if it was not declined.'),
    anomaly: optionalText.describe(
      'How a report of the provider contradicts the record; absent without a contradiction.',
    ),
    refund: changedRefund.optional().describe('The refund that the version changed, as it was then.'),
    dispute: changedDispute.optional().describe('The dispute that the version changed, as it was then.'),
    discount: changedDiscount
      .optional()
      .describe('The discount code that the version puts on the payment or takes off; absent if it changes none.'),
    hold: claimedCall
      .optional()
      .describe('The capture or release that the version starts; absent if the version undoes it.'),
  })
  .meta({ id: 'TimelineChange', description: 'A version of the payment. Versions are kept permanently.' });
type PaymentChange = z.infer<typeof change>;
export type TimelineEntry = PaymentChange | LoggedEntry;
export const timelineSchema = z.array(z.discriminatedUnion('kind', [change, ...LOG_ENTRIES]));

export const paymentTimeline = (deps: TimelineDeps, request: TimelineRequest<VisiblePayment>): Promise<Reply> =>
  timelineReply(deps, request, {
    idName: 'payment_id',
    of: { kind: 'PAY', id: request.record.id },
    changeOf: entryOfVersion,
  });

const versionItem = z.object({
  ...versionFields,
  status: z.enum(PAYMENT_STATUSES),
  cause: z.enum(CAUSES).optional(),
  attempt: z.int(),
  failureCode: z.enum(DECLINE_CODES).optional(),
  anomaly: z.string().optional(),
  refund: causeGroup.unwrap().shape.refund,
  dispute: causeGroup.unwrap().shape.dispute,
  holdCall: holdGroup.unwrap().shape.holdCall,
  discount: z.object({ code: z.string().nullable(), cents: z.int() }).optional(),
});
type VersionItem = z.infer<typeof versionItem>;

const entryOfVersion = (item: Item): PaymentChange => {
  const version = versionItem.parse(item);
  const { status, cause, attempt, failureCode, anomaly, actor, requestId } = version;
  return {
    ...changeEntry(version),
    ...{ status, cause: cause ?? null, attempt },
    ...(failureCode && { failure_code: failureCode }),
    ...(anomaly && { anomaly }),
    ...moneyBackOf(version),
    ...(version.discount && { discount: version.discount }),
    ...holdOf(version),
    actor: actor ? shownActor(actor) : null,
    request_id: requestId ?? null,
  };
};

const moneyBackOf = ({ refund, dispute }: Pick<VersionItem, 'refund' | 'dispute'>) => ({
  ...(refund && { refund: { ...nameOf(refund), status: refund.status, reason: refund.reason ?? null } }),
  ...(dispute && {
    dispute: {
      ...nameOf(dispute),
      status: dispute.status,
      reason: dispute.reason ?? null,
      evidence_due_by: dispute.evidenceDueBy ?? null,
    },
  }),
});

const holdOf = ({ holdCall: call }: Pick<VersionItem, 'holdCall'>) =>
  call && { hold: { call: call.kind, amount_cents: call.kind === 'capture' ? call.totalCents : null } };

const nameOf = ({ id, amountCents }: { readonly id: string; readonly amountCents: number }) => ({
  id,
  amount_cents: amountCents,
});

/** @module A dispute is a payer's request for money back through a bank. Evidence is submitted at the provider. */

import * as z from 'zod';
import { plainId } from '../core/ids.ts';
import { DISPUTE_STATUSES } from '../core/money-back.ts';
import { once } from '../core/once.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { DAY_MS, instant, iso } from '../core/time.ts';
import { timestamp } from '../http/fields.ts';
import { besidePayment, listSort, monthPartition, recordKey } from '../platform/keys.ts';
import { storedReader } from '../platform/stored-reader.ts';
import { asVersion, storedRecordFields, type VersionedShape } from '../platform/versioned-record.ts';

const optional = z.string().optional();

export const disputeSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    paymentId: z.string(),
    providerId: z.enum(PROVIDER_SLOTS),
    providerDisputeId: z.string(),
    amountCents: z.int(),
    currency: z.string(),
    /** The reason as the provider names it. */
    reason: optional,
    status: z.enum(DISPUTE_STATUSES),
    evidenceDueBy: optional,
    /** The disputed capture, if the provider names it. */
    captureId: optional,
    closedAt: optional,
    /** The time of the last report: the provider's time for an event, or the start of our read. */
    reportedAt: optional,
    /**
     * The source of the last report. The time of an event is by the provider's clock, and the time of a read is by
     * ours.
     */
    reportedBy: z.enum(['event', 'read']).optional(),
    /** The time of the next reminder to the operator that evidence is due soon. */
    remindAt: optional,
  }),
);
export type Dispute = z.infer<typeof disputeSchema>;

/** The operator gets the first reminder this long before the evidence is due, and then a reminder per day. */
const REMIND_BEFORE_MS = 3 * DAY_MS;

export const isEvidenceDueSoon = (
  { status, evidenceDueBy }: Pick<Dispute, 'status' | 'evidenceDueBy'>,
  now: number,
): boolean =>
  status === 'needs_response' &&
  evidenceDueBy !== undefined &&
  now >= instant(evidenceDueBy) - REMIND_BEFORE_MS &&
  now < instant(evidenceDueBy);

/** @param after the time of the last reminder; undefined before the first */
export const nextReminder = (
  { status, evidenceDueBy }: Pick<Dispute, 'status' | 'evidenceDueBy'>,
  after: number | undefined,
): string | undefined => {
  if (status !== 'needs_response' || evidenceDueBy === undefined) return undefined;
  if (after === undefined) return iso(instant(evidenceDueBy) - REMIND_BEFORE_MS);
  return after + DAY_MS < instant(evidenceDueBy) ? iso(after + DAY_MS) : undefined;
};

/** Derives the dispute's id from its id at the provider. */
export const disputeIdOf = (providerId: string, providerDisputeId: string): string =>
  plainId('dispute', providerId, providerDisputeId);

export const disputeKey = (id: string) => recordKey('DSP', id);

export const disputeOf = storedReader(disputeSchema);

export const disputeShape: VersionedShape<Dispute> = {
  key: disputeKey,
  parse: disputeOf,
  attributes: (dispute) => ({
    ...dispute,
    owner: besidePayment(dispute.paymentId, 'DSP'),
    project: monthPartition(dispute.createdAt.slice(0, 'YYYY-MM'.length), 'DSP'),
    sort: listSort(dispute.createdAt, dispute.id),
    f: { s: dispute.status, p: dispute.providerId, e: dispute.evidenceDueBy },
  }),
  // A write also requires the `reportedAt` that was read, because a later report without changes sets only `reportedAt`
  // and `reportedBy`, not the version.
  asRead: ({ version, reportedAt }) => [
    ...asVersion({ version }),
    reportedAt === undefined ? { lacks: 'reportedAt' } : { equals: ['reportedAt', reportedAt] },
  ],
  dueAt: ({ remindAt }) => remindAt,
};

export const disputeView = (dispute: Dispute) => ({
  id: dispute.id,
  payment_id: dispute.paymentId,
  provider_id: dispute.providerId,
  provider_dispute_id: dispute.providerDisputeId,
  amount_cents: dispute.amountCents,
  currency: dispute.currency,
  reason: dispute.reason ?? null,
  status: dispute.status,
  evidence_due_by: dispute.evidenceDueBy ?? null,
  created_at: dispute.createdAt,
  updated_at: dispute.updatedAt,
  closed_at: dispute.closedAt ?? null,
});

export const DISPUTE_COLUMNS = [
  'id',
  'payment_id',
  'status',
  'currency',
  'amount_cents',
  'reason',
  'provider_id',
  'provider_dispute_id',
  'evidence_due_by',
  'created_at',
  'updated_at',
  'closed_at',
] as const satisfies readonly (keyof ReturnType<typeof disputeView>)[];

const text = z.string().nullable();

export const disputeViewSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      id: z.string().meta({
        description: 'Id of the dispute: `dsp_` and 24 characters.',
        examples: ['dsp_0123456789abcdef01234567'],
      }),
      payment_id: z.string().describe('The disputed payment, `pay_…`.'),
      provider_id: z.string().meta({ description: 'The provider slot of the payment.', examples: ['provider_a'] }),
      provider_dispute_id: z.string().describe('The id of the dispute at the provider, where you give evidence.'),
      amount_cents: z
        .int()
        .positive()
        .meta({ description: 'The disputed amount, in minor units.', examples: [2975] }),
      currency: z.string().meta({ description: 'The currency of the amount, an ISO 4217 code.', examples: ['EUR'] }),
      reason: text.describe(
        "The provider's reason in lower case, such as `fraudulent`; null if the provider gives no reason.",
      ),
      status: z.enum(DISPUTE_STATUSES).meta({
        id: 'DisputeStatus',
        description: `The state of the dispute:
        - \`needs_response\`: open; the provider waits for evidence until \`evidence_due_by\`
        - \`under_review\`: open; the provider or the bank decides
        - \`won\`: closed; the money stays with you
        - \`lost\`: closed; the money goes back to the payer
        - \`closed\`: closed without a decision`,
      }),
      evidence_due_by: timestamp
        .nullable()
        .describe('The deadline for evidence at the provider; null if the provider sets no deadline.'),
      created_at: timestamp.describe('When the dispute was recorded here.'),
      updated_at: timestamp.describe('When the dispute last changed.'),
      closed_at: timestamp.nullable().describe('When the dispute was closed; null while it is open.'),
    })
    .meta({
      id: 'Dispute',
      description: "A payer's request for money back through their bank. The service only records it.",
    }),
);

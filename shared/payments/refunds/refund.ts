/** @module A refund returns money of a succeeded payment to its payer. The payment's sums include each refund once. */

import * as z from 'zod';
import type { Audience } from '../../access/audience.ts';
import { ownerColumns, ownerIdsOf, type RecordKind } from '../../access/record-kind.ts';
import { REFUND_REASONS, REFUND_STATUSES } from '../../core/money-back.ts';
import { once } from '../../core/once.ts';
import { settlementSchema } from '../../core/payment-facts.ts';
import { pick } from '../../core/pick.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { type Instant, iso } from '../../core/time.ts';
import { jsonValue, timestamp } from '../../http/fields.ts';
import { besidePayment, listSort, monthPartition, recordKey } from '../../platform/keys.ts';
import { storedReader } from '../../platform/stored-reader.ts';
import { asVersion, storedRecordFields, type VersionedShape } from '../../platform/versioned-record.ts';
import { settlementFor, settlementViewSchema } from '../facts-view.ts';

const optional = z.string().optional();

const REFUND_SOURCES = ['api', 'provider'] as const;

export const refundSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    paymentId: z.string(),
    amountCents: z.int(),
    currency: z.string(),
    status: z.enum(REFUND_STATUSES),
    reason: z.enum(REFUND_REASONS).optional(),
    description: optional,
    metadata: z.record(z.string(), z.json()).optional(),
    /** `provider` if the refund was made in the dashboard of the provider or by another system. */
    source: z.enum(REFUND_SOURCES),
    providerId: z.enum(PROVIDER_SLOTS),
    /** Set once the provider has responded. */
    providerRefundId: optional,
    /** The provider's id of the capture that the refund takes from, if the payment has several captures. */
    captureId: optional,
    /**
     * The provider's reason, `not_received` if the provider did not receive the refund, or `duplicate_record` if
     * another record has the same refund.
     */
    failureCode: optional,
    /** The user id of the admin who made the refund, or the id of the key that made it. */
    createdBy: optional,
    /** When the refund first succeeded. */
    completedAt: optional,

    /** The refund's fee and net amount; undefined until the provider reports them. */
    settlement: settlementSchema.optional(),
    /** The next read for the settlement, and the number of earlier reads while a further read is due. */
    factsAt: optional,
    factLooks: z.int().optional(),

    /** The owner of the payment. Readers of the payment may read its refunds. */
    ...ownerColumns,

    /** The time of the next lookup at the provider, while the refund is pending. */
    reconcileAt: optional,
    reconcileStep: z.int().optional(),
  }),
);
export type Refund = z.infer<typeof refundSchema>;

export const refundKey = (id: string) => recordKey('RFD', id);

/** When the refund, or its missing settlement, is next read at the provider. */
const nextRefundDue = ({ status, reconcileAt, factsAt }: Refund): string | undefined => {
  if (status === 'pending') return reconcileAt;
  return status === 'succeeded' ? factsAt : undefined;
};

export const refundOf = storedReader(refundSchema);

export const refundShape: VersionedShape<Refund> = {
  key: refundKey,
  parse: refundOf,
  attributes: (refund) => ({
    ...refund,
    owner: besidePayment(refund.paymentId, 'RFD'),
    project: monthPartition(refund.createdAt.slice(0, 'YYYY-MM'.length), 'RFD'),
    sort: listSort(refund.createdAt, refund.id),
    f: { s: refund.status, p: refund.providerId },
  }),
  asRead: asVersion,
  dueAt: nextRefundDue,
};

export const refundRecord: RecordKind<Refund> = {
  resource: 'refund',
  readScope: 'payments:read',
  key: refundKey,
  parse: refundOf,
  ownedBy: ownerIdsOf,
  rule: 'owned',
  guestsRead: true,
};

const fullView = (refund: Refund) => ({
  id: refund.id,
  payment_id: refund.paymentId,
  amount_cents: refund.amountCents,
  currency: refund.currency,
  status: refund.status,
  reason: refund.reason ?? null,
  description: refund.description ?? null,
  metadata: refund.metadata ?? {},
  source: refund.source,
  provider_id: refund.providerId,
  provider_refund_id: refund.providerRefundId ?? null,
  failure_code: refund.failureCode ?? null,
  created_by: refund.createdBy ?? null,
  created_at: refund.createdAt,
  updated_at: refund.updatedAt,
  completed_at: refund.completedAt ?? null,
});

type RefundView = ReturnType<typeof fullView>;

const PAYERS_FIELDS = [
  'id',
  'payment_id',
  'amount_cents',
  'currency',
  'status',
  'reason',
  'source',
  'provider_id',
  'provider_refund_id',
  'failure_code',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof RefundView)[];

/** The values that payers see instead of the merchant's notes and the admin's id. */
const HIDDEN: Omit<RefundView, (typeof PAYERS_FIELDS)[number]> = { description: null, metadata: {}, created_by: null };

export const refundView = (refund: Refund, audience: Audience) => ({
  ...(audience === 'staff' ? fullView(refund) : { ...pick(fullView(refund), PAYERS_FIELDS), ...HIDDEN }),
  ...settlementFor(audience, refund),
});

export const REFUND_COLUMNS = [
  'id',
  'payment_id',
  'status',
  'currency',
  'amount_cents',
  'reason',
  'description',
  'source',
  'provider_id',
  'provider_refund_id',
  'failure_code',
  'created_by',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof RefundView)[];

const text = z.string().nullable();

export const refundViewSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      id: z.string().meta({
        description: 'Id of the refund: `ref_` and 24 characters.',
        examples: ['ref_0123456789abcdef01234567'],
      }),
      payment_id: z.string().describe('The refunded payment, `pay_…`.'),
      amount_cents: z
        .int()
        .positive()
        .meta({ description: 'The refunded amount, in minor units.', examples: [500] }),
      currency: z.string().meta({ description: "The payment's currency, an ISO 4217 code.", examples: ['EUR'] }),
      status: z.enum(REFUND_STATUSES).meta({
        id: 'RefundStatus',
        description: `The status of the refund:
        - \`pending\`: not settled yet; the amount is reserved. PayPal, Square and banks may take days
        - \`succeeded\`: the money is on its way to the payer
        - \`failed\`: the money stays with you; also after \`succeeded\`, if the bank has returned the money
        - \`canceled\`: canceled at the provider; the money stays with you`,
      }),
      reason: z.enum(REFUND_REASONS).nullable().describe('Why the payment is refunded; null if no reason was given.'),
      description: text.describe(
        'A note in your words; null if the refund has none, and for payers, who do not see it.',
      ),
      metadata: z
        .record(z.string(), jsonValue)
        .describe(
          'Your own data, as the request set it; an empty object without metadata, and for payers, who do not see it.',
        ),
      source: z
        .enum(REFUND_SOURCES)
        .describe("`api`: made with this API. `provider`: made in the provider's dashboard or by another system."),
      provider_id: z.string().meta({ description: 'The provider slot of the payment.', examples: ['provider_a'] }),
      provider_refund_id: text.describe('The id of the refund at the provider; null until the provider responds.'),
      failure_code: text.describe(
        "Why the refund failed, as the provider's own code; `not_received` if the refund never reached the provider, `duplicate_record` if another record has the same refund of the provider. Null otherwise.",
      ),
      created_by: text.describe(
        'The user id of the admin or staff who made the refund, or the id of the service key; null if the provider reported it, and for payers, who do not see it.',
      ),
      settlement: settlementViewSchema()
        .nullable()
        .optional()
        .describe(
          "The refund's fee and net amount; null until the provider reports them. Only the merchant gets this field.",
        ),
      created_at: timestamp.describe('When the refund was created here.'),
      updated_at: timestamp.describe('When the refund last changed.'),
      completed_at: timestamp.nullable().describe('When the refund first succeeded; null before.'),
    })
    .meta({ id: 'Refund', description: 'Money of a succeeded payment that goes back to its payer.' }),
);

/**
 * The next version without personal data. Amounts, dates, ids, the status and an organization's texts stay.
 * @returns the same refund if there is nothing to blank
 */
export const blankRefund = (refund: Refund, now: Instant): Refund => {
  const { organizationId, guestEmail, description, metadata } = refund;
  const hasPerson = guestEmail !== undefined || description !== undefined || metadata !== undefined;
  if (organizationId !== undefined || !hasPerson) return refund;
  return {
    ...refund,
    guestEmail: undefined,
    description: undefined,
    metadata: undefined,
    version: refund.version + 1,
    updatedAt: iso(now),
  };
};

/**
 * @module The groups of a payment's fields. The fields of a group are set, restored and blanked together. The record is
 * flat, because nested groups would cost bytes in every item.
 */

import * as z from 'zod';
import { METHOD_KINDS } from '../core/fact-words.ts';
import { DISPUTE_STATUSES, REFUND_REASONS, REFUND_STATUSES } from '../core/money-back.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { methodDetailsSchema, providerDeclineSchema, settlementSchema } from '../core/payment-facts.ts';
import { type Instant, iso } from '../core/time.ts';
import { severalCapturesFields } from './holds/capture-fields.ts';
import { HOLD_ENDS, holdCallSchema, holdFailureSchema } from './holds/hold-record.ts';

const optional = z.string().optional();

/** The method that the payment charges, and the customer who holds this method at the provider. */
export const methodGroup = z.lazy(() =>
  z.object({
    customerId: optional,
    /** The id of a saved method here. */
    paymentMethodId: optional,
    /** The method's id at the provider or its one-time token; never in a view. */
    methodRef: optional,
    /** The kind of a saved method. */
    methodKind: z.enum(METHOD_KINDS).optional(),
    /** Always a customer of the payment's owner. A method saved by the payment is attached to this customer. */
    providerCustomerId: optional,
    /** The customer of the member whose own saved method pays for an organization. */
    lenderCustomerId: optional,
    /** The id of our record of the lending member's customer. */
    lenderCustomerRecordId: optional,
  }),
);

/** The current or the last attempt to charge. */
export const attemptGroup = z.lazy(() =>
  z.object({
    /** Counts claims to charge; 0 before the first. */
    attempt: z.int(),
    claimedAt: optional,
    /** The mark of the claiming request's Idempotency-Key, while the attempt is under way. */
    attemptKey: optional,
    /** The provider's ids of the last attempts before the current claim, the newest last. */
    priorAttemptRefs: z.array(z.string()).optional(),
    attemptRef: optional,
    failureCode: z.enum(DECLINE_CODES).optional(),
    /** Set if the payer is absent during the attempt. */
    offSession: z.literal(true).optional(),
    nextAction: z
      .object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() })
      .optional(),
  }),
);

/** The provider's facts about the attempt, apart from its outcome. */
export const factGroup = z.lazy(() =>
  z.object({
    /** The method of the last attempt with a known outcome, even if the attempt was declined. */
    details: methodDetailsSchema.optional(),
    /** The provider's words for the last decline, set while the payment is failed. */
    decline: providerDeclineSchema.optional(),
    settlement: settlementSchema.optional(),
    /** The provider's receipt page, which shows the payer's card. */
    receiptUrl: optional,
    /** The time of the next read for missing facts. */
    factsAt: optional,
    /** The number of earlier reads for facts, while another read is due. */
    factLooks: z.int().optional(),
  }),
);

/** The next look at a call with an unknown outcome. */
export const lookGroup = z.lazy(() => z.object({ reconcileAt: optional, reconcileStep: z.int().optional() }));

/** The amount held by the provider now or before, with its times. */
export const holdGroup = z.lazy(() =>
  z.object({
    /** The held amount, set with the hold. If a capture takes less, the payment's total is the captured amount. */
    authorizedCents: z.int().optional(),
    /** The capturable amount, if the provider has lowered it; otherwise `authorizedCents` is capturable. */
    capturableCents: z.int().optional(),
    /** When the provider ends the hold. */
    captureBefore: optional,
    /** The provider guarantees a capture until this time. Only PayPal names this time. */
    guaranteedUntil: optional,
    /** The capture or the release that is under way or has an unknown outcome. */
    holdCall: holdCallSchema.optional(),
    /** When due work looks at the hold next. */
    holdCheckAt: optional,
    /** Set once payment.capture_due was published. */
    captureDueSent: z.literal(true).optional(),
    /** Why the hold ended without a capture. */
    holdEnd: z.enum(HOLD_ENDS).optional(),
  }),
);

/** The fields that successful and failed captures add to those of the hold. */
export const captureGroup = z.lazy(() =>
  z.object({
    ...severalCapturesFields,
    /** The failed capture or release, if the API response had left its outcome open. */
    holdFailure: holdFailureSchema.optional(),
    /** Counts failed captures. The number is part of the next capture's idempotency key. */
    failedCaptures: z.int().optional(),
  }),
);

/** The money that went back to the payer, or may go back. */
export const moneyBackGroup = z.lazy(() =>
  z.object({
    /** The sum of the refunds that succeeded. */
    refundedCents: z.int().optional(),
    /** The number of the refunds that succeeded. */
    refundedCount: z.int().optional(),
    /** The sum of the pending refunds. This sum is reserved, so all refunds together never exceed the total. */
    refundingCents: z.int().optional(),
    /** The open and the lost disputes, ordered by id. */
    disputes: z
      .array(
        z.object({
          id: z.string(),
          /** The disputed amount. For a dispute in another currency, the payment's total. */
          amountCents: z.int(),
          /** The disputed capture of a payment with several captures. */
          captureId: optional,
          /** When the dispute was lost; undefined while it is open. */
          lostAt: optional,
        }),
      )
      .optional(),
  }),
);

/** The refund or the dispute that caused this version, with its former status. */
export const causeGroup = z.lazy(() =>
  z.object({
    /** Set if `refund` is the cause of this version. */
    refund: z
      .object({
        id: z.string(),
        amountCents: z.int(),
        status: z.enum(REFUND_STATUSES),
        was: z.enum(REFUND_STATUSES).optional(),
        reason: z.enum(REFUND_REASONS).optional(),
        /** When the refund first succeeded. */
        completedAt: optional,
      })
      .optional(),
    /** Set if `dispute` is the cause of this version. */
    dispute: z
      .object({
        id: z.string(),
        amountCents: z.int(),
        status: z.enum(DISPUTE_STATUSES),
        was: z.enum(DISPUTE_STATUSES).optional(),
        reason: optional,
        evidenceDueBy: optional,
        /** Set if this version changed the amount or the due date. */
        termsChanged: z.literal(true).optional(),
      })
      .optional(),
  }),
);

/** The fields that every version sets. They clear the refund or the dispute that caused an earlier version. */
export const versionAfter = <Cause extends string>(
  record: { readonly version: number },
  cause: Cause,
  now: Instant,
) => ({
  ...blank(causeGroup),
  cause,
  version: record.version + 1,
  updatedAt: iso(now),
});

type Group<Shape extends z.ZodRawShape> = z.ZodLazy<z.ZodObject<Shape>>;

const namesIn = (group: Group<z.ZodRawShape>): readonly string[] => Object.keys(group.unwrap().shape);

/** The record's values of all fields of a group. An absent field is undefined, so a spread restores the whole group. */
export const valuesIn = <R extends object, Shape extends z.ZodRawShape>(
  record: R,
  group: Group<Shape>,
): Pick<R, keyof Shape & keyof R> =>
  // Sound, because the entries are those of the group.
  Object.fromEntries(namesIn(group).map((name) => [name, record[name as keyof R]])) as Pick<R, keyof Shape & keyof R>;

/** Every field of the group, with the value undefined. */
export const blank = <Shape extends z.ZodRawShape>(
  group: Group<Shape>,
): { readonly [Name in keyof Shape]: undefined } =>
  // Sound, because the entries are the fields of the group.
  Object.fromEntries(namesIn(group).map((name) => [name, undefined])) as { [Name in keyof Shape]: undefined };

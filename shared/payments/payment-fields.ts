/**
 * @module The groups of a payment's fields. The fields of a group are set, restored and blanked together; in the record
 * they stand side by side, because a nested group would cost bytes in every item.
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

/** The method that the payment charges, and the customer at the provider that holds it. */
export const methodGroup = z.lazy(() =>
  z.object({
    customerId: optional,
    /** The id of a saved method here. */
    paymentMethodId: optional,
    /** The method's id or one-time token at the provider; never shown. */
    methodRef: optional,
    /** The kind of a saved method. */
    methodKind: z.enum(METHOD_KINDS).optional(),
    /** Always a customer of the payment's owner, because a method that the payment saves is kept for this customer. */
    providerCustomerId: optional,
    /** The customer of the member whose own saved method pays for an organization. */
    lenderCustomerId: optional,
    /** Our record of that customer. */
    lenderCustomerRecordId: optional,
  }),
);

/** The current attempt to charge, or the last one. */
export const attemptGroup = z.lazy(() =>
  z.object({
    /** Counts claims to charge; 0 before the first. */
    attempt: z.int(),
    claimedAt: optional,
    /** The mark of the Idempotency-Key of the request that claimed the attempt, while the attempt is under way. */
    attemptKey: optional,
    /** The provider's ids of the last attempts before the current claim, the newest last. */
    priorAttemptRefs: z.array(z.string()).optional(),
    attemptRef: optional,
    failureCode: z.enum(DECLINE_CODES).optional(),
    /** The payer does not attend the attempt. */
    offSession: z.literal(true).optional(),
    nextAction: z
      .object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() })
      .optional(),
  }),
);

/** What the provider says about the attempt beside its outcome. */
export const factGroup = z.lazy(() =>
  z.object({
    /** The method of the last attempt whose outcome is known, also of a declined one. */
    details: methodDetailsSchema.optional(),
    /** The provider's words for the last decline, set while the payment is failed. */
    decline: providerDeclineSchema.optional(),
    settlement: settlementSchema.optional(),
    /** The provider's page with the receipt; it shows the payer's card. */
    receiptUrl: optional,
    /** The next read for facts that the record lacks. */
    factsAt: optional,
    /** Counts these reads while a further one is due. */
    factLooks: z.int().optional(),
  }),
);

/** The next look at a call with an unknown outcome. */
export const lookGroup = z.lazy(() => z.object({ reconcileAt: optional, reconcileStep: z.int().optional() }));

/** The amount that the provider holds, or has held. */
export const holdGroup = z.lazy(() =>
  z.object({
    /** The amount that the provider held, set with the hold. A capture may take less; then the total is what was taken. */
    authorizedCents: z.int().optional(),
    /** What can still be captured, if it was lowered at the provider; `authorizedCents` otherwise. */
    capturableCents: z.int().optional(),
    /** When the provider ends the hold. */
    captureBefore: optional,
    /** Until then the provider guarantees the capture; only PayPal names this time. */
    guaranteedUntil: optional,
    /** The capture or the release that is under way or has an unknown outcome. */
    holdCall: holdCallSchema.optional(),
    /** When due work looks at the hold next. */
    holdCheckAt: optional,
    /** Set once the event that the hold ends soon was published. */
    captureDueSent: z.literal(true).optional(),
    /** Why the hold ended without a capture. */
    holdEnd: z.enum(HOLD_ENDS).optional(),
  }),
);

/** What captures of the payment leave in it, beside the hold itself. */
export const captureGroup = z.lazy(() =>
  z.object({
    ...severalCapturesFields,
    /** The capture or the release that turned out not to have happened, after a response that left its outcome open. */
    holdFailure: holdFailureSchema.optional(),
    /** Counts captures that are known not to have happened, so that each later capture has its own idempotency key. */
    failedCaptures: z.int().optional(),
  }),
);

/** What went back to the payer, or may. */
export const moneyBackGroup = z.lazy(() =>
  z.object({
    /** The sum of the refunds that succeeded. */
    refundedCents: z.int().optional(),
    /** The number of the refunds that succeeded. */
    refundedCount: z.int().optional(),
    /** The sum of the refunds whose outcome is open; reserved, so that refunds together never exceed the total. */
    refundingCents: z.int().optional(),
    /** The open and the lost disputes, ordered by id. */
    disputes: z
      .array(
        z.object({
          id: z.string(),
          /** The payment's total for a dispute in another currency. */
          amountCents: z.int(),
          /** The disputed capture of a payment with several. */
          captureId: optional,
          /** When the dispute was lost; undefined while it is open. */
          lostAt: optional,
        }),
      )
      .optional(),
  }),
);

/** The refund or the dispute that this version is about, with its former status. A version names at most one. */
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

/** The fields that every version sets. It names a refund or a dispute only if that is its cause. */
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

/** The record's own values of a group's fields, also of absent ones, so that a spread restores them all. */
export const valuesIn = <R extends object, Shape extends z.ZodRawShape>(
  record: R,
  group: Group<Shape>,
): Pick<R, keyof Shape & keyof R> =>
  // Sound, because the entries are those of the group.
  Object.fromEntries(namesIn(group).map((name) => [name, record[name as keyof R]])) as Pick<R, keyof Shape & keyof R>;

/** Every field of the group, without a value. */
export const blank = <Shape extends z.ZodRawShape>(
  group: Group<Shape>,
): { readonly [Name in keyof Shape]: undefined } =>
  // Sound, as above.
  Object.fromEntries(namesIn(group).map((name) => [name, undefined])) as { [Name in keyof Shape]: undefined };

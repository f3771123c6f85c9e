/** @module Reads Stripe's own events, and the interface's payload, which is a subset of Stripe's format. */

import * as z from 'zod';
import { wordTable } from '../adapter.ts';
import { type FingerprintOf, noFingerprint } from '../card-fingerprint.ts';
import { readContractEvent, STRIPES_OWN } from '../contract-event.ts';
import { type InboundEventType, isMoneyBackEvent, type MoneyBackEventType, type ProviderEvent } from '../event-port.ts';
import type { EventSubscription } from '../subscription-port.ts';
import { readEventFacts } from './charge-facts.ts';
import { reportedAmount, stripeAmounts } from './currencies.ts';
import { stripeDeclineCode } from './decline-codes.ts';
import { eventHold } from './hold-report.ts';
import { readStripeDispute, readStripeRefund } from './refunds.ts';
import { failedAttempt, idOf } from './report.ts';

const reference = z.nullish(z.union([z.string(), z.looseObject({ id: z.string() })]));

/** Fields that only Stripe's own events have. */
const ownFields = z.looseObject({
  object: z.optional(z.unknown()),
  data: z.looseObject({
    object: z.looseObject({
      latest_charge: reference,
      payment_intent: reference,
      last_payment_error: z.nullish(
        z.looseObject({ code: z.nullish(z.string()), decline_code: z.nullish(z.string()), charge: reference }),
      ),
      card: z.nullish(z.looseObject({ fingerprint: z.nullish(z.string()) })),
    }),
  }),
});

const STRIPE_NAMES = wordTable<InboundEventType>({
  'payment_intent.payment_failed': 'payment_intent.failed',
  'setup_intent.setup_failed': 'setup_intent.failed',
  'payment_method.automatically_updated': 'payment_method.updated',
  'payment_method.card_automatically_updated': 'payment_method.updated',
  'invoice.paid': 'invoice.payment_succeeded',
  'customer.subscription.created': 'subscription.created',
  'customer.subscription.updated': 'subscription.updated',
  'customer.subscription.paused': 'subscription.updated',
  'customer.subscription.resumed': 'subscription.updated',
  'customer.subscription.deleted': 'subscription.deleted',
  'customer.subscription.trial_will_end': 'subscription.trial_will_end',
  'payment_intent.amount_capturable_updated': 'payment_intent.amount_capturable_updated',
  'charge.refunded': 'charge.refunded',
  'charge.refund.updated': 'refund.updated',
  'refund.created': 'refund.updated',
  'refund.updated': 'refund.updated',
  'refund.failed': 'refund.updated',
  'charge.dispute.created': 'dispute.updated',
  'charge.dispute.updated': 'dispute.updated',
  'charge.dispute.closed': 'dispute.updated',
  'charge.dispute.funds_withdrawn': 'dispute.updated',
  'charge.dispute.funds_reinstated': 'dispute.updated',
});

const refundFields = z.looseObject({
  id: z.string(),
  amount: z.int(),
  currency: z.string(),
  created: z.int(),
  status: z.nullish(z.string()),
  reason: z.nullish(z.string()),
  failure_reason: z.nullish(z.string()),
  metadata: z.nullish(z.record(z.string(), z.unknown())),
});

const disputeFields = z.looseObject({
  id: z.string(),
  amount: z.int(),
  currency: z.string(),
  created: z.int(),
  status: z.string(),
  reason: z.nullish(z.string()),
  evidence_details: z.nullish(z.looseObject({ due_by: z.nullish(z.int()) })),
});

export const readStripeEvent = (body: unknown, fingerprintOf = noFingerprint): ProviderEvent | undefined => {
  const event = readContractEvent(body, STRIPE_NAMES);
  if (!event) return undefined;
  const type = STRIPE_NAMES.get(event.rawType) ?? event.type;
  if (type === undefined) return event;
  const own = ownFields.safeParse(body);
  if (!own.success) return undefined;
  const { object } = own.data.data;
  const isStripes = own.data.object === STRIPES_OWN;
  if (isMoneyBackEvent(type)) {
    // An event in the interface's format has no details here, because the interface has no payload for these types.
    if (!isStripes) return event;
    const moneyBack = readMoneyBack(type, object);
    return moneyBack && { ...event, type, object: { ...inCents(event.object), ...moneyBack } };
  }
  const { latest_charge: charge, last_payment_error: error } = object;
  const isFailed = type === 'payment_intent.failed';
  return {
    ...event,
    type,
    object: {
      ...(isStripes ? inCents(event.object) : event.object),
      attemptRef: isFailed ? failedAttempt(object, error) : idOf(charge),
      failureCode: error ? stripeDeclineCode(error) : undefined,
      ...(isStripes && ownFacts(type, { object, method: event.object.method }, fingerprintOf)),
      ...(isStripes && type.startsWith('payment_intent.') && eventHold(object)),
    },
  };
};

/** The facts and the fingerprint in Stripe's own events. The interface's payload has neither. */
const ownFacts = (
  type: InboundEventType,
  { object, method }: { readonly object: OwnObject; readonly method: EventObject['method'] },
  fingerprintOf: FingerprintOf,
): Partial<EventObject> => {
  if (method) return { method: { ...method, fingerprint: fingerprintOf(object.card?.fingerprint) } };
  const isFailed = type === 'payment_intent.failed';
  return isFailed || type === 'payment_intent.succeeded'
    ? { facts: readEventFacts(object, isFailed, fingerprintOf) }
    : {};
};

type OwnObject = z.infer<typeof ownFields>['data']['object'];

/** @returns undefined if the object does not match the event type */
const readMoneyBack = (type: MoneyBackEventType, object: OwnObject): Partial<EventObject> | undefined => {
  const intentId = idOf(object.payment_intent);
  const chargedAs = intentId === undefined ? [] : [intentId];
  switch (type) {
    case 'charge.refunded':
      return { chargedAs };
    case 'refund.updated': {
      const refund = refundFields.safeParse(object);
      return refund.success ? { chargedAs, refund: readStripeRefund(refund.data) } : undefined;
    }
    case 'dispute.updated': {
      const dispute = disputeFields.safeParse(object);
      return dispute.success ? { chargedAs, dispute: readStripeDispute(dispute.data) } : undefined;
    }
  }
};

type EventObject = ProviderEvent['object'];

/** Converts the amounts of Stripe's own objects to ISO 4217 minor units. */
const inCents = (object: EventObject): EventObject => ({
  ...object,
  amountCents: centsOf(object),
  ...(object.invoice && { invoice: { ...object.invoice, amountCents: centsOf(object.invoice) } }),
  ...(object.subscription && { subscription: { ...object.subscription, price: priceInCents(object.subscription) } }),
});

const priceInCents = ({ price }: Pick<EventSubscription, 'price'>): EventSubscription['price'] =>
  price && reportedAmount({ amount: price.amountCents, currency: price.currency });

const centsOf = ({
  amountCents: units,
  currency,
}: Pick<EventObject, 'amountCents' | 'currency'>): number | undefined =>
  units === undefined || currency === undefined ? units : stripeAmounts.toCents(units, currency);

/** @module Lists Stripe's PaymentIntents, including those not paid yet. */

import type Stripe from 'stripe';
import { iso, SECOND_MS } from '../../core/time.ts';
import { secondsOf } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { ListedPayment, ListedSubscription, ListingPort } from '../listing-port.ts';
import type { StripeCall } from './outcome.ts';
import { everyPage } from './refunds.ts';
import { idOf, readStripePayment } from './report.ts';

/** Stripe's largest page. */
const PAGE = 100;

export const stripeListing = (stripe: Stripe, call: StripeCall, fingerprintOf: FingerprintOf): ListingPort => ({
  leavesOut: undefined,
  reachesBackMs: undefined,
  listPayments: (since) =>
    call(
      () =>
        everyPage(
          stripe.paymentIntents.list({
            created: { gte: secondsOf(since) },
            limit: PAGE,
            expand: ['data.latest_charge'],
          }),
        ),
      (intents) => intents.map((intent) => listed(intent, fingerprintOf)).reverse(),
    ),
  // Without a status, Stripe lists all subscriptions that are not canceled.
  listSubscriptions: (since) =>
    call(
      () => everyPage(stripe.subscriptions.list({ created: { gte: secondsOf(since) }, limit: PAGE })),
      (subscriptions) =>
        subscriptions.flatMap(({ id, metadata, created }): ListedSubscription[] => {
          const ourSubscriptionId = metadata['subscription_id'];
          return ourSubscriptionId === undefined
            ? []
            : [{ subscriptionId: id, ourSubscriptionId, createdAt: iso(created * SECOND_MS) }];
        }),
    ),
});

const listed = (intent: Stripe.PaymentIntent, fingerprintOf: FingerprintOf): ListedPayment => {
  const { created, latest_charge: charge, customer, description, capture_method: captures } = intent;
  return {
    report: readStripePayment(intent, undefined, fingerprintOf),
    createdAt: iso(created * SECOND_MS),
    attemptedAt: typeof charge === 'object' && charge !== null ? iso(charge.created * SECOND_MS) : undefined,
    customerId: idOf(customer),
    description: description ?? undefined,
    captureMethod: captures === 'manual' ? 'manual' : undefined,
  };
};

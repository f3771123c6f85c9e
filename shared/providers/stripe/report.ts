/** @module Reads PaymentIntents, SetupIntents and methods. */

import type Stripe from 'stripe';
import { type FingerprintOf, noFingerprint } from '../card-fingerprint.ts';
import { methodFacts } from '../contract-event.ts';
import type { ProviderMethod, ProviderSetup } from '../method-port.ts';
import type { KnownPayment, NextAction, ProviderPayment, ReportedStatus } from '../payment-port.ts';
import { intentFacts, NOT_AUTHENTICATED } from './charge-facts.ts';
import { stripeDeclineCode } from './decline-codes.ts';
import { heldAmount } from './hold-report.ts';

/** @param known the method in our record, because Stripe receives a saved method only with the confirmation */
export const readStripePayment = (
  intent: Stripe.PaymentIntent,
  known?: Pick<KnownPayment, 'method'>,
  fingerprintOf = noFingerprint,
): ProviderPayment => {
  const status = statusOf(intent, known?.method);
  const failedMethod = status === 'failed' ? intent.last_payment_error?.payment_method?.id : undefined;
  return {
    intentId: intent.id,
    paymentId: intent.id,
    status,
    ...heldAmount(intent),
    attemptRef: status === 'failed' ? failedAttempt(intent, intent.last_payment_error) : idOf(intent.latest_charge),
    failureCode: intent.last_payment_error ? stripeDeclineCode(intent.last_payment_error) : undefined,
    clientSecret: intent.client_secret ?? undefined,
    nextAction: nextActionOf(intent),
    methodId: idOf(intent.payment_method) ?? failedMethod,
    ourPaymentId: intent.metadata?.['payment_id'],
    facts: intentFacts(intent, status === 'failed', fingerprintOf),
  };
};

/**
 * The charge of a failed attempt. A failed authentication makes no charge, so the latest charge belongs to an earlier
 * attempt.
 * @returns undefined if the attempt made no charge
 */
export const failedAttempt = (
  intent: { readonly latest_charge?: Reference },
  error: { readonly code?: string | null | undefined; readonly charge?: Reference } | null | undefined,
): string | undefined => {
  const charge = idOf(error?.charge);
  if (charge !== undefined || NOT_AUTHENTICATED.includes(error?.code ?? '')) return charge;
  return idOf(intent.latest_charge);
};

const statusOf = (intent: Stripe.PaymentIntent, method: string | undefined): ReportedStatus => {
  switch (intent.status) {
    case 'requires_payment_method':
      if (intent.last_payment_error) return 'failed';
      return method === undefined ? 'requires_payment_method' : 'created';
    case 'requires_confirmation':
      return 'created';
    case 'requires_action':
      // If Stripe charged an invoice without the payer present, the charge has failed. The payer may still pay the
      // invoice.
      return intent.last_payment_error ? 'failed' : 'pending';
    case 'processing':
      return 'processing';
    case 'requires_capture':
      return 'requires_capture';
    case 'succeeded':
      return 'succeeded';
    case 'canceled':
      return 'canceled';
    default:
      // A status unknown to this SDK is not final, so the payment is looked up again.
      return 'processing';
  }
};

/** The step that the payer of a PaymentIntent or SetupIntent must take next. */
export const nextActionOf = (
  intent: Pick<Stripe.PaymentIntent, 'status' | 'next_action'> | Pick<Stripe.SetupIntent, 'status' | 'next_action'>,
): NextAction | undefined => {
  if (intent.status !== 'requires_action' || !intent.next_action) return undefined;
  const url = intent.next_action.redirect_to_url?.url ?? undefined;
  return { type: url ? 'redirect_to_url' : 'use_provider_sdk', url };
};

/** Readers of saved methods, with our fingerprints. */
export const stripeReaders = (fingerprintOf: FingerprintOf) => ({
  readMethod: (method: Stripe.PaymentMethod): ProviderMethod => readStripeMethod(method, fingerprintOf),
  readSetup: (intent: Stripe.SetupIntent): ProviderSetup => readStripeSetup(intent, fingerprintOf),
});
export type StripeReaders = ReturnType<typeof stripeReaders>;

export const readStripeMethod = (method: Stripe.PaymentMethod, fingerprintOf = noFingerprint): ProviderMethod => ({
  methodId: method.id,
  customerId: idOf(method.customer),
  ...methodFacts(method),
  ...(method.us_bank_account?.last4 && { lastFour: method.us_bank_account.last4 }),
  fingerprint: fingerprintOf(method.card?.fingerprint),
});

/** Reads a SetupIntent. Its payment method must be expanded. */
const readStripeSetup = (intent: Stripe.SetupIntent, fingerprintOf: FingerprintOf): ProviderSetup => {
  const { payment_method: method } = intent;
  return {
    setupId: intent.id,
    status: setupStatusOf(intent),
    method: typeof method === 'object' && method !== null ? readStripeMethod(method, fingerprintOf) : undefined,
  };
};

const setupStatusOf = ({ status }: Stripe.SetupIntent): ProviderSetup['status'] => {
  switch (status) {
    case 'succeeded':
      return 'succeeded';
    case 'canceled':
      return 'canceled';
    case 'requires_payment_method':
      return 'failed';
    default:
      // `processing`, and any status unknown to this SDK, is not final.
      return 'requires_action';
  }
};

type Reference = string | { readonly id: string } | null | undefined;

export const idOf = (reference: Reference): string | undefined =>
  typeof reference === 'string' ? reference : reference?.id;

/** @module Saved methods at Stripe. A SetupIntent attaches a method, after the payer's authentication if needed. */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import {
  type AttachMethod,
  type BillingDetails,
  type KeepMethod,
  NOT_ATTACHABLE,
  type ProviderMethod,
  type ProviderSetup,
  type RawCard,
  type SetupsPort,
} from '../method-port.ts';
import type { CallOptions } from '../payment-port.ts';
import { INVALID_REQUEST, type StripeCall } from './outcome.ts';
import { methodParameters } from './payments.ts';
import { idOf, nextActionOf, type StripeReaders } from './report.ts';

/**
 * If Stripe refuses to detach a method with one of these reasons, the method is already detached. Either the method
 * does not exist (`resource_missing`), or it is not attached. In the second case Stripe sends no code, so the reason is
 * our `INVALID_REQUEST`.
 */
const NOT_ATTACHED: ReadonlySet<string> = new Set(['resource_missing', INVALID_REQUEST]);

export const stripeMethods = (stripe: Stripe, call: StripeCall, { readMethod, readSetup }: StripeReaders) => ({
  tokenizeCard: ({ number, expiryMonth, expiryYear, cvc, idempotencyKey }: RawCard & CallOptions) =>
    call(
      () =>
        stripe.paymentMethods.create(
          {
            type: 'card',
            card: { number, exp_month: Number(expiryMonth), exp_year: Number(expiryYear), ...(cvc && { cvc }) },
          },
          { idempotencyKey },
        ),
      ({ id }) => ({ token: id }),
    ),

  /**
   * Creates a SetupIntent that Stripe confirms immediately. The SetupIntent attaches the method as soon as it succeeds.
   */
  attachMethod: async (input: AttachMethod): Promise<Outcome<ProviderMethod>> => {
    const { token, customerId, paymentMethodId, idempotencyKey } = input;
    const attached = await call(
      () =>
        stripe.setupIntents.create(
          {
            customer: customerId,
            ...methodParameters(token),
            usage: 'off_session',
            confirm: true,
            automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
            metadata: { payment_method_id: paymentMethodId },
            expand: ['payment_method'],
          },
          { idempotencyKey },
        ),
      (intent) => attachedMethod(intent, readSetup(intent)),
    );
    if (attached.kind !== 'refused' || attached.parameter !== 'payment_method') return attached;
    // Stripe refuses a method of another customer, or a detached method, without an error code, so the method is read.
    const known = await call(() => stripe.paymentMethods.retrieve(token), readMethod);
    return known.kind === 'done' ? { kind: 'refused', reason: NOT_ATTACHABLE } : attached;
  },

  findMethod: (methodId: string) => call(() => stripe.paymentMethods.retrieve(methodId), readMethod),

  /** Stripe has already saved the method, because the intent requested it. */
  keepMethod: async ({ intentId }: KeepMethod): Promise<Outcome<ProviderMethod>> => {
    const used = await call(
      () => stripe.paymentIntents.retrieve(intentId),
      ({ payment_method }) => idOf(payment_method),
    );
    if (used.kind !== 'done') return used;
    const methodId = used.value;
    if (methodId === undefined) return { kind: 'refused', reason: 'no_payment_method' };
    return call(() => stripe.paymentMethods.retrieve(methodId), readMethod);
  },

  detachMethod: async (methodId: string) => {
    const outcome = await call(
      () => stripe.paymentMethods.detach(methodId),
      ({ id }) => ({ methodId: id }),
    );
    const isOff = outcome.kind === 'refused' && NOT_ATTACHED.has(outcome.reason);
    return isOff ? { kind: 'done' as const, value: { methodId } } : outcome;
  },

  updateBilling: ({
    methodId,
    billing,
    idempotencyKey,
  }: { readonly methodId: string; readonly billing: BillingDetails } & CallOptions) =>
    call(
      () => stripe.paymentMethods.update(methodId, { billing_details: billingDetails(billing) }, { idempotencyKey }),
      readMethod,
    ),
});

const attachedMethod = (intent: Stripe.SetupIntent, { setupId, status, method }: ProviderSetup): ProviderMethod => {
  if (!method) throw new Error('Stripe names no payment method in a confirmed SetupIntent');
  if (status === 'succeeded') return method;
  const clientSecret = intent.client_secret ?? undefined;
  return { ...method, setup: { setupId, clientSecret, nextAction: nextActionOf(intent) } };
};

const billingDetails = ({ name, line1, line2, city, state, postalCode, country }: BillingDetails) => ({
  ...(name && { name }),
  address: {
    country,
    ...(line1 && { line1 }),
    ...(line2 && { line2 }),
    ...(city && { city }),
    ...(state && { state }),
    ...(postalCode && { postal_code: postalCode }),
  },
});

type SetupOutcome = Outcome<ProviderSetup>;

const EXPANDED = { expand: ['payment_method'] };

export const stripeSetups = (stripe: Stripe, call: StripeCall, { readSetup }: StripeReaders): SetupsPort => {
  const find = async (setupId: string): Promise<SetupOutcome> => {
    const found = await call(() => stripe.setupIntents.retrieve(setupId, EXPANDED), readSetup);
    if (found.kind !== 'refused' || found.reason !== 'resource_missing') return found;
    return { kind: 'done', value: { setupId, status: 'canceled', method: undefined } };
  };

  /** Stripe refuses to cancel a final SetupIntent, so the set-up is read after a refusal. */
  const cancel = async (setupId: string): Promise<SetupOutcome> => {
    const canceled = await call(() => stripe.setupIntents.cancel(setupId, EXPANDED), readSetup);
    if (canceled.kind !== 'refused') return canceled;
    const found = await find(setupId);
    return found.kind === 'done' && !isFinal(found.value) ? canceled : found;
  };

  return { find, cancel };
};

const isFinal = ({ status }: ProviderSetup): boolean => status === 'succeeded' || status === 'canceled';

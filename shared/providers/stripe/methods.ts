import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { CallOptions } from '../port/call-options.ts';
import {
  type AttachMethod,
  type BillingDetails,
  type KeepMethod,
  NOT_ATTACHABLE,
  type ProviderMethod,
  type RawCard,
} from '../port/methods.ts';
import { methodFacts } from '../wire/contract-event.ts';
import type { StripeCall } from './outcome.ts';
import { idOf } from './report.ts';

const reported = (method: Stripe.PaymentMethod): ProviderMethod => ({
  methodId: method.id,
  customerId: idOf(method.customer),
  ...methodFacts(method),
});

/** Stripe's refusals to detach a missing method, or (without a code) a method that is not attached: both are detached. */
const NOT_ATTACHED: ReadonlySet<string> = new Set(['resource_missing', 'StripeInvalidRequestError']);

export const stripeMethods = (stripe: Stripe, call: StripeCall) => ({
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

  attachMethod: async ({ token, customerId, idempotencyKey }: AttachMethod): Promise<Outcome<ProviderMethod>> => {
    const attached = await call(async () => {
      const method = token.startsWith('tok_') ? await ofToken(stripe, token, idempotencyKey) : token;
      return stripe.paymentMethods.attach(method, { customer: customerId }, { idempotencyKey });
    }, reported);
    if (attached.kind !== 'refused' || token.startsWith('tok_')) return attached;
    // These refusals have no code.
    const known = await call(() => stripe.paymentMethods.retrieve(token), reported);
    return known.kind === 'done' ? { kind: 'refused', reason: NOT_ATTACHABLE } : attached;
  },

  findMethod: (methodId: string) => call(() => stripe.paymentMethods.retrieve(methodId), reported),

  /** Stripe has already saved the method, as the intent requested. */
  keepMethod: async ({ intentId }: KeepMethod): Promise<Outcome<ProviderMethod>> => {
    const used = await call(
      () => stripe.paymentIntents.retrieve(intentId),
      ({ payment_method }) => idOf(payment_method),
    );
    if (used.kind !== 'done') return used;
    const methodId = used.value;
    if (methodId === undefined) return { kind: 'refused', reason: 'no_payment_method' };
    return call(() => stripe.paymentMethods.retrieve(methodId), reported);
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
      reported,
    ),
});

/** Converts a one-time token to a method, under its own key. */
const ofToken = async (stripe: Stripe, token: string, idempotencyKey: string): Promise<string> => {
  const { id } = await stripe.paymentMethods.create(
    { type: 'card', card: { token } },
    { idempotencyKey: `${idempotencyKey}:method` },
  );
  return id;
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

/** @module Holds of 10.00 that the service does not know, and the provider's events about these holds. */

import { expect } from 'vitest';
import { epochSeconds } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { atPayPal } from './at-paypal.ts';
import { atSquare } from './at-square.ts';
import { atStripe } from './at-stripe.ts';
import { confirm, confirmInBrowser, createIntent, type User } from './flow.ts';
import { AT_PAYPAL, AT_SQUARE, AT_STRIPE, type Holding, holdsAtProvider, manualBody } from './holders.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';

export type HoldEvent = 'authorized' | 'captured' | 'canceled';

interface SentByProvider {
  readonly type: string;
  readonly object: object;
}

interface UnseenHolds {
  readonly slot: string;
  /** Creates a payment with a hold at the provider. The response and events never reached the service. */
  readonly hold: (service: TestHost, user: User) => Promise<ParsedJson>;
  /** Captures 6.00 in the provider's dashboard. */
  readonly takePart: (service: TestHost, payment: PaymentBody) => Promise<unknown>;
  /** The event as sent by the provider. */
  readonly eventOf: (service: TestHost, payment: PaymentBody, event: HoldEvent) => Promise<SentByProvider>;
}

const STRIPE_TYPES: Readonly<Record<HoldEvent, string>> = {
  authorized: 'payment_intent.amount_capturable_updated',
  captured: 'payment_intent.succeeded',
  canceled: 'payment_intent.canceled',
};

export const unseenAtStripe: UnseenHolds = {
  slot: AT_STRIPE.slot,

  hold: async (service, user) => {
    const payment = await createIntent(service, user, manualBody(AT_STRIPE, { payment_method_id: undefined }));
    await service.webhookMode('drop');
    await confirmInBrowser(service, payment, AT_STRIPE.method);
    return payment;
  },

  takePart: (service, { provider_payment_id }) =>
    atStripe(service, `POST payment_intents/${provider_payment_id}/capture`, { amount_to_capture: '600' }),

  eventOf: async (service, payment, event) => {
    const fields: Readonly<Record<HoldEvent, object>> = {
      authorized: { status: 'requires_capture', amount_capturable: 1_000 },
      captured: { status: 'succeeded', amount_received: 600 },
      canceled: { status: 'canceled', canceled_at: epochSeconds(service.now()) },
    };
    const object = {
      ...{ id: payment.provider_payment_id, object: 'payment_intent', amount: 1_000, currency: 'usd' },
      ...{ amount_capturable: 0, amount_received: 0, capture_method: 'manual', latest_charge: 'ch_held' },
      metadata: { payment_id: payment.id },
      ...fields[event],
    };
    return { type: STRIPE_TYPES[event], object };
  },
};

/** The provider holds the amount, but the response is lost. */
const heldUnanswered = async (service: TestHost, user: User, holding: Holding) => {
  const payment = await createIntent(service, user, manualBody(holding));
  await service.webhookMode('drop');
  await service.fault({
    ...{ provider: holding.slot, path: holding.holdPath, method: 'POST' },
    ...{ action: 'malformed', times: 1 },
  });
  expect(await confirm(service, payment.id, user.options)).toMatchObject({
    status: 202,
    body: { status: 'processing' },
  });
  expect(await holdsAtProvider(service, payment.id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 0 }]);
  return payment;
};

const heldAtPayPal = async (service: TestHost, { provider_intent_id }: ParsedJson) => {
  const order = await atPayPal(service, `GET v2/checkout/orders/${provider_intent_id}`);
  return order.purchase_units[0].payments;
};

const paypal: UnseenHolds = {
  slot: AT_PAYPAL.slot,

  hold: (service, user) => heldUnanswered(service, user, AT_PAYPAL),

  takePart: async (service, payment) => {
    const { authorizations } = await heldAtPayPal(service, payment);
    const part = { amount: { currency_code: 'USD', value: '6.00' }, final_capture: true };
    return atPayPal(service, `POST v2/payments/authorizations/${authorizations[0].id}/capture`, part);
  },

  eventOf: async (service, payment, event) => {
    const { authorizations, captures } = await heldAtPayPal(service, payment);
    const [authorization] = authorizations;
    switch (event) {
      case 'authorized':
        return { type: 'PAYMENT.AUTHORIZATION.CREATED', object: { ...authorization, status: 'CREATED' } };
      case 'canceled':
        return { type: 'PAYMENT.AUTHORIZATION.VOIDED', object: { ...authorization, status: 'VOIDED' } };
      default:
        return { type: 'PAYMENT.CAPTURE.COMPLETED', object: captures[0] };
    }
  },
};

const heldAtSquare = async (service: TestHost, { id }: ParsedJson) => {
  const [hold] = await holdsAtProvider(service, id);
  const { payment } = await atSquare(service, `GET payments/${present(hold).id}`);
  return payment;
};

const WHOLE = { amount: 1_000, currency: 'USD' } as const;
const PART = { amount: 600, currency: 'USD' } as const;
const SQUARE_FIELDS: Readonly<Record<HoldEvent, object>> = {
  authorized: { status: 'APPROVED', amount_money: WHOLE, total_money: WHOLE },
  captured: { status: 'COMPLETED', amount_money: PART, total_money: PART },
  canceled: { status: 'CANCELED', amount_money: WHOLE, total_money: WHOLE },
};

const square: UnseenHolds = {
  slot: AT_SQUARE.slot,

  hold: (service, user) => heldUnanswered(service, user, AT_SQUARE),

  takePart: async (service, payment) => {
    const { id } = await heldAtSquare(service, payment);
    const change = { idempotency_key: `part-${id}`, payment: { amount_money: PART } };
    const lowered = await atSquare(service, `PUT payments/${id}`, change);
    return atSquare(service, `POST payments/${id}/complete`, { version_token: lowered.payment.version_token });
  },

  eventOf: async (service, payment, event) => ({
    type: 'payment.updated',
    object: { ...(await heldAtSquare(service, payment)), ...SQUARE_FIELDS[event] },
  }),
};

export const UNSEEN_HOLDS: readonly UnseenHolds[] = [unseenAtStripe, paypal, square];

import { expect } from 'vitest';
import { confirm, createIntent, read, type User } from './flow.ts';
import type { RequestOptions, TestHost } from './host.ts';

/** Steps of tests about holds. */
type Fields = Readonly<Record<string, unknown>>;

/** A provider that holds amounts, with its one-time test methods. */
export interface Holding {
  readonly slot: string;
  readonly method: string;
  readonly captureDeclined: string;
  readonly holdForAnHour: string;
  readonly holdDays: number;
  /** Parts of the paths of the calls that hold, capture and release. */
  readonly holdPath: string;
  readonly capturePath: string;
  readonly releasePath: string;
}

export const AT_STRIPE: Holding = {
  slot: 'provider_a',
  method: 'pm_card_visa',
  captureDeclined: 'pm_sim_capture_declined',
  holdForAnHour: 'pm_sim_hold_1h',
  holdDays: 7,
  holdPath: '/confirm',
  capturePath: '/capture',
  releasePath: '/cancel',
};

export const AT_PAYPAL: Holding = {
  slot: 'provider_b',
  method: 'SIM-OK',
  captureDeclined: 'SIM-CAPTURE-DECLINED',
  holdForAnHour: 'SIM-HOLD-1H',
  holdDays: 29,
  holdPath: '/authorize',
  capturePath: '/capture',
  releasePath: '/void',
};

export const AT_SQUARE: Holding = {
  slot: 'provider_c',
  method: 'cnon:card-nonce-ok',
  captureDeclined: 'cnon:sim-capture-declined',
  holdForAnHour: 'cnon:sim-hold-1h',
  holdDays: 7,
  holdPath: '/v2/payments',
  capturePath: '/complete',
  releasePath: '/cancel',
};

export const HOLDING: readonly Holding[] = [AT_STRIPE, AT_PAYPAL, AT_SQUARE];

export const manualBody = ({ slot, method }: Holding, fields: Fields = {}): Fields => ({
  provider_id: slot,
  payment_method_id: method,
  currency: 'USD',
  capture_method: 'manual',
  subtotal_cents: 900,
  tax_cents: 100,
  total_cents: undefined,
  ...fields,
});

/** Creates a payment of 9.00 plus 1.00 tax, and holds its amount. @returns the payment as its user reads it */
export const heldPayment = async (
  service: TestHost,
  user: User,
  { holding = AT_STRIPE, ...fields }: Fields & { readonly holding?: Holding } = {},
) => {
  const { id } = await createIntent(service, user, manualBody(holding, fields));
  expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'requires_capture' } });
  await service.settle();
  const payment = await read(service, id, user.options);
  expect(payment).toMatchObject({ status: 'requires_capture' });
  return payment;
};

export const capture = (service: TestHost, paymentId: string, { body = {}, ...options }: RequestOptions) =>
  service.post(`/payments/${paymentId}/capture`, body, options);

export const release = (service: TestHost, paymentId: string, options: RequestOptions) =>
  service.post(`/payments/intents/${paymentId}/cancel`, {}, options);

/** The holds of one of our payments in the provider's ledger. */
export const holdsAtProvider = async (service: TestHost, paymentId: string) => {
  const { charges } = await service.ledger(paymentId);
  return charges.filter(({ authorized }) => authorized > 0);
};

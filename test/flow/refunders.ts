/** @module Helpers for tests of refunds and disputes. */

import { expect } from 'vitest';
import { MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, itemsOf, read, signIn, type User } from './flow.ts';
import type { RequestOptions, TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A provider that accepts payments, and its one-time method that succeeds. */
export type Paying = readonly [provider: string, method: string];

export const PAYING_METHODS: readonly [Paying, ...Paying[]] = [
  ['provider_a', 'pm_card_visa'],
  ['provider_b', 'SIM-OK'],
  ['provider_c', 'cnon:card-nonce-ok'],
];

export const signInAdmin = (service: TestHost): Promise<User> =>
  signIn(service, { is_admin: true, expires_in: YEAR_SECONDS });

/** Creates and pays a payment, of 25.00 USD by default. @returns the payment as its user reads it */
export const paidPayment = async (
  service: TestHost,
  user: User,
  { paying = PAYING_METHODS[0], ...fields }: Fields & { readonly paying?: Paying | undefined } = {},
) => {
  const [provider, method] = paying;
  const intent = await createIntent(service, user, { provider_id: provider, payment_method_id: method, ...fields });
  const confirmed = await confirm(service, intent.id, user.options);
  // On a slow machine the provider may respond too late for the request, and the first lookup finds the charge.
  if (confirmed.status === 202) await service.advance(2 * MINUTE_SECONDS);
  await service.settle();
  const payment = await read(service, intent.id, user.options);
  expect(payment).toMatchObject({ status: 'succeeded' });
  return payment;
};

export const refund = (service: TestHost, paymentId: string, { body = {}, ...options }: RequestOptions) =>
  service.post(`/payments/${paymentId}/refunds`, body, options);

/** The provider's refunds of one of our payments. */
export const refundsAtProvider = async (service: TestHost, paymentId: string) => {
  const { refunds } = await service.ledger(paymentId);
  return refunds;
};

const sumOf = (refunds: readonly ParsedJson[], amountOf: (one: ParsedJson) => number, statuses: readonly string[]) =>
  refunds.filter(({ status }) => statuses.includes(status)).reduce((sum, one) => sum + amountOf(one), 0);

/** Expects that the record's sums equal its refunds, and that the refunds equal the provider's ledger. */
export const expectAgreement = async (service: TestHost, paymentId: string, admin: User): Promise<void> => {
  const payment = await read(service, paymentId, admin.options);
  const items = (await itemsOf(service, 'RFD#')).filter((item) => item['paymentId'] === paymentId);
  const held = await refundsAtProvider(service, paymentId);
  const amountHere = ({ amountCents }: { readonly amountCents: number }): number => amountCents;
  const amountThere = ({ amount }: { readonly amount: number }): number => amount;
  const refunded = sumOf(items, amountHere, ['succeeded']);
  const reserved = sumOf(items, amountHere, ['pending']);
  const { disputes } = await service.ledger(paymentId);
  const disputed = sumOf(disputes, amountThere, ['needs_response', 'under_review']);
  const lost = sumOf(disputes, amountThere, ['lost']);
  expect(payment).toMatchObject({
    refunded_cents: refunded,
    refundable_cents: Math.max(0, payment.total_cents - refunded - reserved - disputed - lost),
    disputed_cents: disputed,
    lost_cents: lost,
  });
  const byId = (one: string, other: string) => (one < other ? -1 : 1);
  const here = items.filter((item) => item['providerRefundId'] !== undefined);
  expect(here.map((item) => `${item['providerRefundId']} ${item['status']}`).sort(byId)).toEqual(
    held.map(({ id, status }) => `${id} ${status}`).sort(byId),
  );
  expect(sumOf(held, amountThere, ['succeeded', 'pending'])).toBeLessThanOrEqual(payment.total_cents);
};

import { expect } from 'vitest';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { atProvider, confirm, createIntent, read, type User } from './flow.ts';
import type { TestHost } from './host.ts';

/** Steps of tests that compare the facts of a payment with the provider's ledger. */
export type PaidWith = readonly [provider: string, method: string];

/** Creates and confirms a payment of the user. @returns the payment as the user reads it */
export const attemptWith = async (
  service: TestHost,
  user: User,
  {
    with: [provider_id, payment_method_id],
    ...body
  }: { readonly with: PaidWith; readonly verification_token?: string },
) => {
  const { id } = await createIntent(service, user, { provider_id, payment_method_id });
  await confirm(service, id, { ...user.options, body });
  return read(service, id, user.options);
};

const chargeOf = async (service: TestHost, id: string) => present((await atProvider(service, id)).charges.at(-1));

const UNKNOWN = {
  ...{ type: null, wallet_type: null, card_brand: null, last_four: null, expiry_month: null, expiry_year: null },
  ...{ funding: null, country: null, bank_name: null, three_d_secure: null, fingerprint: null },
};

/**
 * The method of the last charge in the service's form. PayPal reports no fingerprint, and Square reports no
 * authentication.
 */
export const detailsInLedger = async (service: TestHost, id: string) => {
  const { provider, payment_method_details: shown } = await chargeOf(service, id);
  const fingerprint =
    shown.fingerprint && provider !== 'provider_b' ? expect.stringMatching(/^fp_[0-9a-f]{24}$/) : null;
  const isAuthenticated = shown.three_d_secure && provider !== 'provider_c';
  const three_d_secure = isAuthenticated ? expect.objectContaining(shown.three_d_secure) : null;
  return { ...UNKNOWN, ...shown, fingerprint, three_d_secure };
};

/** Waits until a pending charge settles, Square reports its fee, and the service has read the facts once. */
export const untilFactsRead = async (service: TestHost): Promise<void> => {
  for (let read = 0; read < 2; read += 1) {
    await service.settle();
    await service.advance(2 * MINUTE_SECONDS);
  }
  await service.settle();
};

/** Expects the payment to show the ledger's method and fee. @returns the payment as the platform admin reads it */
export const expectFactsOfLedger = async (service: TestHost, admin: User, id: string) => {
  const payment = await read(service, id, admin.options);
  const { fee } = await chargeOf(service, id);
  expect(payment.payment_method_details).toEqual(await detailsInLedger(service, id));
  const settled = { fee_cents: fee, net_cents: payment.total_cents - fee, currency: 'USD' };
  expect(payment.settlement).toEqual(payment.status === 'succeeded' ? expect.objectContaining(settled) : null);
  return payment;
};

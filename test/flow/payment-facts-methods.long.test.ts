/** @module The method and settlement of each kind of succeeded payment, compared with the provider's ledger. */

import { beforeAll, describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { PATIENT, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { attemptWith, detailsInLedger, expectFactsOfLedger, type PaidWith, untilFactsRead } from './ledger-facts.ts';
import { refund, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });
let user: User;
let admin: User;
beforeAll(async () => {
  user = await signIn(service, { expires_in: YEAR_SECONDS });
  admin = await signInAdmin(service);
});

const PAID: readonly PaidWith[] = [
  ['provider_a', 'pm_card_visa'],
  ['provider_a', 'pm_card_visa_debit'],
  ['provider_a', 'pm_card_mastercard'],
  ['provider_a', 'pm_card_amex'],
  ['provider_a', 'pm_card_unionpay'],
  ['provider_a', 'pm_card_br'],
  ['provider_a', 'pm_sim_ok_3_then_lost'],
  ['provider_a', 'pm_sim_apple_pay'],
  ['provider_a', 'pm_sim_google_pay'],
  ['provider_a', 'tok_sim_apple_pay'],
  ['provider_a', 'pm_sim_processing_ok'],
  ['provider_b', 'SIM-OK'],
  ['provider_b', 'SIM-CARD'],
  ['provider_b', 'SIM-OK-3-THEN-LOST'],
  ['provider_b', 'SIM-PENDING-OK'],
  ['provider_c', 'cnon:card-nonce-ok'],
  ['provider_c', 'cnon:sim-ok-3-then-lost'],
  ['provider_c', 'bnon:bank-nonce-ok'],
];

describe('a succeeded payment', () => {
  test.each(PAID)('at %s with %s shows the ledger’s method and fee', async (provider, method) => {
    const {
      id,
      status,
      payment_method_details: first,
    } = await attemptWith(service, user, { with: [provider, method] });
    if (status === 'succeeded') expect(first).toEqual(await detailsInLedger(service, id));
    await untilFactsRead(service);
    expect(await expectFactsOfLedger(service, admin, id)).toMatchObject({ status: 'succeeded', decline: null });
    const { body: made } = await refund(service, id, { body: { amount_cents: 100 }, ...admin.options });
    await untilFactsRead(service);
    const { body: known } = await service.get(`/refunds/${made.id}`, admin.options);
    expect(known).toMatchObject({ status: 'succeeded' });
    // Square reports a fee for a refund only if Square returns a part of the fee.
    const taken = expect.objectContaining({ fee_cents: 0, net_cents: -100, currency: 'USD' });
    expect(known.settlement).toEqual(provider === 'provider_c' ? null : taken);
  });

  test.each([
    ['provider_a', 'pm_card_authenticationRequired', { result: 'authenticated', version: '2.2.0' }],
    ['provider_b', 'SIM-CARD-3DS', { result: 'authenticated' }],
  ])('at %s shows the authentication of %s', async (provider, method, three_d_secure) => {
    const { id, payment_method_details: first } = await attemptWith(service, user, { with: [provider, method] });
    expect(first).toBeNull();
    await service.authenticate(id);
    await untilFactsRead(service);
    expect(await expectFactsOfLedger(service, admin, id)).toMatchObject({
      status: 'succeeded',
      payment_method_details: { three_d_secure },
    });
  });

  test('at Square shows the card after a verification', async () => {
    const method = ['provider_c', 'cnon:card-nonce-requires-verification'] as const;
    const { id } = await attemptWith(service, user, { with: method, verification_token: 'verf:1' });
    await untilFactsRead(service);
    expect(await expectFactsOfLedger(service, admin, id)).toMatchObject({ status: 'succeeded' });
  });
});

/** @module The wallets and fingerprints of methods. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { present } from '../builders/present.ts';
import { PATIENT, read, signIn, type User } from './flow.ts';
import { startTestHost, type TestHost, withHost } from './host.ts';
import { attemptWith, type PaidWith, untilFactsRead } from './ledger-facts.ts';
import { saveReadyMethod } from './payers.ts';
import { signInAdmin } from './refunders.ts';

const OURS = /^fp_[0-9a-f]{24}$/;

/** A payment's method, at provider_a by default. */
const paidWith = async (service: TestHost, user: User, method: string | PaidWith) => {
  const { id } = await attemptWith(service, user, {
    with: typeof method === 'string' ? ['provider_a', method] : method,
  });
  await service.settle();
  return (await read(service, id, user.options)).payment_method_details;
};

describe('a card in a wallet', () => {
  const service = withHost({ frozen: true, env: PATIENT });

  test.each([
    ['pm_sim_apple_pay', 'apple_pay', 'visa'],
    ['pm_sim_google_pay', 'google_pay', 'mastercard'],
    ['tok_sim_apple_pay', 'apple_pay', 'visa'],
    ['tok_sim_google_pay', 'google_pay', 'mastercard'],
  ])('(%s) shows the wallet %s, and a search by wallet finds its payment', async (method, wallet_type, card_brand) => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const { id, payment_method_details } = await attemptWith(service, user, { with: ['provider_a', method] });
    expect(payment_method_details).toMatchObject({ type: 'card', wallet_type, card_brand });
    await untilFactsRead(service);
    const query = new URLSearchParams({ wallet_type, user_id: user.userId });
    const { body } = await service.get(`/admin/payments?${query}`, admin.options);
    expect(body.data.map((one) => one.id)).toEqual([id]);
    const csv = await service.get(`/admin/payments?${query}`, { ...admin.options, headers: { accept: 'text/csv' } });
    const [names, row] = String(csv.body)
      .split('\r\n')
      .map((line) => line.split(','));
    const cells = Object.fromEntries(present(names).map((name, index) => [name, present(row)[index]]));
    expect(cells).toMatchObject({ method_type: 'card', wallet_type, card_brand, decline_code: '' });
    expect(cells).toMatchObject({ fee_cents: '103', net_cents: '2397', settlement_currency: 'USD' });
  });
});

describe('a fingerprint', () => {
  let service: TestHost;
  beforeAll(async () => {
    const port = await freePort();
    const second = {
      PROVIDER_C: 'stripe',
      PROVIDER_C_BASE_URL: `http://127.0.0.1:${port}/_local/providers/stripe`,
      PROVIDER_C_API_KEY: 'sk_test_local_provider_c',
      PROVIDER_C_PUBLISHABLE_KEY: 'pk_test_local_provider_c',
      PROVIDER_C_WEBHOOK_SECRET: 'whsec_local_provider_c',
    };
    service = await startTestHost({
      frozen: true,
      port,
      env: { ...PATIENT, ...second, FINGERPRINT_SECRET: 'a secret' },
    });
  });
  afterAll(() => service.stop());

  test('is equal for equal cards of a slot, saved or not, and different for other cards', async () => {
    const [user, other] = [await signIn(service), await signIn(service)];
    const [visa, again, debit] = [
      await paidWith(service, user, 'pm_card_visa'),
      await paidWith(service, other, 'tok_visa'),
      await paidWith(service, user, 'pm_card_visa_debit'),
    ];
    const saved = await saveReadyMethod(service, user.options);
    expect(visa.fingerprint).toMatch(OURS);
    expect([again.fingerprint, saved.fingerprint]).toEqual([visa.fingerprint, visa.fingerprint]);
    expect(debit.fingerprint).toMatch(OURS);
    expect(debit.fingerprint).not.toBe(visa.fingerprint);
  });

  test('is different for the same card in another slot of the same provider', async () => {
    const user = await signIn(service);
    const here = await paidWith(service, user, 'pm_card_visa');
    const there = await paidWith(service, user, ['provider_c', 'pm_card_visa']);
    expect(there).toEqual({ ...here, fingerprint: expect.stringMatching(OURS) });
    expect(there.fingerprint).not.toBe(here.fingerprint);
  });
});

describe('a service without a fingerprint secret', () => {
  const service = withHost({ frozen: true, env: { ...PATIENT, FINGERPRINT_SECRET: '' } });

  test.each([
    ['provider_a', 'pm_card_visa'],
    ['provider_c', 'cnon:card-nonce-ok'],
  ])('has no fingerprint on a payment at %s', async (provider, method) => {
    const user = await signIn(service);
    expect(await paidWith(service, user, [provider, method])).toMatchObject({ type: 'card', fingerprint: null });
  });

  test('has no fingerprint on a saved method', async () => {
    const user = await signIn(service);
    expect(await saveReadyMethod(service, user.options)).toMatchObject({ funding: 'credit', fingerprint: null });
  });
});

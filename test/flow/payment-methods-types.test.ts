/** @module A request names the type of the method to save. */

import { describe, expect, test } from 'vitest';
import { methodBody, rawCardBody } from '../builders/payer.ts';
import { atStripe } from './at-stripe.ts';
import { partitionOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { methodAtProvider, ONLY_A, saveMethod } from './payers.ts';

const service = withHost({ frozen: true, env: { ...ONLY_A, ALLOW_RAW_CARDS: 'true' } });

const MISMATCH = {
  status: 400,
  body: { code: 'VALIDATION_ERROR', details: [{ path: 'type', rule: 'type_mismatch' }] },
};
const asBank = (token: string) => methodBody({ provider_payment_method_token: token, type: 'bank_account' });

/** The ids of all methods attached to a customer at the provider. */
const attached = async (): Promise<string[]> =>
  (await service.ledger()).payment_methods.filter(({ customer }) => customer !== null).map(({ id }) => id);

describe('a save of another type than requested', () => {
  test.each(['pm_card_visa', 'tok_visa', 'pm_card_authenticationRequiredOnSetup'])(
    'refuses the token %s, stores nothing, and detaches the method again',
    async (token) => {
      const user = await signIn(service);
      const before = await attached();
      const keyed = { ...user.options, idempotencyKey: `type-${token}` };
      expect(await service.post('/payment-methods', asBank(token), keyed)).toMatchObject(MISMATCH);
      expect(await service.post('/payment-methods', asBank(token), keyed)).toMatchObject(MISMATCH);
      expect((await service.get('/payment-methods', user.options)).body).toEqual([]);
      expect(await attached()).toEqual(before);
      const card = await service.post('/payment-methods', { ...asBank(token), type: 'card' }, user.options);
      expect(card).toMatchObject({ status: 201, body: { type: 'card' } });
    },
  );

  test('is refused for a raw card number', async () => {
    const user = await signIn(service);
    const answer = await service.post('/payment-methods', rawCardBody({ type: 'bank_account' }), user.options);
    expect(answer).toMatchObject(MISMATCH);
    expect((await service.get('/payment-methods', user.options)).body).toEqual([]);
  });

  test('is refused for a saved method, which stays attached', async () => {
    const user = await signIn(service);
    const { id, provider_payment_method_id: theirs } = await saveMethod(service, user.options);
    for (const name of [id, theirs]) {
      expect(await service.post('/payment-methods', asBank(name), user.options)).toMatchObject(MISMATCH);
    }
    expect(await methodAtProvider(service, theirs)).toMatchObject({ customer: expect.stringMatching(/^cus_/) });
    expect((await partitionOf(service, `PM#${id}`)).length).toBeGreaterThan(0);
  });

  test('is refused for a method known only to the provider, which stays attached', async () => {
    const user = await signIn(service);
    const { provider_payment_method_id: saved } = await saveMethod(service, user.options);
    const { customer } = await methodAtProvider(service, saved);
    const { id } = await atStripe(service, 'POST payment_methods/pm_card_amex/attach', { customer });
    expect(await service.post('/payment-methods', asBank(id), user.options)).toMatchObject(MISMATCH);
    expect(await methodAtProvider(service, id)).toMatchObject({ customer });
  });

  test('is refused with the provider’s error if detaching fails, and a retry detaches the method', async () => {
    const user = await signIn(service);
    const before = await attached();
    await service.fault({ action: 'error_500', path: '/detach', times: 1 });
    const keyed = { ...user.options, idempotencyKey: 'detach-later' };
    expect(await service.post('/payment-methods', asBank('pm_card_visa'), keyed)).toMatchObject({ status: 502 });
    expect(await service.post('/payment-methods', asBank('pm_card_visa'), keyed)).toMatchObject(MISMATCH);
    expect(await attached()).toEqual(before);
  });
});

/** @module A method saved by a payment is attached only to a customer of the payment's owner. */

import { beforeEach, describe, expect, test } from 'vitest';
import { intentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { confirm, confirmInBrowser, createIntent, read } from './flow.ts';
import { withHost } from './host.ts';
import { type Company, company, createCustomer, methodAtProvider, removeMember, saveMethod } from './payers.ts';
import type { MethodBody, PaymentBody } from './routes.ts';
import { takenSince } from './use/charges.ts';

const service = withHost({ frozen: true });

const TOKENS = { provider_a: 'pm_card_mastercard', provider_b: 'SIM-OK', provider_c: 'cnon:card-nonce-ok' } as const;
const SLOTS = ['provider_a', 'provider_b', 'provider_c'] as const;
type Slot = (typeof SLOTS)[number];

/** The slots that charge a one-time token. PayPal only saves such a token, and its payers approve an order instead. */
const TAKES_TOKENS = ['provider_a', 'provider_c'] as const;

const PERSONAL = { organization_id: null } as const;
const SAVING = { setup_future_usage: 'off_session' } as const;

let acme: Company;
beforeEach(async () => {
  await service.clearFaults();
  acme = await company(service);
});

const ownCardOf = (slot: Slot) =>
  saveMethod(service, acme.billing.options, {
    ...PERSONAL,
    provider_id: slot,
    provider_payment_method_token: slot === 'provider_a' ? 'pm_card_visa' : TOKENS[slot],
  });

/** An organization's payment with the billing member's own card and setup_future_usage. */
const lent = async (
  slot: Slot,
): Promise<{ readonly card: MethodBody; readonly payment: PaymentBody; path: string }> => {
  const card = await ownCardOf(slot);
  const fields = { provider_id: slot, organization_id: acme.id, payment_method_id: card.id, ...SAVING };
  const payment = await createIntent(service, acme.billing, fields);
  return { card, payment, path: `/payments/intents/${payment.id}` };
};

const savedOfAcme = async () =>
  (await service.get(`/payment-methods?organization_id=${acme.id}`, acme.owner.options)).body;

/**
 * Expects exactly one saved method of the organization. The record and the provider attach the method to the
 * organization's customer.
 */
const expectKeptForAcme = async (card: MethodBody) => {
  const methods = await savedOfAcme();
  expect(methods).toHaveLength(1);
  const kept = present(methods[0]);
  expect(kept.customer_id).not.toBe(card.customer_id);
  const { body: customer } = await service.get(`/customers/${kept.customer_id}`, acme.owner.options);
  expect(customer).toMatchObject({ organization_id: acme.id, user_id: null });
  const there = await methodAtProvider(service, present(kept).provider_payment_method_id);
  expect(present(there).customer).toBe(customer.provider_customer_id);
  return kept;
};

/** Expects that the former member cannot charge the method, even with the client secret of their own payment. */
const expectOutOfReach = async (kept: MethodBody): Promise<void> => {
  await removeMember(service, acme, acme.billing);
  const own = await createIntent(service, acme.billing, { ...PERSONAL, total_cents: 66_600 });
  expect((await confirmInBrowser(service, own, kept.provider_payment_method_id)).status).toBe(400);
  expect((await takenSince(service)).filter(({ amount }) => amount === 66_600)).toEqual([]);
};

describe.each(TAKES_TOKENS)('a token that replaces a member’s own card at %s', (slot) => {
  test.each(['an update', 'a removal of the card and a confirmation', 'a confirmation'])(
    'is saved only for the organization, by %s',
    async (how) => {
      const { card, payment, path } = await lent(slot);
      const token = { payment_method_id: TOKENS[slot] };
      const isUpdated = how === 'an update';
      const update = isUpdated ? token : { payment_method_id: null };
      if (how !== 'a confirmation') {
        expect(await service.put(path, update, acme.owner.options)).toMatchObject({ status: 200 });
      }
      const paid = await confirm(service, payment.id, { ...acme.owner.options, body: isUpdated ? {} : token });
      expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
      await service.settle();
      const kept = await expectKeptForAcme(card);
      const shown = await read(service, payment.id, acme.owner.options);
      expect(shown).toMatchObject({ payment_method_id: kept.id, customer_id: kept.customer_id });
      if (slot === 'provider_a') await expectOutOfReach(kept);
    },
  );

  test('is saved only for the organization after the member’s card was declined', async () => {
    const fails = slot === 'provider_a' ? 'pm_card_chargeCustomerFail' : 'cnon:card-nonce-sim-fail-on-charge';
    const sent = { ...PERSONAL, provider_id: slot, provider_payment_method_token: fails };
    const card = await saveMethod(service, acme.billing.options, sent);
    const fields = { provider_id: slot, organization_id: acme.id, payment_method_id: card.id, ...SAVING };
    const payment = await createIntent(service, acme.billing, fields);
    expect((await confirm(service, payment.id, acme.billing.options)).status).toBe(402);
    const paid = await confirm(service, payment.id, {
      ...acme.owner.options,
      body: { payment_method_id: TOKENS[slot] },
    });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    const kept = await expectKeptForAcme(card);
    if (slot === 'provider_a') await expectOutOfReach(kept);
  });
});

test('a card that the browser sends instead of a member’s own card is not attached to the member’s customer', async () => {
  const fails = { ...PERSONAL, provider_payment_method_token: 'pm_card_chargeCustomerFail' };
  const card = await saveMethod(service, acme.billing.options, fails);
  const fields = { organization_id: acme.id, payment_method_id: card.id, ...SAVING };
  const payment = await createIntent(service, acme.billing, fields);
  expect((await confirm(service, payment.id, acme.billing.options)).status).toBe(402);
  const known = new Set((await service.ledger()).payment_methods.map(({ id }) => id));
  const shown = await read(service, payment.id, acme.owner.options);
  const answer = await confirmInBrowser(service, shown, TOKENS.provider_a);
  expect(answer.body).toMatchObject({ status: 'succeeded' });
  await service.settle();
  expect(await read(service, payment.id, acme.owner.options)).toMatchObject({ status: 'succeeded' });
  expect(await savedOfAcme()).toEqual([]);
  const added = (await service.ledger()).payment_methods.filter(({ id }) => !known.has(id));
  expect(added.filter(({ customer }) => customer !== null)).toEqual([]);
});

describe.each(SLOTS)('a member’s own card at %s', (slot) => {
  test('pays for the organization under the member’s customer, and is not saved for the organization', async () => {
    const { card, payment } = await lent(slot);
    const paid = await confirm(service, payment.id, acme.billing.options);
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    expect(await savedOfAcme()).toEqual([]);
    const taken = (await takenSince(service)).at(-1);
    expect(taken).toMatchObject({ amount: payment.total_cents, method: card.provider_payment_method_id });
  });
});

describe.each(SLOTS)('a member’s own customer at %s', (slot) => {
  const DENIED = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };

  test('cannot be named for an organization’s payment by a create or an update', async () => {
    const customer = await createCustomer(service, acme.billing.options, { ...PERSONAL, provider_id: slot });
    const named = { customer_id: customer.id };
    const body = intentBody({ provider_id: slot, organization_id: acme.id, ...named });
    expect(await service.post('/payments/intents', body, acme.billing.options)).toMatchObject(DENIED);
    const fields = { provider_id: slot, organization_id: acme.id };
    const payment = await createIntent(service, acme.billing, fields);
    await service.settle();
    await service.clearProviderRequests();
    const path = `/payments/intents/${payment.id}`;
    expect(await service.put(path, named, acme.billing.options)).toMatchObject(DENIED);
    expect(await service.providerRequests()).toEqual([]);
    expect(await read(service, payment.id, acme.owner.options)).toMatchObject({ customer_id: payment.customer_id });
  });
});

/**
 * @module The usage rule also covers a payment's stored method, even if the payment stores only its provider id.
 * Examples are a token saved later, or a saved card tried in a browser.
 */

import { beforeEach, describe, expect, test } from 'vitest';
import { PUBLISHABLE_KEY } from '../../infra/local/machine/environment.ts';
import { intentBody } from '../builders/intent.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { changeTable, confirm, confirmInBrowser, createIntent, read, signIn, storedPayment } from './flow.ts';
import { withHost } from './host.ts';
import { type Company, company, createCustomer, removeMember, saveMethod, storedRecord } from './payers.ts';
import type { MethodBody, PaymentBody } from './routes.ts';
import { takenSince } from './use/charges.ts';

const service = withHost({ frozen: true });

const PERSONAL = { provider_id: 'provider_a', organization_id: null } as const;

const DENIED = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };
const NO_METHOD = { status: 400, body: { code: 'PAYMENT_METHOD_REQUIRED' } };

let acme: Company;
beforeEach(async () => {
  acme = await company(service);
});

const save = (token: string) =>
  saveMethod(service, acme.billing.options, { ...PERSONAL, provider_payment_method_token: token });

/** A card sent to Stripe by a browser. Its id is not the id of a saved method yet. */
const newCard = async (token = 'tok_visa'): Promise<string> => {
  const { body } = await service.request('POST', '/_local/providers/stripe/v1/payment_methods', {
    headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ type: 'card', 'card[token]': token }).toString(),
  });
  return body.id;
};

/** Clears the journal. @returns a reader of the later charges and attempts */
const begin = async () => {
  await service.settle();
  await service.clearProviderRequests();
  const known = new Set((await takenSince(service)).map(({ id }) => id));
  return async () => {
    await service.settle();
    const confirmed = (await service.providerRequests()).filter(({ path }) => path.endsWith('/confirm'));
    return { tries: confirmed.length, taken: await takenSince(service, known) };
  };
};
const NOTHING = { tries: 0, taken: [] };

/** Sets the saved card's customer on the payment, as on a payment that used a saved card before. */
const withCustomerOf = async (payment: PaymentBody, saved: MethodBody): Promise<void> => {
  const { providerCustomerId } = await storedRecord(service, 'PM', saved.id);
  await changeTable(service, { put: { ...(await storedPayment(service, payment.id)), providerCustomerId } });
};

describe('a payment by a token that a member later saves as a personal method', () => {
  const held = async () => {
    const card = await newCard();
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id, payment_method_id: card });
    const saved = await save(card);
    await withCustomerOf(payment, saved);
    const raise = () => service.put(`/payments/intents/${payment.id}`, { total_cents: 77_700 }, acme.owner.options);
    return { payment, saved, raise };
  };

  test('lets no owner charge the payment or raise its amount during the membership', async () => {
    const { payment, raise } = await held();
    const done = await begin();
    expect(await raise()).toMatchObject(DENIED);
    expect(await confirm(service, payment.id, acme.owner.options)).toMatchObject(DENIED);
    expect(await done()).toEqual(NOTHING);
    expect(await read(service, payment.id, acme.owner.options)).toMatchObject({
      status: 'created',
      total_cents: payment.total_cents,
    });
  });

  test('lets no owner charge the payment or raise its amount after the member leaves', async () => {
    const { payment, raise } = await held();
    await removeMember(service, acme, acme.billing);
    const done = await begin();
    expect(await raise()).toMatchObject(NO_METHOD);
    expect(await confirm(service, payment.id, acme.owner.options)).toMatchObject(NO_METHOD);
    expect(await done()).toEqual(NOTHING);
    expect(await read(service, payment.id, acme.owner.options)).toMatchObject({ status: 'created' });
  });

  test('charges the saved method if the member who saved it confirms', async () => {
    const { payment, saved } = await held();
    const done = await begin();
    const answer = await confirm(service, payment.id, acme.billing.options);
    expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await done()).taken).toMatchObject([{ method: saved.provider_payment_method_id }]);
    const shown = await read(service, payment.id, acme.billing.options);
    expect(shown).toMatchObject({ payment_method_id: saved.id });
  });

  test('is not charged by a retried attempt after the member leaves', async () => {
    const card = await newCard();
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id, payment_method_id: card });
    await service.fault({ provider: 'provider_a', path: '/confirm', action: 'error_500' });
    expect(await confirm(service, payment.id, acme.billing.options)).toMatchObject({ status: 202 });
    await service.clearFaults();
    await withCustomerOf(payment, await save(card));
    await removeMember(service, acme, acme.billing);
    const done = await begin();
    await service.advance(2 * MINUTE_SECONDS);
    expect(await done()).toEqual(NOTHING);
    expect(await read(service, payment.id, acme.owner.options)).toMatchObject({ status: 'failed' });
  });
});

describe('a member’s saved card tried in the browser', () => {
  const sync = ({ provider_payment_id: id }: { readonly provider_payment_id: string }) =>
    service.post(`/payments/sync/${id}`, {}, acme.owner.options);

  const triedInBrowser = async (token: string) => {
    const lent = await save('pm_card_chargeCustomerFail');
    const other = await save(token);
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id, payment_method_id: lent.id });
    // Stripe learns the lender's customer from a declined attempt, and the attempt's events are lost.
    const { providerCustomerId } = await storedRecord(service, 'PM', lent.id);
    expect((await confirm(service, payment.id, acme.billing.options)).status).toBe(402);
    expect((await storedPayment(service, payment.id)).lenderCustomerId).toBe(providerCustomerId);
    await service.webhookMode('drop');
    await confirmInBrowser(
      service,
      { provider_payment_id: payment.provider_payment_id, client_secret: payment.client_secret },
      other.provider_payment_method_id,
    );
    return { payment, lent, other };
  };

  const expectOutOfReach = async ({ id }: { readonly id: string }): Promise<void> => {
    await service.webhookMode('normal');
    const done = await begin();
    expect(await confirm(service, id, acme.owner.options)).toMatchObject(DENIED);
    await removeMember(service, acme, acme.billing);
    expect(await confirm(service, id, acme.owner.options)).toMatchObject(NO_METHOD);
    expect(await done()).toEqual(NOTHING);
  };

  test('does not replace the payment’s card after a decline', async () => {
    const { payment, lent } = await triedInBrowser('pm_card_chargeCustomerFail');
    expect(await sync(payment)).toMatchObject({
      status: 200,
      body: { status: 'failed', payment_method_id: lent.id },
    });
    expect(await storedPayment(service, payment.id)).toMatchObject({ methodRef: lent.provider_payment_method_id });
    await expectOutOfReach(payment);
  });

  test('cannot be charged by the owner after it required authentication', async () => {
    const { payment, lent } = await triedInBrowser('pm_card_authenticationRequired');
    expect(await sync(payment)).toMatchObject({ status: 200, body: { status: 'pending' } });
    await service.authenticate(payment.id, 'failure');
    expect(await sync(payment)).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect(await storedPayment(service, payment.id)).toMatchObject({ methodRef: lent.provider_payment_method_id });
    await expectOutOfReach(payment);
  });
});

describe('an update after a browser decline with a pending event', () => {
  const DECLINED = 'tok_chargeDeclinedInsufficientFunds';

  const failedInBrowser = async (fields: object = {}) => {
    const payment = await createIntent(service, acme.billing, { ...PERSONAL, ...fields });
    const tried = await newCard(DECLINED);
    await service.webhookMode('drop');
    const { provider_payment_id, client_secret } = payment;
    const inBrowser = await confirmInBrowser(service, { provider_payment_id, client_secret }, tried);
    expect(inBrowser.status).toBe(402);
    await service.settle();
    await service.webhookMode('normal');
    const update = async (body: object) => {
      const { options } = acme.billing;
      const answer = await service.put(`/payments/intents/${payment.id}`, body, options);
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    };
    return { payment, tried, update };
  };

  const expectCharged = async (payment: PaymentBody, method: string): Promise<void> => {
    const done = await begin();
    const answer = await confirm(service, payment.id, acme.billing.options);
    expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await done()).taken).toMatchObject([{ method }]);
  };

  test('charges the named saved card', async () => {
    const saved = await save('pm_card_visa');
    const { payment, update } = await failedInBrowser();
    expect(await update({ payment_method_id: saved.id })).toMatchObject({ payment_method_id: saved.id });
    expect(await storedPayment(service, payment.id)).toMatchObject({
      paymentMethodId: saved.id,
      methodRef: saved.provider_payment_method_id,
    });
    await expectCharged(payment, saved.provider_payment_method_id);
  });

  test('keeps the payment’s card if the update changes only the amount', async () => {
    const card = await newCard();
    const { payment, update } = await failedInBrowser({ payment_method_id: card });
    await update({ total_cents: 4_300 });
    expect(await storedPayment(service, payment.id)).toMatchObject({ methodRef: card });
    await expectCharged(payment, card);
  });

  test('leaves the payment without a method if the update clears the card', async () => {
    const { payment, update } = await failedInBrowser({ payment_method_id: await newCard() });
    expect(await update({ payment_method_id: null })).toMatchObject({ status: 'requires_payment_method' });
    expect(await confirm(service, payment.id, acme.billing.options)).toMatchObject(NO_METHOD);
  });

  test('charges the named card even if an older version stored two methods', async () => {
    const saved = await save('pm_card_visa');
    const { payment, tried } = await failedInBrowser({ payment_method_id: saved.id });
    await changeTable(service, { put: { ...(await storedPayment(service, payment.id)), methodRef: tried } });
    await expectCharged(payment, saved.provider_payment_method_id);
  });
});

describe('an unsaved card of the payer’s own customer at Stripe', () => {
  const STORED = {
    status: 400,
    body: {
      code: 'VALIDATION_ERROR',
      details: [
        {
          path: 'payment_method_id',
          rule: 'stored',
          message: 'is stored at the provider; save it as a payment method first',
        },
      ],
    },
  };
  /** A payer with a customer at Stripe. `attach` attaches the card to that customer, as the merchant can. */
  const holding = async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options);
    const card = await newCard();
    const fields = { customer: customer.provider_customer_id };
    const attach = () => atStripe(service, `POST payment_methods/${card}/attach`, fields);
    return { user, card, attach };
  };

  test('cannot be charged through a create, an update or a confirm', async () => {
    const { user, card, attach } = await holding();
    await attach();
    const open = await createIntent(service, user);
    const done = await begin();
    const create = await service.post('/payments/intents', intentBody({ payment_method_id: card }), user.options);
    expect(create).toMatchObject(STORED);
    const update = await service.put(`/payments/intents/${open.id}`, { payment_method_id: card }, user.options);
    expect(update).toMatchObject(STORED);
    const confirmed = await confirm(service, open.id, { ...user.options, body: { payment_method_id: card } });
    expect(confirmed).toMatchObject(STORED);
    expect(await done()).toEqual(NOTHING);
    expect((await service.get('/payments', user.options)).body.meta.total).toBe(1);
    expect(await read(service, open.id, user.options)).toMatchObject({ status: 'requires_payment_method' });
  });

  test('can pay once it is saved', async () => {
    const { user, card, attach } = await holding();
    await attach();
    const saved = await saveMethod(service, user.options, { provider_payment_method_token: card });
    const paid = await createIntent(service, user, { payment_method_id: saved.id });
    expect(await confirm(service, paid.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  });

  test('does not block a repeated create if the card was attached after the first create', async () => {
    const { user, card, attach } = await holding();
    const options = { ...user.options, idempotencyKey: 'a-card-that-is-attached-later' };
    const create = () => service.post('/payments/intents', intentBody({ payment_method_id: card }), options);
    const first = await create();
    expect(first).toMatchObject({ status: 201, body: { status: 'created' } });
    await attach();
    expect(await create()).toMatchObject({ status: 201, body: { id: first.body.id } });
  });

  test('cannot be looked up while Stripe does not respond, so no payment is created', async () => {
    const { user, card } = await holding();
    await service.fault({ path: `/v1/payment_methods/${card}`, method: 'GET', action: 'reset', times: 5 });
    const create = () => service.post('/payments/intents', intentBody({ payment_method_id: card }), user.options);
    expect(await create()).toMatchObject({ status: 503 });
    await service.clearFaults();
    expect((await service.get('/payments', user.options)).body.meta.total).toBe(0);
    expect(await create()).toMatchObject({ status: 201 });
  });
});

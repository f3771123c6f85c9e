import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { HOUR_MS } from '../../shared/core/time.ts';
import type { ConfirmIntent, KnownPayment, ProviderPayment } from '../../shared/providers/payment-port.ts';
import { readPayPalOrder } from '../../shared/providers/paypal/report.ts';
import { paypalOrderSchema } from '../../shared/providers/paypal/schemas.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL } from './provider-subjects.ts';
import { testProvider } from './provider-suite.ts';

testProvider(PAYPAL);

const TOKEN_LIFETIME_MS = 9 * HOUR_MS;
const RETURN_URL = 'https://shop.example/back';

let rig: ProviderRig;
let provider: PaymentProvider;
beforeEach(async () => {
  rig = await openRig(PAYPAL);
  ({ provider } = rig);
});
afterEach(() => rig.close());

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

interface Wish {
  readonly method?: string;
  readonly amountCents?: number;
  readonly currency?: string;
  readonly description?: string;
  readonly saveMethod?: boolean;
  readonly customerId?: string;
}

const PAYMENT_ID = 'pay_000000000000000000000001';
const OUR_CUSTOMER = 'cust_000000000000000000000001';
/** The format of PayPal's customer ids. */
const GIVEN_ID = /^[0-9A-Z]{1,22}$/;

const createIntent = ({ saveMethod = false, ...wish }: Wish = {}) =>
  provider.createIntent({
    amountCents: 2_500,
    currency: 'USD',
    description: undefined,
    method: undefined,
    customerId: undefined,
    ...wish,
    saveMethod,
    idempotencyKey: `${PAYMENT_ID}:create`,
    paymentId: PAYMENT_ID,
    returnUrl: RETURN_URL,
  });
const create = async (wish: Wish = {}): Promise<ProviderPayment> => doneValue(await createIntent(wish));

const confirm = (
  { intentId }: ProviderPayment,
  method?: string,
  { attempt = 1, ...charged }: Partial<ConfirmIntent> & { readonly attempt?: number } = {},
) =>
  provider.confirmIntent({
    ...charged,
    idempotencyKey: `${PAYMENT_ID}:confirm:${attempt}`,
    intentId,
    paymentId: PAYMENT_ID,
    amountCents: 2_500,
    currency: 'USD',
    method,
    customerId: undefined,
    returnUrl: charged.returnUrl,
  });

const find = async ({ intentId }: ProviderPayment, status: KnownPayment['status'], method?: string) =>
  provider.findPayment({ intentId, attemptRef: undefined, method, status });

const update = ({ intentId }: ProviderPayment, wish: Wish & { readonly clears?: boolean } = {}) =>
  provider.updateIntent({
    idempotencyKey: 'u',
    intentId,
    amountCents: wish.amountCents ?? 2_500,
    currency: wish.currency ?? 'USD',
    description: wish.description,
    method: wish.clears ? null : wish.method,
    customerId: wish.customerId,
    saveMethod: wish.saveMethod ?? false,
    returnUrl: RETURN_URL,
  });

const approve = (payer?: string) =>
  rig.control('POST', `/payments/${PAYMENT_ID}/authenticate`, { outcome: 'success', ...(payer && { payer }) });
const refuse = () => rig.control('POST', `/payments/${PAYMENT_ID}/authenticate`, { outcome: 'failure' });

const sentTo = (path: string) =>
  rig.exchanges.filter((exchange) => exchange.path.endsWith(path)).map(({ sent }) => JSON.parse(sent || '{}'));
const calls = (path: string) => rig.exchanges.filter((exchange) => exchange.path.endsWith(path));

const timesCharged = async (): Promise<number> => {
  const { charges } = await rig.control<{ charges: { status: string }[] }>('GET', '/ledger');
  return charges.filter(({ status }) => status === 'succeeded').length;
};

describe('an order without a saved method', () => {
  test('has an approval page for the payer and the return URL', async () => {
    const made = await create();
    expect(made).toMatchObject({
      status: 'requires_payment_method',
      clientSecret: made.intentId,
      nextAction: { type: 'redirect_to_url', url: expect.stringContaining(made.intentId) },
    });
    const [{ payment_source: source, purchase_units: units }] = sentTo('/orders');
    expect(source.paypal.experience_context).toMatchObject({
      user_action: 'PAY_NOW',
      shipping_preference: 'NO_SHIPPING',
      return_url: RETURN_URL,
      cancel_url: RETURN_URL,
    });
    expect(source.paypal).not.toHaveProperty('attributes');
    expect(units).toMatchObject([{ custom_id: PAYMENT_ID, invoice_id: PAYMENT_ID }]);
  });

  test('waits for its payer if it is confirmed too early, and moves no money', async () => {
    const made = await create();
    expect(await confirm(made)).toMatchObject({
      kind: 'done',
      value: { status: 'pending', nextAction: { type: 'redirect_to_url', url: made.nextAction?.url } },
    });
    expect(await find(made, 'pending')).toMatchObject({ kind: 'done', value: { status: 'pending' } });
    expect(await timesCharged()).toBe(0);
  });

  test('waits for our capture after the payer’s approval, and is captured once', async () => {
    const made = await create();
    await approve();
    const found = doneValue(await find(made, 'requires_payment_method'));
    expect(found).toMatchObject({ status: 'pending', awaitsCapture: true, nextAction: undefined });
    const captured = doneValue(await confirm(made));
    expect(captured).toMatchObject({ status: 'succeeded', intentId: made.intentId, ourPaymentId: PAYMENT_ID });
    expect(captured.paymentId).not.toBe(made.intentId);
    expect(doneValue(await confirm(made))).toEqual(captured);
    expect(doneValue(await confirm(made, undefined, { attempt: 2 }))).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged()).toBe(1);
  });

  test('reports that an open attempt did not arrive if the payer approves during the attempt', async () => {
    const made = await create();
    await approve();
    expect(doneValue(await find(made, 'processing'))).toMatchObject({ status: 'requires_payment_method' });
    expect(doneValue(await find(made, 'processing'))).not.toHaveProperty('awaitsCapture');
  });

  test.each(['failed', 'canceled'] as const)(
    'leaves the record’s status %s unchanged after its approval',
    async (status) => {
      const made = await create();
      await approve();
      expect(doneValue(await find(made, status))).toMatchObject({ status });
      expect(doneValue(await find(made, status))).not.toHaveProperty('awaitsCapture');
    },
  );

  test('is unchanged if its payer leaves the page', async () => {
    const made = await create();
    await refuse();
    expect(doneValue(await find(made, 'requires_payment_method'))).toMatchObject({
      status: 'requires_payment_method',
      nextAction: made.nextAction,
    });
  });

  test('can be approved again after a decline', async () => {
    const made = await create();
    await approve('SIM-DECLINED');
    expect(await confirm(made)).toMatchObject({ kind: 'declined', code: 'do_not_honor', attemptRef: undefined });
    expect(await confirm(made, undefined, { attempt: 2 })).toMatchObject({ value: { status: 'pending' } });
    await approve('SIM-OK');
    expect(doneValue(await confirm(made, undefined, { attempt: 3 }))).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged()).toBe(1);
  });

  test('cannot be changed after its approval', async () => {
    const made = await create();
    await approve();
    expect(await update(made, { amountCents: 3_000 })).toEqual({ kind: 'refused', reason: 'order_not_open' });
  });

  test('needs a new approval after a change', async () => {
    const made = await create();
    const customerId = OUR_CUSTOMER;
    const changed = doneValue(await update(made, { saveMethod: true, customerId }));
    expect(changed).toMatchObject({ status: 'requires_payment_method', nextAction: made.nextAction });
    expect(calls('/confirm-payment-source')).toHaveLength(1);
    await approve();
    await confirm(made);
    const kept = await provider.keepMethod({
      intentId: made.intentId,
      attemptRef: undefined,
      method: undefined,
      status: 'succeeded',
      customerId,
      idempotencyKey: 'k',
    });
    expect(doneValue(kept)).toMatchObject({
      customerId: expect.stringMatching(GIVEN_ID),
      ourCustomerId: customerId,
      type: 'card',
      walletType: 'paypal',
      lastFour: undefined,
    });
  });
});

describe('an order with a saved method', () => {
  test('sends the method only at the confirmation, because PayPal captures an order with a method', async () => {
    const made = await create({ method: 'SIM-OK' });
    expect(sentTo('/orders')[0]).not.toHaveProperty('payment_source');
    expect(made).toMatchObject({ status: 'created', nextAction: undefined });
    expect(await timesCharged()).toBe(0);
    await confirm(made, 'SIM-OK', { methodKind: 'wallet' });
    expect(sentTo('/capture')).toEqual([{ payment_source: { paypal: { vault_id: 'SIM-OK' } } }]);
  });

  test.each([
    ['SIM-OK', 'wallet'],
    ['SIM-CARD', 'card'],
  ] as const)('is charged by one call if the type of its method is known: %s', async (method, methodKind) => {
    const made = await create({ method });
    rig.exchanges.length = 0;
    for (const _ of [1, 2])
      expect(doneValue(await confirm(made, method, { methodKind }))).toMatchObject({ status: 'succeeded' });
    expect(rig.exchanges.map(({ path, status }) => [path.split('/').at(-1), status])).toEqual([
      ['capture', 201],
      ['capture', 200],
    ]);
    expect(await timesCharged()).toBe(1);
  });

  test.each(['SIM-OK', 'SIM-CARD'])(
    'is charged after one read if the type of its method is unknown: %s',
    async (method) => {
      const made = await create({ method });
      rig.exchanges.length = 0;
      expect(doneValue(await confirm(made, method))).toMatchObject({ status: 'succeeded' });
      expect(rig.exchanges.map((one) => `${one.method} ${one.path.split('/').at(-1)} ${one.status}`)).toEqual([
        `GET ${method} 200`,
        'POST capture 201',
      ]);
    },
  );

  test('is certainly not charged if the type of its method cannot be read', async () => {
    const made = await create({ method: 'SIM-CARD' });
    await rig.control('POST', '/faults', { action: 'error_500', path: '/payment-tokens/', times: 1 });
    expect(await confirm(made, 'SIM-CARD')).toEqual({ kind: 'not_done', reason: 'unreachable' });
    expect(calls('/capture')).toEqual([]);
  });

  test.each([
    [{}, { payment_initiator: 'CUSTOMER', payment_type: 'ONE_TIME' }],
    [{ isRecurring: true }, { payment_initiator: 'CUSTOMER', payment_type: 'RECURRING' }],
    [{ offSession: true }, { payment_initiator: 'MERCHANT', payment_type: 'UNSCHEDULED' }],
    [
      { offSession: true, isRecurring: true },
      { payment_initiator: 'MERCHANT', payment_type: 'RECURRING' },
    ],
  ])('declares the initiator of a card charge: %j', async (charged, declared) => {
    const made = await create({ method: 'SIM-CARD' });
    await confirm(made, 'SIM-CARD', { ...charged, methodKind: 'card' });
    expect(sentTo('/capture')).toEqual([
      { payment_source: { card: { vault_id: 'SIM-CARD', stored_credential: { ...declared, usage: 'SUBSEQUENT' } } } },
    ]);
  });

  test.each([
    [{}, undefined],
    [{ isRecurring: true }, undefined],
    [{ offSession: true }, 'IMMEDIATE'],
    [{ offSession: true, isRecurring: true }, 'RECURRING_PREPAID'],
  ])('declares only a wallet charge without its payer as merchant-initiated: %j', async (charged, usage_pattern) => {
    const made = await create({ method: 'SIM-OK' });
    await confirm(made, 'SIM-OK', { ...charged, methodKind: 'wallet' });
    const declared = { payment_initiator: 'MERCHANT', usage: 'SUBSEQUENT', usage_pattern };
    expect(sentTo('/capture')).toEqual([
      { payment_source: { paypal: { vault_id: 'SIM-OK', ...(usage_pattern && { stored_credential: declared }) } } },
    ]);
  });

  test('waits for its payer if the card requires authentication, and is captured once after the approval', async () => {
    const made = await create({ method: 'SIM-CARD-3DS' });
    const charged = { methodKind: 'card', returnUrl: RETURN_URL } as const;
    const asked = doneValue(await confirm(made, 'SIM-CARD-3DS', charged));
    expect(asked).toMatchObject({
      status: 'pending',
      nextAction: { type: 'redirect_to_url', url: expect.stringContaining(made.intentId) },
    });
    expect(sentTo('/capture')[0].payment_source.card.experience_context).toEqual({
      return_url: RETURN_URL,
      cancel_url: RETURN_URL,
    });
    expect(await timesCharged()).toBe(0);
    await approve();
    expect(doneValue(await find(made, 'pending', 'SIM-CARD-3DS'))).toMatchObject({ awaitsCapture: true });
    expect(doneValue(await confirm(made, undefined, { attempt: 2 }))).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged()).toBe(1);
  });

  test.each([
    ['SIM-CARD-3DS', 'card'],
    ['SIM-PAYER-ACTION', 'wallet'],
  ] as const)('is declined if %s requires the payer, who is absent', async (method, methodKind) => {
    const made = await create({ method });
    const charged = { methodKind, offSession: true, isRecurring: true } as const;
    expect(await confirm(made, method, charged)).toMatchObject({
      kind: 'declined',
      code: 'authentication_required',
    });
    expect(await timesCharged()).toBe(0);
  });

  test('stays succeeded after a refund, and its report marks it as refunded', async () => {
    const made = await create({ method: 'SIM-OK' });
    await confirm(made, 'SIM-OK');
    expect(doneValue(await find(made, 'succeeded'))).not.toHaveProperty('isRefunded');
    for (const status of ['PARTIALLY_REFUNDED', 'REFUNDED']) {
      const order = JSON.parse(calls(`/orders/${made.intentId}`).at(-1)?.answered ?? '{}');
      order.purchase_units[0].payments.captures[0].status = status;
      const report = readPayPalOrder(paypalOrderSchema.parse(order), { status: 'succeeded', method: 'SIM-OK' });
      expect(report).toMatchObject({ status: 'succeeded', isRefunded: true });
    }
  });

  test('cannot be charged after its card was declined, and reports the decline', async () => {
    const made = await create({ method: 'SIM-NSF' });
    const declined = await confirm(made, 'SIM-NSF');
    expect(declined).toMatchObject({ kind: 'declined', code: 'insufficient_funds' });
    expect(await confirm(made, 'SIM-OK', { attempt: 2 })).toEqual({ kind: 'refused', reason: 'intent_spent' });
    expect(await timesCharged()).toBe(0);
  });

  test('requires its payer’s approval again after its method was removed', async () => {
    const made = await create({ method: 'SIM-OK' });
    expect(doneValue(await update(made, { clears: true }))).toMatchObject({
      status: 'requires_payment_method',
      nextAction: { type: 'redirect_to_url' },
    });
  });

  test('accepts a new, changed or removed description', async () => {
    const made = await create({ method: 'SIM-OK', description: 'Two books' });
    const long = `${'x'.repeat(126)}😀 and more`;
    for (const description of ['Three books', undefined, long]) {
      await update(made, { method: 'SIM-OK', ...(description && { description }) });
    }
    const patches = rig.exchanges.filter(({ method }) => method === 'PATCH').map(({ sent }) => JSON.parse(sent));
    const path = "/purchase_units/@reference_id=='default'/description";
    expect(patches).toEqual([
      [{ op: 'replace', path, value: 'Three books' }],
      [{ op: 'remove', path }],
      [{ op: 'add', path, value: `${'x'.repeat(126)}😀` }],
    ]);
  });

  test('is not updated if nothing changed', async () => {
    const made = await create({ method: 'SIM-OK' });
    await update(made, { method: 'SIM-OK' });
    expect(rig.exchanges.filter(({ method }) => method === 'PATCH')).toEqual([]);
  });
});

describe('an order that has expired', () => {
  test('keeps the record’s status, cannot be charged, and can be canceled', async () => {
    const made = await create({ method: 'SIM-OK' });
    await rig.clock.advance(7 * HOUR_MS);
    expect(doneValue(await find(made, 'created', 'SIM-OK'))).toMatchObject({
      status: 'created',
      amountCents: undefined,
    });
    expect(doneValue(await find(made, 'pending'))).toMatchObject({ status: 'pending' });
    expect(doneValue(await find(made, 'processing', 'SIM-OK'))).toMatchObject({ status: 'created' });
    expect(await find(made, 'succeeded')).toEqual({ kind: 'refused', reason: 'RESOURCE_NOT_FOUND' });
    expect(await confirm(made, 'SIM-OK')).toEqual({ kind: 'refused', reason: 'intent_spent' });
    expect(await update(made, { amountCents: 3_000, method: 'SIM-OK' })).toMatchObject({ kind: 'done' });
    const known = { intentId: made.intentId, attemptRef: undefined, method: undefined, status: 'created' } as const;
    expect(doneValue(await provider.cancelIntent({ ...known, idempotencyKey: 'c' }))).toMatchObject({
      status: 'canceled',
    });
  });
});

describe('the cancellation of an order', () => {
  test('only reads the order, and a canceled record stays canceled', async () => {
    const made = await create();
    rig.exchanges.length = 0;
    const known = { intentId: made.intentId, attemptRef: undefined, method: undefined, status: 'created' } as const;
    expect(doneValue(await provider.cancelIntent({ ...known, idempotencyKey: 'c' }))).toMatchObject({
      status: 'canceled',
    });
    expect(rig.exchanges.map(({ method }) => method)).toEqual(['GET']);
    expect(doneValue(await find(made, 'canceled'))).toMatchObject({ status: 'canceled' });
  });
});

describe('an amount at PayPal', () => {
  test.each([
    ['USD', 2_500, '25.00'],
    ['USD', 1, '0.01'],
    ['JPY', 900, '900'],
    ['HUF', 250_000, '2500'],
    ['TWD', 100, '1'],
  ])('is written for %s %d as %s, and reads back unchanged', async (currency, amountCents, value) => {
    const made = await create({ currency, amountCents });
    expect(sentTo('/orders')[0].purchase_units[0].amount).toEqual({ currency_code: currency, value });
    expect(made).toMatchObject({ amountCents, currency });
  });

  test.each(['HUF', 'TWD'])('is refused without a call if it has a fraction in %s', async (currency) => {
    expect(await createIntent({ currency, amountCents: 250_050 })).toMatchObject({
      kind: 'refused',
      parameter: 'amount',
    });
    expect(rig.exchanges).toEqual([]);
  });

  test('is refused for its currency if PayPal does not accept the currency', async () => {
    expect(await createIntent({ currency: 'KWD' })).toMatchObject({ kind: 'refused', parameter: 'currency' });
  });
});

describe('a customer at PayPal', () => {
  const customer = (ourCustomerId: string) =>
    provider.createCustomer({
      ourCustomerId,
      email: 'a@example.com',
      name: undefined,
      phone: undefined,
      idempotencyKey: 'c',
    });

  const attach = async (customerId: string, key: string) =>
    doneValue(
      await provider.attachMethod({ paymentMethodId: 'pmt_1', token: 'SIM-OK', customerId, idempotencyKey: key }),
    );

  test('keeps our id, without a call, until PayPal assigns an id', async () => {
    const { customerId } = doneValue(await customer(OUR_CUSTOMER));
    expect(customerId).toBe(OUR_CUSTOMER);
    const changed = { email: 'b@example.com', name: undefined, phone: undefined, cleared: [], idempotencyKey: 'u' };
    expect(await provider.updateCustomer({ ...changed, customerId })).toEqual({ kind: 'done', value: { customerId } });
    expect(await provider.deleteCustomer(customerId)).toEqual({ kind: 'done', value: { customerId } });
    expect(rig.exchanges).toEqual([]);
  });

  test('gets PayPal’s id with the first method, and later methods use that id', async () => {
    const first = await attach(OUR_CUSTOMER, 'k1');
    expect(first).toMatchObject({ customerId: expect.stringMatching(GIVEN_ID), ourCustomerId: OUR_CUSTOMER });
    const later = await attach(first.customerId ?? '', 'k2');
    expect(later.customerId).toBe(first.customerId);
    expect(sentTo('/payment-tokens').map((sent) => sent.customer)).toEqual([
      { merchant_customer_id: OUR_CUSTOMER },
      { id: first.customerId },
    ]);
  });

  test('cannot use an id that PayPal did not assign', async () => {
    const attached = await provider.attachMethod({
      paymentMethodId: 'pmt_1',
      token: 'SIM-OK',
      customerId: 'INVENTED',
      idempotencyKey: 'k',
    });
    expect(attached).toMatchObject({ kind: 'refused', reason: 'INVALID_CUSTOMER_ID' });
  });

  test('is deleted with all its vault tokens, five per page', async () => {
    const first = await attach(OUR_CUSTOMER, 'k');
    const customerId = first.customerId ?? '';
    const ids = [first.methodId];
    for (let count = 0; count < 24; count += 1) ids.push((await attach(customerId, `k${count}`)).methodId);
    for (const _ of [1, 2]) expect(await provider.deleteCustomer(customerId)).toMatchObject({ kind: 'done' });
    for (const id of ids) expect(await provider.findMethod(id)).toMatchObject({ kind: 'refused' });
    const lists = rig.exchanges.filter(({ method, path }) => method === 'GET' && path.endsWith('/payment-tokens'));
    expect(lists.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 200));
  });

  test('is not reported as deleted if its vault cannot be emptied', async () => {
    const { customerId = '' } = await attach(OUR_CUSTOMER, 'k');
    await rig.control('POST', '/faults', { action: 'error_500', path: '/payment-tokens/', times: 1 });
    expect(await provider.deleteCustomer(customerId)).toEqual({ kind: 'unknown', reason: 'error' });
  });
});

describe('the access token', () => {
  test('is requested once for concurrent calls', async () => {
    await Promise.all([1, 2, 3].map(() => provider.findMethod('absent')));
    expect(calls('/v1/oauth2/token')).toHaveLength(1);
  });

  test('is renewed when PayPal refuses it, and the call is retried', async () => {
    await create();
    await rig.clock.advance(TOKEN_LIFETIME_MS);
    expect(await provider.findMethod('SIM-OK')).toMatchObject({ kind: 'done' });
    expect(calls('/v1/oauth2/token')).toHaveLength(2);
    expect(calls('/payment-tokens/SIM-OK').map(({ status }) => status)).toEqual([401, 200]);
  });

  test('is not issued for a wrong secret, so the call is refused', async () => {
    const stranger = rig.reopen({ ...PAYPAL.settings, CLIENT_SECRET: 'wrong' });
    expect(await stranger?.findMethod('SIM-OK')).toMatchObject({ kind: 'refused' });
    expect(rig.exchanges.map(({ status }) => status)).toEqual([401]);
  });
});

import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const intent = (more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
  rig.stripe.paymentIntents.create({
    amount: 1099,
    currency: 'usd',
    metadata: { payment_id: 'pay_1' },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    ...more,
  });

const ledger = async () => {
  const { body } = await rig.control('GET', '/ledger');
  return body as { charges: Record<string, unknown>[]; payment_intents: Record<string, unknown>[] };
};

describe('the simulator of customers and methods', () => {
  it('creates, changes and finds a customer, and deletes it with its methods', async () => {
    const made = await rig.stripe.customers.create({ email: 'a@example.com', name: 'Ana', address: { country: 'PT' } });
    const changed = await rig.stripe.customers.update(made.id, { name: '', phone: '+351', address: { city: 'Porto' } });
    expect(changed).toMatchObject({
      email: 'a@example.com',
      name: null,
      phone: '+351',
      address: { city: 'Porto', country: 'PT' },
    });
    expect((await rig.stripe.customers.list({ email: 'a@example.com' })).data).toHaveLength(1);
    const method = await rig.stripe.paymentMethods.attach('pm_card_visa', { customer: made.id });
    expect(await rig.stripe.customers.del(made.id)).toEqual(expect.objectContaining({ id: made.id, deleted: true }));
    expect(await rig.stripe.customers.retrieve(made.id)).toMatchObject({ deleted: true });
    expect((await rig.stripe.paymentMethods.retrieve(method.id)).customer).toBeNull();
    expect(await errorOf(rig.stripe.customers.update(made.id, { name: 'x' }))).toMatchObject({ statusCode: 404 });
  });

  it('attaches, changes, lists and detaches a method, which then cannot be used', async () => {
    const customer = await rig.stripe.customers.create({});
    const method = await rig.stripe.paymentMethods.create({ type: 'card', card: { token: 'tok_amex' } });
    expect(await errorOf(rig.stripe.paymentMethods.update(method.id, { metadata: { a: '1' } }))).toMatchObject({
      statusCode: 400,
    });
    await rig.stripe.paymentMethods.attach(method.id, { customer: customer.id });
    expect(
      await rig.stripe.paymentMethods.update(method.id, {
        billing_details: { name: 'Ana', address: { country: 'PT', city: 'Porto' } },
        card: { exp_month: 1, exp_year: 2040 },
      }),
    ).toMatchObject({
      billing_details: { name: 'Ana', address: { city: 'Porto' } },
      card: { exp_month: 1, exp_year: 2040 },
    });
    const listed = await rig.stripe.paymentMethods.list({ customer: customer.id, type: 'card' });
    expect(listed.data.map(({ id }) => id)).toEqual([method.id]);
    expect((await rig.stripe.customers.listPaymentMethods(customer.id)).data).toHaveLength(1);
    await rig.stripe.paymentMethods.detach(method.id);
    expect(await errorOf(rig.stripe.paymentMethods.detach(method.id))).toMatchObject({ statusCode: 400 });
    expect(await errorOf(rig.stripe.paymentMethods.attach(method.id, { customer: customer.id }))).toMatchObject({
      statusCode: 400,
    });
    expect(await errorOf(intent({ confirm: true, payment_method: method.id }))).toMatchObject({ statusCode: 400 });
  });

  it('refuses to attach a card that the bank declines, and attaches a card that fails later', async () => {
    const customer = await rig.stripe.customers.create({});
    expect(
      await errorOf(rig.stripe.paymentMethods.attach('pm_card_chargeDeclined', { customer: customer.id })),
    ).toMatchObject({
      statusCode: 402,
    });
    expect(
      (await rig.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: customer.id })).customer,
    ).toBe(customer.id);
  });

  it("lets a stored method pay only its own customer's payments", async () => {
    const [ana, ben] = await Promise.all([rig.stripe.customers.create({}), rig.stripe.customers.create({})]);
    const { id } = await rig.stripe.paymentMethods.attach('pm_card_visa', { customer: ana.id });
    expect((await intent({ confirm: true, payment_method: id, customer: ana.id })).status).toBe('succeeded');
    expect(await errorOf(intent({ payment_method: id, customer: ben.id }))).toMatchObject({ statusCode: 400 });
    expect(await errorOf(intent({ payment_method: id }))).toMatchObject({ statusCode: 400 });
    const open = await intent({ customer: ben.id });
    expect(await errorOf(rig.stripe.paymentIntents.confirm(open.id, { payment_method: id }))).toMatchObject({
      statusCode: 400,
      param: 'payment_method',
    });
  });

  it('stores the method of a payment that requests it, and otherwise uses it once', async () => {
    const customer = await rig.stripe.customers.create({});
    const kept = await intent({
      confirm: true,
      customer: customer.id,
      payment_method: 'pm_card_visa',
      setup_future_usage: 'off_session',
    });
    expect((await rig.stripe.paymentMethods.retrieve(String(kept.payment_method))).customer).toBe(customer.id);
    const once = await intent({ confirm: true, customer: customer.id, payment_method: 'pm_card_visa' });
    expect(await errorOf(intent({ customer: customer.id, payment_method: String(once.payment_method) }))).toMatchObject(
      {
        statusCode: 400,
      },
    );
  });

  it('stores a method through a setup intent without a charge', async () => {
    const customer = await rig.stripe.customers.create({});
    const setup = await rig.stripe.setupIntents.create({ customer: customer.id });
    expect(setup.status).toBe('requires_payment_method');
    const stored = await rig.stripe.setupIntents.confirm(setup.id, { payment_method: 'pm_card_visa' });
    expect(stored.status).toBe('succeeded');
    expect((await rig.stripe.paymentMethods.retrieve(String(stored.payment_method))).customer).toBe(customer.id);
    expect(
      await errorOf(rig.stripe.setupIntents.create({ confirm: true, payment_method: 'pm_card_chargeDeclined' })),
    ).toMatchObject({
      statusCode: 402,
    });
    expect((await ledger()).charges).toEqual([]);
  });
});

/** @module Changes in Stripe's dashboard and customer portal, as Stripe documents them. */
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../shared/core/time.ts';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const subscribe = async (params: Partial<Stripe.SubscriptionCreateParams> = {}, method = 'pm_card_visa') => {
  const customer = await rig.stripe.customers.create({ email: 'ana@example.com' });
  const { id: methodId } = await rig.stripe.paymentMethods.attach(method, { customer: customer.id });
  const product = await rig.stripe.products.create({ name: 'Gold' });
  const recurring = { interval: 'month' as const };
  return rig.stripe.subscriptions.create({
    customer: customer.id,
    default_payment_method: methodId,
    items: [{ price_data: { currency: 'usd', product: product.id, unit_amount: 1_000, recurring } }],
    ...params,
  });
};

const seconds = (ms: number): number => Math.floor(ms / 1_000);
const now = (): number => seconds(rig.clock.now());
const find = ({ id }: Stripe.Subscription) => rig.stripe.subscriptions.retrieve(id);
const change = ({ id }: Stripe.Subscription, params: Stripe.SubscriptionUpdateParams) =>
  rig.stripe.subscriptions.update(id, params);
const newestInvoice = async ({ id }: Stripe.Subscription): Promise<Stripe.Invoice> => {
  const { latest_invoice: newest } = await rig.stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
  return newest as Stripe.Invoice;
};
const invoicesOf = async ({ id }: Stripe.Subscription, status?: Stripe.Invoice.Status) =>
  (await rig.stripe.invoices.list({ subscription: id, ...(status && { status }), limit: 100 })).data;
const itemOf = ({ items }: Stripe.Subscription): Stripe.SubscriptionItem => {
  const [item] = items.data;
  if (!item) throw new Error('a subscription without an item');
  return item;
};
const customerOf = ({ customer }: Stripe.Subscription): string => String(customer);
const changeItem = (
  subscription: Stripe.Subscription,
  item: Omit<Stripe.SubscriptionUpdateParams.Item, 'id'>,
  more: Stripe.SubscriptionUpdateParams = {},
) =>
  change(subscription, {
    items: [{ id: itemOf(subscription).id, ...item }],
    proration_behavior: 'none',
    ...more,
  });
const newPrice = (subscription: Stripe.Subscription, amount: number, interval: 'month' | 'year' = 'month') => ({
  price_data: {
    currency: 'usd',
    product: String(itemOf(subscription).price.product),
    unit_amount: amount,
    recurring: { interval },
  },
});
const types = async (): Promise<string[]> => (await rig.events()).map(({ type }) => type);
const replaceMethod = async (subscription: Stripe.Subscription, method = 'pm_card_visa') => {
  const { id } = await rig.stripe.paymentMethods.attach(method, { customer: customerOf(subscription) });
  await change(subscription, { default_payment_method: id });
  return id;
};

describe('the scheduled end of a subscription', () => {
  test('uses the flexible billing mode, the default of the API version', async () => {
    expect((await subscribe()).billing_mode).toMatchObject({ type: 'flexible' });
    expect((await subscribe({ billing_mode: { type: 'classic' } })).billing_mode).toMatchObject({ type: 'classic' });
  });

  test('can be set by a date, as in the portal, and takes effect at that date', async () => {
    const subscription = await subscribe();
    const end = itemOf(subscription).current_period_end;
    const set = await change(subscription, { cancel_at: end });
    expect(set).toMatchObject({ cancel_at: end, cancel_at_period_end: false, canceled_at: now(), status: 'active' });
    await rig.clock.moveTo(end * 1_000);
    expect(await find(subscription)).toMatchObject({ status: 'canceled', ended_at: end, canceled_at: set.canceled_at });
    expect((await types()).at(-1)).toBe('customer.subscription.deleted');
    expect(await invoicesOf(subscription)).toHaveLength(1);
  });

  test('takes effect within the current period', async () => {
    const subscription = await subscribe();
    await change(subscription, { cancel_at: now() + 10 * 86_400 });
    await rig.clock.advance(10 * DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'canceled' });
  });

  test('prorates the price of the next period if it falls into the next period', async () => {
    const subscription = await subscribe();
    const end = itemOf(subscription).current_period_end + 14 * 86_400;
    await change(subscription, { cancel_at: end });
    await rig.clock.moveTo((end - 86_400) * 1_000);
    expect(await newestInvoice(subscription)).toMatchObject({ amount_due: 500, status: 'paid' });
    expect(itemOf(await find(subscription)).current_period_end).toBe(end);
    await rig.clock.advance(DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'canceled' });
  });

  test('set by a date is cleared by an empty string, and not by the flag cancel_at_period_end', async () => {
    const subscription = await subscribe();
    const end = itemOf(subscription).current_period_end;
    await change(subscription, { cancel_at: end });
    expect(await change(subscription, { cancel_at_period_end: false })).toMatchObject({ cancel_at: end });
    expect(await change(subscription, { cancel_at: '' })).toMatchObject({ cancel_at: null, canceled_at: null });
    await rig.clock.moveTo((end + 1) * 1_000);
    expect(await find(subscription)).toMatchObject({ status: 'active' });
  });

  test('can also be set and cleared by the flag cancel_at_period_end in flexible mode', async () => {
    const subscription = await subscribe();
    const end = itemOf(subscription).current_period_end;
    const set = await change(subscription, { cancel_at_period_end: true });
    expect(set).toMatchObject({ cancel_at_period_end: true, cancel_at: end });
    const back = await change(subscription, { cancel_at_period_end: false });
    expect(back).toMatchObject({ cancel_at_period_end: false, cancel_at: null, canceled_at: null });
  });

  test('is refused in the past, or by date and flag in one call', async () => {
    const subscription = await subscribe();
    expect((await errorOf(change(subscription, { cancel_at: now() }))).message).toMatch(/in the future/);
    const both = await errorOf(change(subscription, { cancel_at: now() + 60, cancel_at_period_end: true }));
    expect(both.message).toMatch(/only specify one/);
  });
});

describe('a trial', () => {
  const trialing = () => subscribe({ trial_end: now() + 10 * 86_400 });

  test('can be extended, and bills at its new end', async () => {
    const subscription = await trialing();
    const end = now() + 20 * 86_400;
    expect(await change(subscription, { trial_end: end })).toMatchObject({ status: 'trialing', trial_end: end });
    await rig.clock.advance(19 * DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'trialing' });
    expect((await types()).filter((type) => type.endsWith('trial_will_end'))).toHaveLength(1);
    await rig.clock.advance(DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'active', billing_cycle_anchor: end });
    expect(await newestInvoice(subscription)).toMatchObject({ amount_due: 1_000, status: 'paid' });
  });

  test('can end early, and then charges immediately', async () => {
    const subscription = await trialing();
    await rig.clock.advance(DAY_MS);
    const ended = await change(subscription, { trial_end: 'now' });
    expect(ended).toMatchObject({ status: 'active', trial_end: now(), billing_cycle_anchor: now() });
    expect(await newestInvoice(subscription)).toMatchObject({
      amount_due: 1_000,
      billing_reason: 'subscription_update',
    });
    await rig.clock.advance(20 * DAY_MS);
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('can be added later as a free month, with an invoice of 0', async () => {
    const subscription = await subscribe();
    await rig.clock.advance(5 * DAY_MS);
    const end = now() + 30 * 86_400;
    const added = await change(subscription, { trial_end: end, proration_behavior: 'none' });
    expect(added).toMatchObject({ status: 'trialing', trial_start: now(), trial_end: end });
    expect(itemOf(added)).toMatchObject({ current_period_start: now(), current_period_end: end });
    expect(await newestInvoice(subscription)).toMatchObject({ amount_due: 0, status: 'paid' });
    await rig.clock.advance(30 * DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'active' });
    expect((await invoicesOf(subscription)).map(({ amount_paid: paid }) => paid)).toEqual([1_000, 0, 1_000]);
  });

  test('cannot end in the past or after two years', async () => {
    const subscription = await trialing();
    expect((await errorOf(change(subscription, { trial_end: now() }))).message).toMatch(/in the future/);
    expect((await errorOf(change(subscription, { trial_end: now() + 3 * 366 * 86_400 }))).message).toMatch(/two years/);
  });
});

describe('the terms of a subscription', () => {
  test('accept a quantity, which applies to the next invoice', async () => {
    const subscription = await subscribe();
    expect(itemOf(await changeItem(subscription, { quantity: 3 })).quantity).toBe(3);
    await rig.clock.advance(31 * DAY_MS);
    const invoice = await newestInvoice(subscription);
    expect(invoice).toMatchObject({ subtotal: 3_000, total: 3_000, amount_due: 3_000, amount_paid: 3_000 });
    expect(invoice.lines.data[0]).toMatchObject({ quantity: 3, amount: 3_000 });
  });

  test('accept another price of the same interval, which applies to the next invoice', async () => {
    const subscription = await subscribe();
    const changed = await changeItem(subscription, newPrice(subscription, 1_500));
    expect(itemOf(changed)).toMatchObject({ price: { unit_amount: 1_500 }, current_period_end: expect.any(Number) });
    expect(await invoicesOf(subscription)).toHaveLength(1);
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ amount_due: 1_500, status: 'paid' });
  });

  test('cause an immediate bill for another interval, unless a trial covers the paid time', async () => {
    const yearly = await subscribe();
    await rig.clock.advance(DAY_MS);
    await changeItem(yearly, newPrice(yearly, 9_000, 'year'));
    expect(await newestInvoice(yearly)).toMatchObject({ amount_due: 9_000, status: 'paid' });
    const bridged = await subscribe();
    const end = itemOf(bridged).current_period_end;
    const changed = await changeItem(bridged, newPrice(bridged, 9_000, 'year'), { trial_end: end });
    expect(changed).toMatchObject({ status: 'trialing', trial_end: end });
    await rig.clock.moveTo(end * 1_000);
    expect(await newestInvoice(bridged)).toMatchObject({ amount_due: 9_000, status: 'paid' });
  });

  test('refuse another item, another currency and prorations', async () => {
    const subscription = await subscribe();
    const { price_data: data } = newPrice(subscription, 900);
    const inEuro = changeItem(subscription, { price_data: { ...data, currency: 'eur' } });
    expect((await errorOf(inEuro)).message).toMatch(/only supports `eur`/);
    const other = change(subscription, { items: [{ id: 'si_other', quantity: 2 }], proration_behavior: 'none' });
    expect((await errorOf(other)).message).toMatch(/No such subscription item/);
    const prorated = await errorOf(changeItem(subscription, { quantity: 2 }, { proration_behavior: 'always_invoice' }));
    expect(prorated.headers).toMatchObject({ 'x-simulator': 'not-offered' });
    const created = await errorOf(
      change(subscription, { metadata: { a: 'b' }, proration_behavior: 'create_prorations' }),
    );
    expect(created.headers).toMatchObject({ 'x-simulator': 'not-offered' });
  });
});

describe('an invoice in the simulated dashboard', () => {
  test('includes discounts and taxes in its total', async () => {
    const coupon = await rig.stripe.coupons.create({ percent_off: 25, duration: 'repeating', duration_in_months: 2 });
    const vat = await rig.stripe.taxRates.create({ display_name: 'VAT', percentage: 19, inclusive: false });
    const subscription = await subscribe();
    const changed = await change(subscription, { discounts: [{ coupon: coupon.id }], default_tax_rates: [vat.id] });
    const { discounts } = await rig.stripe.subscriptions.retrieve(subscription.id, {
      expand: ['discounts.source.coupon'],
    });
    expect(discounts).toMatchObject([{ id: changed.discounts[0], source: { coupon: { percent_off: 25 } } }]);
    expect(changed.default_tax_rates).toMatchObject([{ id: vat.id, percentage: 19 }]);
    await rig.clock.advance(31 * DAY_MS);
    const amounts = { subtotal: 1_000, total_excluding_tax: 750, total: 893, amount_due: 893, amount_paid: 893 };
    const invoice = await newestInvoice(subscription);
    expect(invoice).toMatchObject(amounts);
    expect(invoice.total_discount_amounts).toEqual([{ amount: 250, discount: changed.discounts[0] }]);
    expect(invoice.total_taxes).toMatchObject([{ amount: 143, tax_behavior: 'exclusive', taxable_amount: 750 }]);
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ total: 1_190 });
    expect(await find(subscription)).toMatchObject({ discounts: [] });
  });

  test('includes an inclusive tax in its price', async () => {
    const vat = await rig.stripe.taxRates.create({ display_name: 'VAT', percentage: 19, inclusive: true });
    const invoice = await newestInvoice(await subscribe({ default_tax_rates: [vat.id] }));
    expect(invoice).toMatchObject({ subtotal: 1_000, total: 1_000, total_excluding_tax: 840, amount_due: 1_000 });
  });

  test('is paid by a coupon for the full amount, which applies to one invoice only', async () => {
    const free = await rig.stripe.coupons.create({ percent_off: 100, duration: 'once' });
    const subscription = await subscribe();
    await change(subscription, { discounts: [{ coupon: free.id }] });
    await rig.clock.advance(31 * DAY_MS);
    const invoice = await rig.stripe.invoices.retrieve(String((await newestInvoice(subscription)).id), {
      expand: ['payments'],
    });
    expect(invoice).toMatchObject({ amount_due: 0, total: 0, status: 'paid', payments: { data: [] } });
    expect(await find(subscription)).toMatchObject({ status: 'active', discounts: [] });
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ amount_due: 1_000, amount_paid: 1_000 });
  });

  test("is reduced by the customer's credit, and increased by the customer's debit", async () => {
    const subscription = await subscribe();
    const customer = customerOf(subscription);
    expect(await rig.stripe.customers.update(customer, { balance: -1_400 })).toMatchObject({ balance: -1_400 });
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({
      total: 1_000,
      starting_balance: -1_400,
      ending_balance: -400,
      amount_due: 0,
      status: 'paid',
    });
    await rig.clock.advance(28 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({
      starting_balance: -400,
      ending_balance: 0,
      amount_due: 600,
    });
    await rig.stripe.customers.update(customer, { balance: 250 });
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ starting_balance: 250, amount_due: 1_250, total: 1_000 });
  });

  test('becomes the customer’s debit if it is below the minimum charge', async () => {
    const coupon = await rig.stripe.coupons.create({ amount_off: 970, currency: 'usd', duration: 'once' });
    const subscription = await subscribe();
    await change(subscription, { discounts: [{ coupon: coupon.id }] });
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ total: 30, amount_due: 0, ending_balance: 30 });
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ amount_due: 1_030 });
  });

  test('returns its used credit when it is voided', async () => {
    const subscription = await subscribe({}, 'pm_sim_ok_1_then_nsf');
    await rig.stripe.customers.update(customerOf(subscription), { balance: -400 });
    await rig.clock.advance(31 * DAY_MS);
    const open = await newestInvoice(subscription);
    expect(open).toMatchObject({ amount_due: 600, status: 'open' });
    await rig.stripe.invoices.voidInvoice(String(open.id));
    expect(await rig.stripe.customers.retrieve(customerOf(subscription))).toMatchObject({ balance: -400 });
  });
});

describe('an action on an open invoice', () => {
  const owing = async () => {
    const subscription = await subscribe({}, 'pm_sim_ok_1_then_nsf');
    await rig.clock.advance(31 * DAY_MS);
    const invoice = String((await newestInvoice(subscription)).id);
    expect(await find(subscription)).toMatchObject({ status: 'past_due' });
    return { subscription, invoice };
  };

  test('marks the invoice uncollectible, so the subscription is active and the payer can still pay', async () => {
    const { subscription, invoice } = await owing();
    const marked = await rig.stripe.invoices.markUncollectible(invoice);
    expect(marked).toMatchObject({ status: 'uncollectible', next_payment_attempt: null, auto_advance: false });
    expect(marked.status_transitions.marked_uncollectible_at).toBe(now());
    expect(await find(subscription)).toMatchObject({ status: 'active' });
    expect((await types()).slice(-2)).toEqual(['invoice.marked_uncollectible', 'customer.subscription.updated']);
    await rig.clock.advance(20 * DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'active' });
    const method = await replaceMethod(subscription);
    expect(await rig.stripe.invoices.pay(invoice, { payment_method: method })).toMatchObject({ status: 'paid' });
  });

  test('pays a written-off invoice of 0 without a charge', async () => {
    const subscription = await subscribe({}, 'pm_card_visa');
    await change(subscription, { pause_collection: { behavior: 'mark_uncollectible' } });
    await change(subscription, { trial_end: now() + 30 * 86_400, proration_behavior: 'none' });
    const free = await newestInvoice(subscription);
    expect(free).toMatchObject({ amount_due: 0, status: 'uncollectible' });
    const intents = (await rig.stripe.paymentIntents.list({ limit: 100 })).data.length;
    expect(await rig.stripe.invoices.pay(String(free.id))).toMatchObject({ status: 'paid' });
    expect((await rig.stripe.paymentIntents.list({ limit: 100 })).data).toHaveLength(intents);
  });

  test('voids the invoice, and the previous invoice decides the subscription’s status', async () => {
    const { subscription, invoice } = await owing();
    await rig.stripe.invoices.voidInvoice(invoice);
    expect(await find(subscription)).toMatchObject({ status: 'active' });
  });

  test('records an out-of-band payment without a charge', async () => {
    const { subscription, invoice } = await owing();
    const before = (await types()).length;
    const paid = await rig.stripe.invoices.pay(invoice, { paid_out_of_band: true, expand: ['payments'] });
    expect(paid).toMatchObject({ status: 'paid', amount_remaining: 0, payments: { data: [{ status: 'canceled' }] } });
    expect(await find(subscription)).toMatchObject({ status: 'active' });
    expect((await types()).slice(before)).toEqual([
      'payment_intent.canceled',
      'invoice.paid',
      'customer.subscription.updated',
    ]);
  });

  test('is refused for an invoice in another status', async () => {
    const { invoice } = await owing();
    await rig.stripe.invoices.markUncollectible(invoice);
    expect((await errorOf(rig.stripe.invoices.markUncollectible(invoice))).message).toMatch(/only mark an open/);
    await rig.stripe.invoices.voidInvoice(invoice);
    expect((await errorOf(rig.stripe.invoices.pay(invoice))).message).toMatch(/void/);
    expect((await errorOf(rig.stripe.invoices.voidInvoice(invoice))).message).toMatch(/open or uncollectible/);
    expect((await errorOf(rig.stripe.invoices.finalizeInvoice(invoice))).message).toMatch(/already finalized/);
  });

  test('lists all open invoices of a subscription or customer, page by page', async () => {
    const { subscription } = await owing();
    await rig.control('POST', '/retries', { days: [40], then: 'past_due' });
    await rig.clock.advance(60 * DAY_MS);
    const all = await invoicesOf(subscription, 'open');
    expect(all).toHaveLength(3);
    const first = await rig.stripe.invoices.list({ subscription: subscription.id, status: 'open', limit: 2 });
    expect(first).toMatchObject({ has_more: true, data: [{ id: all[0]?.id }, { id: all[1]?.id }] });
    const rest = { customer: customerOf(subscription), status: 'open', starting_after: String(all[1]?.id) } as const;
    expect(await rig.stripe.invoices.list(rest)).toMatchObject({ has_more: false, data: [{ id: all[2]?.id }] });
  });
});

describe('the retry schedule', () => {
  const owing = async (method = 'pm_sim_ok_1_then_nsf') => {
    const subscription = await subscribe({}, method);
    await rig.clock.advance(31 * DAY_MS);
    return subscription;
  };

  test('retries on the given days, and then leaves the subscription past due', async () => {
    expect(await rig.control('POST', '/retries', { days: [2, 5], then: 'past_due' })).toMatchObject({ status: 200 });
    const subscription = await owing();
    await rig.clock.advance(20 * DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'past_due' });
    expect(await newestInvoice(subscription)).toMatchObject({ status: 'open', attempt_count: 3 });
  });

  test('can end as unpaid, which stops collection and keeps later invoices as drafts', async () => {
    await rig.control('POST', '/retries', { days: [2], then: 'unpaid' });
    const subscription = await owing();
    await rig.clock.advance(2 * DAY_MS);
    expect(await find(subscription)).toMatchObject({ status: 'unpaid' });
    await replaceMethod(subscription);
    await rig.clock.advance(30 * DAY_MS);
    const [draft, open] = await invoicesOf(subscription);
    expect(draft).toMatchObject({ status: 'draft', number: null, ending_balance: null, auto_advance: false });
    expect(open).toMatchObject({ status: 'open', auto_advance: false, attempt_count: 2 });
    expect(await find(subscription)).toMatchObject({ status: 'unpaid', latest_invoice: draft?.id });
    await rig.stripe.invoices.pay(String(open?.id));
    expect(await find(subscription)).toMatchObject({ status: 'active' });
    const finalized = await rig.stripe.invoices.finalizeInvoice(String(draft?.id), { auto_advance: true });
    expect(finalized).toMatchObject({ status: 'paid', amount_paid: 1_000 });
  });

  test('collects a draft an hour after automatic collection is enabled', async () => {
    const subscription = await subscribe();
    await change(subscription, { pause_collection: { behavior: 'keep_as_draft' } });
    await rig.clock.advance(31 * DAY_MS);
    const draft = await newestInvoice(subscription);
    expect(draft).toMatchObject({ status: 'draft' });
    expect((await errorOf(rig.stripe.invoices.pay(String(draft.id)))).message).toMatch(/draft/);
    await rig.stripe.invoices.update(String(draft.id), { auto_advance: true });
    await rig.clock.advance(HOUR_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ status: 'paid' });
  });

  test('starts an hour after a renewal if the settings keep its invoice as a draft', async () => {
    expect(await rig.control('POST', '/drafts', { minutes: 60 })).toMatchObject({ status: 200 });
    const next = await subscribe();
    expect(await newestInvoice(next)).toMatchObject({ status: 'paid' });
    await rig.clock.advance(itemOf(next).current_period_end * 1_000 - rig.clock.now());
    expect(await newestInvoice(next)).toMatchObject({ status: 'draft', auto_advance: true, attempt_count: 0 });
    await rig.clock.advance(HOUR_MS);
    expect(await newestInvoice(next)).toMatchObject({ status: 'paid', attempt_count: 1 });
    expect(await rig.control('POST', '/drafts', { minutes: 0 })).toMatchObject({ status: 200 });
  });

  test('covers several open invoices, but only the newest decides the status', async () => {
    const subscription = await subscribe({}, 'pm_sim_ok_1_then_nsf');
    await changeItem(subscription, {
      price_data: { ...newPrice(subscription, 1_100).price_data, recurring: { interval: 'week' } },
    });
    await rig.clock.advance(7.5 * DAY_MS);
    expect(await invoicesOf(subscription, 'open')).toHaveLength(2);
    expect(await find(subscription)).toMatchObject({ status: 'past_due' });
    const [newest, older] = await invoicesOf(subscription, 'open');
    const method = await replaceMethod(subscription);
    await rig.stripe.invoices.pay(String(newest?.id), { payment_method: method });
    expect(await find(subscription)).toMatchObject({ status: 'active' });
    expect(await invoicesOf(subscription, 'open')).toMatchObject([{ id: older?.id, auto_advance: true }]);
    await rig.clock.advance(7 * DAY_MS);
    expect(await rig.stripe.invoices.retrieve(String(older?.id))).toMatchObject({ status: 'paid', attempt_count: 5 });
  });

  test('is refused for a retry on day 0, and for an unknown final status', async () => {
    expect(await rig.control('POST', '/retries', { days: [0], then: 'cancel' })).toMatchObject({ status: 400 });
    expect(await rig.control('POST', '/retries', { days: [1], then: 'forget' })).toMatchObject({ status: 400 });
  });
});

describe('the control routes of the dashboard', () => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const set = (subscription: Stripe.Subscription, body: unknown) =>
    rig.control('POST', `/subscriptions/${subscription.id}`, body);

  test('change a subscription, also by our id, and a read shows the change', async () => {
    const subscription = await subscribe({ metadata: { subscription_id: 'sub_ours' } });
    const end = itemOf(subscription).current_period_end;
    const answered = await rig.control('POST', '/subscriptions/sub_ours', {
      cancel_at: iso(end * 1_000),
      quantity: 2,
      unit_amount: 700,
      coupon: { percent_off: 10 },
      tax: { percentage: 20 },
      pause_collection: 'void',
    });
    expect(answered).toMatchObject({
      status: 200,
      body: {
        amount: 1_400,
        quantity: 2,
        cancel_at: iso(end * 1_000),
        pause_collection: 'void',
        subscription_id: 'sub_ours',
      },
    });
    const read = await find(subscription);
    expect(read).toMatchObject({ cancel_at: end, pause_collection: { behavior: 'void' } });
    expect(itemOf(read)).toMatchObject({ quantity: 2, price: { unit_amount: 700 } });
    expect((await types()).at(-1)).toBe('customer.subscription.updated');
    await set(subscription, { cancel_at: null, pause_collection: null });
    expect(await find(subscription)).toMatchObject({ cancel_at: null, pause_collection: null });
    await rig.clock.advance(31 * DAY_MS);
    expect(await newestInvoice(subscription)).toMatchObject({ subtotal: 1_400, total: 1_512, amount_paid: 1_512 });
    await set(subscription, { coupon: null, tax: null });
    expect(await find(subscription)).toMatchObject({ discounts: [], default_tax_rates: [] });
  });

  test('move a trial, and end it', async () => {
    const subscription = await subscribe();
    const end = now() + 40 * 86_400;
    await set(subscription, { trial_end: iso(end * 1_000) });
    expect(await find(subscription)).toMatchObject({ status: 'trialing', trial_end: end });
    await set(subscription, { trial_end: 'now' });
    expect(await find(subscription)).toMatchObject({ status: 'active' });
  });

  test('make a subscription unpaid, and cancel it', async () => {
    const subscription = await subscribe();
    expect(await set(subscription, { status: 'unpaid' })).toMatchObject({ status: 200, body: { status: 'unpaid' } });
    expect(await find(subscription)).toMatchObject({ status: 'unpaid' });
    await set(subscription, { status: 'canceled' });
    expect((await types()).slice(-2)).toEqual(['customer.subscription.updated', 'customer.subscription.deleted']);
    expect(await set(subscription, { status: 'unpaid' })).toMatchObject({ status: 409 });
  });

  test('refuse the same requests as Stripe, and change nothing', async () => {
    const subscription = await subscribe();
    const past = await set(subscription, { cancel_at: iso(rig.clock.now() - DAY_MS), coupon: { percent_off: 10 } });
    expect(past).toMatchObject({ status: 409, body: { error: expect.stringMatching(/in the future/) } });
    expect((await rig.stripe.coupons.list()).data).toEqual([]);
    expect(await set(subscription, { colour: 'red' })).toMatchObject({ status: 400 });
    expect(await rig.control('POST', '/subscriptions/sub_absent', {})).toMatchObject({ status: 404 });
  });

  test('apply each action to an invoice', async () => {
    const subscription = await subscribe({}, 'pm_sim_ok_1_then_nsf');
    await rig.clock.advance(31 * DAY_MS);
    const invoice = String((await newestInvoice(subscription)).id);
    const step = (body: unknown) => rig.control('POST', `/invoices/${invoice}`, body);
    expect(await step({ action: 'pay' })).toMatchObject({ status: 402 });
    expect(await rig.stripe.invoices.retrieve(invoice)).toMatchObject({ status: 'open' });
    expect(await step({ action: 'mark_uncollectible' })).toMatchObject({ body: { status: 'uncollectible' } });
    expect(await step({ action: 'pay_out_of_band' })).toMatchObject({
      body: { status: 'paid', paid_out_of_band: true },
    });
    expect(await step({ action: 'void' })).toMatchObject({ status: 409 });
  });

  test("set a customer's balance", async () => {
    const customer = await rig.stripe.customers.create({ email: 'ana@example.com' });
    const answered = await rig.control('POST', `/customers/${customer.id}/balance`, { balance: -500 });
    expect(answered).toMatchObject({ status: 200, body: { balance: -500 } });
    expect(await rig.stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -500 });
    expect((await types()).at(-1)).toBe('customer.updated');
  });

  test('update a card as its network does, and detach it', async () => {
    const subscription = await subscribe();
    const method = String(subscription.default_payment_method);
    const path = `/payment-methods/${method}`;
    const renewed = await rig.control('POST', path, { last_four: '0005', exp_month: 3, exp_year: 2_039 });
    expect(renewed).toMatchObject({ body: { last_four: '0005', exp_month: 3, exp_year: 2_039 } });
    const card = { last4: '0005', exp_month: 3, exp_year: 2_039 };
    expect(await rig.stripe.paymentMethods.retrieve(method)).toMatchObject({ card });
    const event = (await rig.events()).find(({ type }) => type === 'payment_method.automatically_updated');
    expect(event?.data).toMatchObject({ object: { card }, previous_attributes: { card: { last4: '4242' } } });
    expect(await rig.control('POST', path, { detach: true })).toMatchObject({ body: { customer: null } });
    expect(await types()).toContain('payment_method.detached');
    expect(await rig.control('POST', path, { detach: true })).toMatchObject({ status: 409 });
  });
});

import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { signIn, type User } from './flow.ts';
import { type ForeignFields, foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { withHost } from './host.ts';
import { plan } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { subscriptionEventsOf } from './subscribers.ts';

/** Running subscriptions of another integration at Stripe. Stripe continues to bill them. */
const service = withHost({ frozen: true });

const DAY = 86_400;
const CARD = { token: 'pm_card_visa' };

const newUser = (): Promise<User> => signIn(service, { expires_in: YEAR_SECONDS });
const daysAgo = (days: number): string => new Date(service.now() - days * DAY * 1_000).toISOString();

/** Creates a foreign subscription of a new user, and imports it. */
const adopt = async (
  subscription: ForeignFields,
  { customer = {}, body = {} }: { customer?: ForeignFields; body?: ForeignFields } = {},
) => {
  const [who, user] = [await importer(service), await newUser()];
  const made = await foreign(service, {
    customers: [{ email: 'old@example.com', payment_methods: [CARD], default_payment_method: 0, ...customer }],
    subscriptions: [{ customer: 0, items: [{ unit_amount: 2_900 }], ...subscription }],
  });
  await service.settle();
  await service.clearProviderRequests();
  const row = { provider_customer_id: made.customers[0]?.id, owner: `user:${user.userId}` };
  const answer = await tryImport(service, who, [row], body);
  const writes = (await service.providerRequests()).filter(({ method }) => method !== 'GET');
  const id = answer.body.data?.rows[0].records.at(-1).id;
  return { answer, id, user, who, row, writes, there: present(made.subscriptions[0]) };
};

const readOf = async ({ id, user }: { readonly id: string; readonly user: User }) => {
  const answer = await service.get(`/subscriptions/${id}`, user.options);
  expect(answer.status).toBe(200);
  return answer.body;
};

const paymentsOf = async ({ id, user }: { readonly id: string; readonly user: User }) =>
  (await service.get('/payments?limit=50', user.options)).body.data.filter((one) => one.subscription_id === id);

describe('an imported subscription', () => {
  test('keeps price, period and anchor, and Stripe gets one update', async () => {
    const made = await adopt({
      items: [{ unit_amount: 2_900, quantity: 3 }],
      billing_cycle_anchor: daysAgo(40),
    });
    expect(importedOutcomes(made.answer)).toEqual([
      ['customer adopted', 'payment_method adopted', 'subscription adopted'],
    ]);
    expect(made.writes.map(({ path }) => path)).toEqual([expect.stringMatching(/\/v1\/subscriptions\/sub_/)]);
    const there = await atStripe(service, `GET subscriptions/${made.there.id}`);
    expect(there).toMatchObject({ metadata: { subscription_id: made.id }, default_payment_method: expect.any(String) });
    const shown = await readOf(made);
    expect(shown).toMatchObject({
      status: 'active',
      billing_owner: 'provider',
      total_cents: 8_700,
      quantity: 1,
      current_period_end: new Date(there.items.data[0].current_period_end * 1_000).toISOString(),
      imported_at: expect.any(String),
      latest_payment_id: null,
    });
    expect(await subscriptionEventsOf(service, made.id)).toEqual(['subscription.created imported']);
    const timeline = await service.get(`/subscriptions/${made.id}/timeline`, made.user.options);
    expect(JSON.stringify(timeline.body)).toContain('"cause":"import"');
    expect((await service.ledger()).charges).toEqual([]);
  });

  test.each([
    ['keeps its own method', 1, 1],
    ['gets the method of its customer if it has none', null, 0],
  ])('%s, both at Stripe and here', async (_, default_payment_method, charged) => {
    const made = await adopt(
      { default_payment_method, billing_cycle_anchor: daysAgo(10) },
      { customer: { payment_methods: [CARD, { token: 'pm_card_mastercard' }] } },
    );
    const there = await atStripe(service, `GET subscriptions/${made.there.id}`);
    const methods = made.answer.body.data.rows[0].records.filter(({ kind }: ParsedJson) => kind === 'payment_method');
    expect(there.default_payment_method).toBe(methods[charged].provider_id);
    expect((await readOf(made)).payment_method_id).toBe(methods[charged].id);
  });

  test('is charged by Stripe once per period, and each charge is one payment here', async () => {
    const made = await adopt({ billing_cycle_anchor: daysAgo(10) });
    await service.advance(62 * DAY);
    await service.settle();
    const payments = await paymentsOf(made);
    expect(payments.map(({ status, total_cents }) => [status, total_cents])).toEqual([
      ['succeeded', 2_900],
      ['succeeded', 2_900],
    ]);
    const { charges } = await service.ledger();
    const own = charges.filter(({ payment_id }) => payments.some((payment) => payment.id === payment_id));
    expect(own).toHaveLength(2);
    expect(await readOf(made)).toMatchObject({ status: 'active', latest_payment_id: payments[0]?.id });
  });

  test('gets the product and tier of its price, and credits the time paid before the import', async () => {
    const product = await plan(service, 2_900, { metadata: { membership_type_id: 'gold' } });
    const dearer = await plan(service, 5_900);
    const [who, user] = [await importer(service), await newUser()];
    const made = await foreign(service, {
      customers: [{ payment_methods: [CARD], default_payment_method: 0 }],
      subscriptions: [{ customer: 0, items: [{ unit_amount: 2_900 }], billing_cycle_anchor: daysAgo(15) }],
    });
    const price = present(made.subscriptions[0]?.items[0]).price;
    const row = { provider_customer_id: made.customers[0]?.id, owner: `user:${user.userId}` };
    const answer = await tryImport(service, who, [row], { products: { [price]: product } });
    const id = answer.body.data.rows[0].records.at(-1).id;
    expect(await subscriptionEventsOf(service, id)).toEqual([
      'subscription.created imported',
      'membership.activated imported',
    ]);
    const preview = await service.post(
      `/subscriptions/${id}/change/preview`,
      { product_id: dearer, when: 'now' },
      user.options,
    );
    expect({ status: preview.status, body: preview.body }).toMatchObject({ status: 200 });
    const lines = preview.body.lines as { kind: string; amount_cents: number }[];
    const unused = present(lines.find(({ kind }) => kind === 'unused')).amount_cents;
    expect(-unused).toBeGreaterThan(1_300);
    expect(-unused).toBeLessThan(1_600);
    const changed = await service.post(
      `/subscriptions/${id}/change`,
      { product_id: dearer, when: 'now' },
      user.options,
    );
    expect(changed.status).toBe(200);
    await service.settle();
    expect(await readOf({ id, user })).toMatchObject({ product_id: dearer, total_cents: 5_900 });
  });

  test('is billed with its lasting discount', async () => {
    const made = await adopt({ coupon: { percent_off: 10, duration: 'forever' }, billing_cycle_anchor: daysAgo(10) });
    expect(await readOf(made)).toMatchObject({ subtotal_cents: 2_900, discount_cents: 290, total_cents: 2_610 });
    await service.advance(31 * DAY);
    await service.settle();
    expect((await paymentsOf(made)).map(({ total_cents }) => total_cents)).toEqual([2_610]);
    expect(await readOf(made)).toMatchObject({ total_cents: 2_610 });
  });

  test('stays past due, and its owed invoice is paid later as one payment', async () => {
    const made = await adopt({ status: 'past_due', billing_cycle_anchor: daysAgo(10) });
    expect(made.writes).toHaveLength(1);
    expect(await readOf(made)).toMatchObject({ status: 'past_due', billing_status: 'retrying' });
    await service.advance(2 * DAY);
    await service.settle();
    expect(await readOf(made)).toMatchObject({ status: 'active' });
    expect((await paymentsOf(made)).map(({ status }) => status)).toEqual(['succeeded']);
  });

  test('stays in its trial, and is charged after the trial', async () => {
    const trialEnd = new Date(service.now() + 5 * DAY * 1_000).toISOString();
    const made = await adopt({ trial_end: trialEnd });
    expect(await readOf(made)).toMatchObject({ status: 'trialing' });
    await service.advance(6 * DAY);
    await service.settle();
    expect(await readOf(made)).toMatchObject({ status: 'active' });
    expect((await paymentsOf(made)).map(({ total_cents }) => total_cents)).toEqual([2_900]);
  });

  test.each(['error_500', 'reset'])('gets its metadata at Stripe from due work after a fault (%s)', async (action) => {
    await service.fault({
      ...{ provider: 'provider_a', method: 'POST', path: '/v1/subscriptions/' },
      times: 9,
      action,
    });
    const made = await adopt({});
    expect(importedOutcomes(made.answer)[0]?.at(-1)).toBe('subscription adopted');
    expect((await atStripe(service, `GET subscriptions/${made.there.id}`)).metadata).toEqual({});
    await service.clearFaults();
    await service.advance(40 * 60);
    await service.settle();
    expect((await atStripe(service, `GET subscriptions/${made.there.id}`)).metadata).toEqual({
      subscription_id: made.id,
    });
    expect((await readOf(made)).status).toBe('active');
  });

  test.each([
    ['several_items', { items: [{ unit_amount: 100 }, { unit_amount: 200 }] }],
    ['metered', { items: [{ unit_amount: 100, usage_type: 'metered' }] }],
    ['tiered', { items: [{ unit_amount: 100, billing_scheme: 'tiered' }] }],
    ['schedule', { schedule: true }],
    ['send_invoice', { collection_method: 'send_invoice' }],
    ['paused', { pause_collection: 'void' }],
    ['incomplete', { status: 'incomplete' }],
    ['interval', { items: [{ unit_amount: 9_900, interval: 'day', interval_count: 365 }] }],
    ['discount_ends', { coupon: { percent_off: 10, duration: 'once' } }],
  ])('is not adopted and stays unchanged at Stripe, with the reason %s', async (reason, subscription) => {
    const made = await adopt(subscription);
    expect(importedOutcomes(made.answer)[0]).toEqual([
      'customer adopted',
      'payment_method adopted',
      `subscription manual ${reason}`,
    ]);
    expect(made.writes).toEqual([]);
  });

  test('is refused if its metadata names a subscription that is not ours, unless the request overwrites it', async () => {
    const made = await adopt({ metadata: { subscription_id: 'sub-of-old-shop' } });
    expect(importedOutcomes(made.answer)[0]?.at(-1)).toBe('subscription refused metadata_taken');
    const again = await tryImport(service, made.who, [made.row], { overwrite_metadata: true });
    expect(importedOutcomes(again)[0]).toEqual(['customer known', 'payment_method known', 'subscription adopted']);
  });
});

import { describe, expect, test } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn, type User } from './flow.ts';
import { type ForeignFields, foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { withHost } from './host.ts';
import { plan } from './plan-changes.ts';

/** Subscriptions of another biller. The service bills them after the end of the paid time. */
const service = withHost({ frozen: true });

const DAY = 86_400;
const PLACES = [
  ['Stripe', 'provider_a', 'pm_card_visa'],
  ['PayPal', 'provider_b', 'SIM-OK'],
  ['Square', 'provider_c', 'cnon:card-nonce-ok'],
] as const;

const ahead = (days: number): string => new Date(service.now() + days * DAY * 1_000).toISOString();

const START = {
  reference: 'contract-1',
  total_cents: 4_900,
  subtotal_cents: 4_900,
  currency: 'USD',
  billing_interval: 'monthly',
  source_ended: true,
};

const newUser = (): Promise<User> => signIn(service, { expires_in: YEAR_SECONDS });

/** A customer with a method at the provider, and the row that starts a subscription. */
const rowAt = async (provider: string, token: string, user: User, fields: ForeignFields = {}) => {
  const { customers } = await foreign(service, {
    provider,
    customers: [{ name: 'Ada', payment_methods: [{ token }] }],
  });
  const start = { ...START, payment_method: customers[0]?.payment_methods[0], paid_until: ahead(10), ...fields };
  return { provider_customer_id: customers[0]?.id, owner: `user:${user.userId}`, start };
};

const chargesOf = async (provider: string): Promise<number> =>
  (await service.ledger()).charges.filter((charge) => charge.provider === provider).length;

describe('a subscription of another biller', () => {
  test.each(PLACES)('is charged once at %s when the paid time ends, and never before', async (_, slot, token) => {
    const [who, user] = [await importer(service), await newUser()];
    const row = await rowAt(slot, token, user);
    const made = await tryImport(service, who, [row], { provider_id: slot });
    expect(importedOutcomes(made)).toEqual([['customer adopted', 'payment_method adopted', 'subscription adopted']]);
    const { id } = made.body.data.rows[0].records[2];
    const read = async () => (await service.get(`/subscriptions/${id}`, user.options)).body;
    expect(await read()).toMatchObject({
      status: 'active',
      billing_owner: 'service',
      current_period_end: row.start.paid_until,
      next_billing_date: row.start.paid_until,
    });
    const known = await chargesOf(slot);
    await service.advance(9 * DAY);
    await service.settle();
    expect(await chargesOf(slot)).toBe(known);
    await service.advance(1.1 * DAY);
    await service.settle();
    expect(await chargesOf(slot)).toBe(known + 1);
    const renewed = await read();
    expect(renewed).toMatchObject({ status: 'active', current_period_start: row.start.paid_until });
    await service.advance(31 * DAY);
    await service.settle();
    expect(await chargesOf(slot)).toBe(known + 2);
  });

  test('is started once per reference', async () => {
    const [who, user] = [await importer(service), await newUser()];
    const row = await rowAt('provider_a', 'pm_card_visa', user);
    await tryImport(service, who, [row]);
    const other = { ...row, start: { ...row.start, total_cents: 100, subtotal_cents: 100 } };
    const again = await tryImport(service, who, [other]);
    expect(importedOutcomes(again)).toEqual([['customer known', 'payment_method known', 'subscription known']]);
    const shown = await service.get(`/subscriptions/${again.body.data.rows[0].records[2].id}`, user.options);
    expect(shown.body.total_cents).toBe(4_900);
  });

  test.each([
    ['source_not_ended', { source_ended: false }],
    ['paid_until', { paid_until: '2020-01-01T00:00:00Z' }],
    ['no_method', { payment_method: 'pm_other' }],
  ])('is refused with the reason %s', async (reason, fields) => {
    const [who, user] = [await importer(service), await newUser()];
    const made = await tryImport(service, who, [await rowAt('provider_a', 'pm_card_visa', user, fields)]);
    expect(importedOutcomes(made)[0]?.at(-1)).toBe(`subscription refused ${reason}`);
  });

  test('changes its plan only at the end of the paid time', async () => {
    const [who, user] = [await importer(service), await newUser()];
    const [product, dearer] = [await plan(service, 1_000), await plan(service, 2_000)];
    const { total_cents: _, subtotal_cents: __, currency: ___, billing_interval: ____, ...start } = START;
    const row = await rowAt('provider_a', 'pm_card_visa', user);
    const body = {
      ...row,
      start: { ...start, payment_method: row.start.payment_method, paid_until: ahead(10), product_id: product },
    };
    const made = await tryImport(service, who, [body]);
    const id = made.body.data.rows[0].records[2].id;
    const change = (when: string) =>
      service.post(`/subscriptions/${id}/change`, { product_id: dearer, when }, user.options);
    expect(await change('now')).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    expect(await change('period_end')).toMatchObject({ status: 200 });
  });

  test('fails the whole request if its product is unknown', async () => {
    const [who, user] = [await importer(service), await newUser()];
    const row = await rowAt('provider_a', 'pm_card_visa', user, { product_id: 'no-such' });
    expect(await tryImport(service, who, [row])).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const products = await tryImport(service, who, [row], { products: { price_1: 'no-such' } });
    expect(products).toMatchObject({ status: 400 });
  });
});

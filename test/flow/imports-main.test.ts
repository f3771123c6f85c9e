import { describe, expect, test } from 'vitest';
import { confirm, signIn } from './flow.ts';
import { foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import { withHost } from './host.ts';

/** Customers and methods that another integration has made at Stripe. */
const service = withHost({ frozen: true });

const CARD = { token: 'pm_card_visa' };

describe('an import of customers at Stripe', () => {
  test('stores the customer with its methods, and only reads Stripe', async () => {
    const who = await importer(service);
    const user = await signIn(service);
    const { customers } = await foreign(service, {
      customers: [
        {
          email: 'Ada@Example.com',
          name: 'Ada Lovelace',
          payment_methods: [CARD, { token: 'pm_card_mastercard', legacy: true }, { bank_account: true }],
          default_payment_method: 1,
        },
      ],
    });
    const [customer] = customers;
    const row = { provider_customer_id: customer?.id, owner: `user:${user.userId}` };
    await service.settle();
    await service.clearProviderRequests();
    const dry = await tryImport(service, who, [row], { dry_run: true });
    expect(dry.body.data.counts).toEqual({ adopted: 4, known: 0, refused: 0, manual: 0 });
    const made = await tryImport(service, who, [row]);
    expect(importedOutcomes(made)).toEqual(importedOutcomes(dry));
    expect((await service.providerRequests()).map(({ method }) => method)).not.toContain('POST');
    const again = await tryImport(service, who, [row]);
    expect(again.body.data.counts).toEqual({ adopted: 0, known: 4, refused: 0, manual: 0 });
    const shown = await service.get(`/customers/${made.body.data.rows[0].records[0].id}`, user.options);
    expect(shown).toMatchObject({
      status: 200,
      body: {
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        provider_customer_id: customer?.id,
        imported_at: expect.any(String),
      },
    });
    const methods = await service.get('/payment-methods', user.options);
    expect(methods.body.map(({ type, is_default }) => [type, is_default]).toSorted()).toEqual([
      ['bank_account', false],
      ['card', false],
      ['card', true],
    ]);
    expect((await service.busEvents()).filter(({ detail }) => detail.payload?.data?.customer_id !== undefined)).toEqual(
      [],
    );
  });

  test.each([
    ['provider_a', 'pm_card_visa'],
    ['provider_b', 'SIM-OK'],
    ['provider_c', 'cnon:card-nonce-ok'],
  ])('adopts 20 of a customer’s 21 methods at %s, and reports the last as too many', async (provider_id, token) => {
    const user = await signIn(service);
    const payment_methods = Array.from({ length: 21 }, () => ({ token }));
    const { customers } = await foreign(service, { provider: provider_id, customers: [{ payment_methods }] });
    const row = { provider_customer_id: customers[0]?.id, owner: `user:${user.userId}` };
    const [records = []] = importedOutcomes(await tryImport(service, await importer(service), [row], { provider_id }));
    const counts = Map.groupBy(records, (record) => record);
    expect([...counts].map(([record, { length }]) => `${record}: ${length}`)).toEqual([
      'customer adopted: 1',
      'payment_method adopted: 20',
      'payment_method manual too_many_methods: 1',
    ]);
  });

  test('lets the owner pay with a card from before PaymentMethods', async () => {
    const who = await importer(service);
    const user = await signIn(service);
    const { customers } = await foreign(service, {
      customers: [{ payment_methods: [{ ...CARD, legacy: true }], default_payment_method: 0 }],
    });
    const made = await tryImport(service, who, [
      { provider_customer_id: customers[0]?.id, owner: `user:${user.userId}` },
    ]);
    const [customer, method] = made.body.data.rows[0].records;
    const paid = await service.post(
      '/payments',
      {
        customer_id: customer.id,
        payment_method_id: method.id,
        subtotal_cents: 1_000,
        total_cents: 1_000,
        currency: 'USD',
        provider_id: 'provider_a',
      },
      user.options,
    );
    expect(paid.status).toBe(201);
    expect(await confirm(service, paid.body.id, user.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
  });

  test('refuses an unknown customer, an unknown owner, and a customer of another owner', async () => {
    const who = await importer(service);
    const [user, other] = [await signIn(service), await signIn(service)];
    const { customers } = await foreign(service, {
      customers: [{ payment_methods: [CARD] }, { payment_methods: [CARD] }],
    });
    const [one, two] = customers.map(({ id }) => id);
    const rows = [
      { provider_customer_id: one, owner: `user:${user.userId}` },
      { provider_customer_id: one, owner: `user:${other.userId}` },
      { provider_customer_id: two, owner: 'user:unknown' },
      { provider_customer_id: 'cus_none', owner: `user:${user.userId}` },
      { provider_customer_id: two, owner: 'organization:org_none' },
    ];
    const expected = [
      ['customer adopted', 'payment_method adopted'],
      ['customer refused other_owner', 'payment_method refused other_owner'],
      ['customer refused owner_unknown'],
      ['customer refused customer_not_found'],
      ['customer refused owner_unknown'],
    ];
    expect(importedOutcomes(await tryImport(service, who, rows, { dry_run: true }))).toEqual(expected);
    expect(importedOutcomes(await tryImport(service, who, rows))).toEqual(expected);
    const theirs = await service.get('/payment-methods', other.options);
    expect(theirs.body).toEqual([]);
  });

  test('requires a platform admin or a key with the scope', async () => {
    const owner = await signIn(service);
    const support = await signIn(service, { staff_role: 'operations' });
    for (const { options } of [owner, support]) {
      const answer = await tryImport(service, options, [
        { provider_customer_id: 'cus_1', owner: 'guest:a@example.com' },
      ]);
      expect(answer.status).toBe(403);
    }
    const admin = await signIn(service, { is_admin: true });
    const body = await tryImport(service, admin.options, []);
    expect(body.status).toBe(400);
  });

  test('recognizes a guest’s records in a repeated import', async () => {
    const who = await importer(service);
    const { customers } = await foreign(service, { customers: [{ payment_methods: [CARD] }] });
    const row = { provider_customer_id: customers[0]?.id, owner: 'guest:Gus@Example.com' };
    const made = await tryImport(service, who, [row]);
    expect(importedOutcomes(made)).toEqual([['customer adopted', 'payment_method adopted']]);
    expect((await tryImport(service, who, [row])).body.data.counts.known).toBe(2);
  });
});

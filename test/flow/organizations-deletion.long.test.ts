import { describe, expect, inject, test, vi } from 'vitest';
import { draw } from '../../infra/simulator/state/random.ts';
import { keyedId } from '../../shared/core/ids.ts';
import { addressShape } from '../../shared/customers/address.ts';
import { customerShape } from '../../shared/customers/customer.ts';
import { newMember, newOrganization as organizationDraft } from '../../shared/organizations/organization.ts';
import { insertSteps } from '../../shared/organizations/organization-store.ts';
import { paymentMethodShape } from '../../shared/payment-methods/payment-method.ts';
import { organizationKey } from '../../shared/platform/keys.ts';
import type { Item } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { itemsOf, PATIENT, partitionOf, storedPayment, timesCharged } from './flow.ts';
import type { TestHost } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import type { ParsedJson } from './routes.ts';
import { withStops } from './stops.ts';

/** Deleting an organization ends access immediately. Due work removes its records, and its payments stay. */
const stoppable = withStops(PATIENT);

const LAST_LOOK_SECONDS = 27 * HOUR_SECONDS;

const scale = inject('scale');
/** Each stopped run has 500 records of the organization to delete. */
const STOPS = scale > 1 ? 20 : 5;
const CHILDREN = 500 * STOPS;
vi.setConfig({ testTimeout: 240_000 * scale });

const remove = (service: TestHost, id: string, owner: UserWithEmail) =>
  service.request('DELETE', `/organizations/${id}`, owner.options);

/** Every item that names the organization, by kind. */
const leftOf = async (service: TestHost, id: string): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const item of await itemsOf(service)) {
    if (!JSON.stringify(item).includes(id)) continue;
    const kind = String(item.pk).split('#')[0] ?? '';
    if (!WITHOUT_MEANING.has(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};
/** Allowed leftovers: counters, sums, logs, idempotency keys and provider events. */
const WITHOUT_MEANING = new Set(['COUNT', 'SUM', 'LOG', 'IDEM', 'EVT']);

/** A payment that stays, its entry in the list of all payments, and the item that counts its payer as new. */
const PAID = { PAY: 1, ALLPAY: 1, PAYER: 1 };

/** Writes directly to the table, for mass data and for requests that arrive too late. */
const behind = (service: TestHost) => {
  const { connection } = service.host();
  return {
    organization: (id: string): Promise<ParsedJson> => connection.getItem(organizationKey(id), true),
    put: (item: Item) => connection.putItem(item, []),
    putAll: async (items: readonly Item[]): Promise<void> => {
      await Promise.all(items.map((item) => connection.putItem(item, [])));
    },
  };
};

const AT = '2026-11-01T00:00:00.000Z';
const record = (kind: 'address' | 'customer' | 'payment_method', organizationId: string, number: number) => ({
  id: keyedId('seed', kind, organizationId, String(number)),
  version: 1,
  createdAt: AT,
  updatedAt: AT,
  organizationId,
});
const addressItem = (organizationId: string, number: number): Item =>
  recordItem(addressShape, {
    ...record('address', organizationId, number),
    country: 'US',
    isPartial: true,
    isBusiness: false,
    type: 'billing',
  });
const customerItem = (organizationId: string, number: number): Item =>
  recordItem(customerShape, {
    ...record('customer', organizationId, number),
    providerId: 'provider_a',
    providerCustomerId: `cus_gone_${number}`,
  });
const methodItem = (organizationId: string, number: number): Item =>
  recordItem(paymentMethodShape, {
    ...record('payment_method', organizationId, number),
    providerId: 'provider_a',
    providerMethodId: `pm_gone_${number}`,
    type: 'card',
  });
const memberItems = (organizationId: string, count: number): Item[] => {
  const members = Array.from({ length: count }, (_, number) =>
    newMember({ organizationId, userId: `user_${number}`, role: 'member' }, AT),
  );
  const draft = organizationDraft({ id: organizationId, name: 'x', ownerUserId: 'x' }, AT);
  return insertSteps(draft, members)
    .slice(2)
    .flatMap((step) => ('put' in step ? [step.put] : []));
};
const many = (count: number, itemOf: (number: number) => Item): Item[] =>
  Array.from({ length: count }, (_, number) => itemOf(number));

const customerIn = (id: string) => ({ provider_id: 'provider_a', email: 'payer@example.com', organization_id: id });
const cardIn = (id: string) => ({
  provider_id: 'provider_a',
  provider_payment_method_token: 'pm_card_visa',
  organization_id: id,
});

describe('the deletion of an organization', () => {
  const part = (share: number): number => Math.round(CHILDREN * share);

  test('leaves only its payments, despite thousands of records, many stops and late writes', async () => {
    const { service, stopped } = stoppable();
    const [owner, biller] = [await newPerson(service), await newPerson(service)];
    const id = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId: id, email: biller.email, role: 'billing' });
    const { put, putAll, organization } = behind(service);
    await putAll([
      ...memberItems(id, part(0.55)),
      ...many(part(0.39), (number) => addressItem(id, number)),
      ...many(part(0.02), (number) => methodItem(id, number)),
      ...many(part(0.04), (number) => customerItem(id, number)),
    ]);
    const write = (body: (organizationId: string) => object, path: string) =>
      service.post(path, body(id), biller.options);
    const payments = await Promise.all(
      [1, 2, 3].map(() => write((organization_id) => intentBody({ organization_id }), '/payments/intents')),
    );
    expect(payments.map(({ status }) => status)).toEqual([201, 201, 201]);

    const writing = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0 ? write(customerIn, '/customers') : write(cardIn, '/payment-methods'),
    );
    const [deleted, ...written] = await Promise.all([remove(service, id, owner), ...writing]);
    expect(deleted).toMatchObject({ status: 200 });
    for (const { status } of written) expect([201, 403]).toContain(status);

    const stoppedAt = new Set<string>();
    for (let stop = 0; stop < STOPS; stop += 1) {
      const call = 8 + Math.floor(draw(1, stop) * 150);
      await stopped({ call, executed: stop % 2 === 0 }, () => service.advance(MINUTE_SECONDS));
      const { due_at } = await organization(id);
      // The lease of the stopped run has not expired yet.
      expect(Date.parse(due_at)).toBeGreaterThan(service.now());
      stoppedAt.add(due_at);
      // A write that passed the access check before the deletion.
      await put(stop % 2 === 0 ? addressItem(id, 10_000 + stop) : customerItem(id, 10_000 + stop));
      expect(await write(customerIn, '/customers')).toMatchObject({ status: 403 });
      await service.advance(stop % 4 === 0 ? 14 * MINUTE_SECONDS : 15 * MINUTE_SECONDS);
    }
    expect(stoppedAt.size).toBe(STOPS);
    expect(await leftOf(service, id)).toMatchObject({ ORG: 1, CUS: expect.any(Number), PAY: expect.any(Number) });

    await service.advance(90 * MINUTE_SECONDS);
    expect(Object.keys(await leftOf(service, id))).toEqual(['ALLPAY', 'ORG', 'PAY']);
    await service.advance(LAST_LOOK_SECONDS);
    const left = await leftOf(service, id);
    expect(Object.keys(left)).toEqual(['ALLPAY', 'PAY']);
    const stays = payments.map(({ body }) => `PAY#${body.id}`).sort();
    const stored = (await itemsOf(service, 'PAY#')).filter(
      ({ sk, organizationId }) => sk === 'PAY' && organizationId === id,
    );
    expect(stored.map(({ pk }) => pk)).toEqual(stays);
    expect((await itemsOf(service, 'REF#')).filter(({ kind }) => kind !== 'PAY')).toEqual([]);
    expect(await atProvider(service)).toEqual({ customers: 0, attached: 0 });
  });

  test('removes the other records while the provider does not respond, and retries the failed record later', async () => {
    const { service } = stoppable();
    const owner = await newPerson(service);
    const id = await newOrganization(service, owner);
    expect(await service.post('/payment-methods', cardIn(id), owner.options)).toMatchObject({ status: 201 });
    await behind(service).putAll(many(30, (number) => addressItem(id, number)));
    await service.fault({ provider: 'provider_a', action: 'error_500', times: 1_000 });
    await remove(service, id, owner);
    await service.advance(2 * MINUTE_SECONDS);
    const left = await leftOf(service, id);
    await service.clearFaults();
    expect(left).toMatchObject({ ORG: 1, PM: 1, CUS: 1 });
    expect(left).not.toHaveProperty('ADDR');
    await service.advance(10 * MINUTE_SECONDS);
    expect(await leftOf(service, id)).toEqual({ ORG: 1 });
    expect(await atProvider(service)).toEqual({ customers: 0, attached: 0 });
  });

  test('ends a payment attempt unknown to the provider, so it is not sent again', async () => {
    const { service } = stoppable();
    const owner = await newPerson(service);
    const id = await newOrganization(service, owner);
    const body = intentBody({ organization_id: id, payment_method_id: VISA });
    const { body: payment } = await service.post('/payments/intents', body, owner.options);
    await service.fault({ provider: 'provider_a', path: '/confirm', action: 'error_500' });
    const confirmed = await service.post(`/payments/confirm/${payment.id}`, {}, owner.options);
    expect(confirmed.body).toMatchObject({ status: 'processing' });
    await remove(service, id, owner);
    await service.clearFaults();
    await service.advance(HOUR_SECONDS);
    expect(await timesCharged(service, payment.id)).toBe(0);
    expect(await storedPayment(service, payment.id)).toMatchObject({ status: 'failed' });
  });

  test('takes effect for members immediately, and leaves no membership behind', async () => {
    const { service } = stoppable();
    const [owner, member] = [await newPerson(service), await newPerson(service)];
    const id = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId: id, email: member.email, role: 'admin' });
    await remove(service, id, owner);
    const listed = await service.get('/organizations', member.options);
    expect(listed.body).toMatchObject({ data: [], meta: { pagination: { total: 0 } } });
    const add = await service.post(
      `/organizations/${id}/members`,
      { email: member.email, role: 'member' },
      owner.options,
    );
    expect(add).toMatchObject({ status: 404 });
    await service.advance(4 * MINUTE_SECONDS);
    expect(await leftOf(service, id)).toEqual({ ORG: 1 });
  });

  test('removes late writes by callers with an earlier access check, after a minute and after a day', async () => {
    const { service } = stoppable();
    const owner = await newPerson(service);
    const id = await newOrganization(service, owner);
    await remove(service, id, owner);
    await service.advance(MINUTE_SECONDS);
    expect(await leftOf(service, id)).toEqual({ ORG: 1 });
    await behind(service).put(addressItem(id, 1));
    await service.advance(4 * MINUTE_SECONDS);
    expect(await leftOf(service, id)).toEqual({ ORG: 1 });
    await behind(service).put(addressItem(id, 2));
    await service.advance(LAST_LOOK_SECONDS);
    expect(await leftOf(service, id)).toEqual({ ORG: 1 });
    await service.advance(LAST_LOOK_SECONDS);
    expect(await leftOf(service, id)).toEqual({});
  });

  test.each([
    { when: 'immediately', late: false },
    { when: 'after the removal of its customer', late: true },
  ])(
    'also ends a subscription whose creation was interrupted, and records its charge from events that arrive $when',
    async ({ late }) => {
      const { service, stopped } = stoppable();
      const owner = await newPerson(service);
      const id = await newOrganization(service, owner);
      const { body: customer } = await service.post('/customers', customerIn(id), owner.options);
      const { body: method } = await service.post('/payment-methods', cardIn(id), owner.options);
      const names = { organization_id: id, customer_id: customer.id, payment_method_id: method.id };
      const create = () => service.post('/subscriptions', subscriptionBody(names), owner.options);
      if (late) await service.webhookMode('drop');
      const { status } = await stopped({ call: 'POST /v1/subscriptions', executed: true }, create);
      expect(status).toBeGreaterThanOrEqual(500);
      expect((await remove(service, id, owner)).status).toBe(200);
      await service.advance(10 * MINUTE_SECONDS);
      await service.webhookMode('normal');
      const { subscriptions, invoices } = await service.ledger();
      const [made] = subscriptions.filter((one) => one.customer === customer.provider_customer_id);
      const invoice = invoices.find(({ subscription }) => subscription === present(made).id);
      if (late) await service.sendEvent(invoicePaid(invoice, made));
      await service.advance(LAST_LOOK_SECONDS);
      expect(await leftOf(service, id)).toEqual({ ORG: 1, ...PAID });
      await service.advance(LAST_LOOK_SECONDS);
      expect(await leftOf(service, id)).toEqual(PAID);
      expect(made?.status).toBe('canceled');
    },
  );

  test('keeps a payment that Stripe took shortly before, although its event comes later', async () => {
    const { service } = stoppable();
    const owner = await newPerson(service);
    const id = await newOrganization(service, owner);
    const { body: customer } = await service.post('/customers', customerIn(id), owner.options);
    const { body: method } = await service.post('/payment-methods', cardIn(id), owner.options);
    const names = { organization_id: id, customer_id: customer.id, payment_method_id: method.id };
    const made = await service.post('/subscriptions', subscriptionBody(names), owner.options);
    expect(made.status).toBe(201);
    await service.settle();
    await service.webhookMode('delay');
    const later = new Date(service.now() + 10 * DAY_SECONDS * 1_000).toISOString();
    for (const trial_end of [later, 'now'])
      await service.control('POST', `/simulator/subscriptions/${made.body.id}`, { trial_end });
    expect((await remove(service, id, owner)).status).toBe(200);
    await service.advance(10 * MINUTE_SECONDS);
    await service.webhookMode('normal');
    await service.advance(2 * LAST_LOOK_SECONDS);
    const { charges, invoices } = await service.ledger();
    const intents = invoices
      .filter(({ subscription }) => subscription === made.body.provider_subscription_id)
      .map(({ payment_intent }) => payment_intent);
    const paid = charges.filter(({ payment_intent }) => intents.includes(payment_intent));
    expect(paid).toHaveLength(2);
    for (const { payment_id } of paid) {
      expect(await storedPayment(service, payment_id)).toMatchObject({ status: 'succeeded', organizationId: id });
    }
  });

  test('is final, so a repeat under the creation’s Idempotency-Key does not recreate the id', async () => {
    const { service } = stoppable();
    const owner = await newPerson(service);
    const create = () => service.post('/organizations', { name: 'Acme' }, { ...owner.options, idempotencyKey: 'k' });
    const { id } = (await create()).body.data;
    await remove(service, id, owner);
    const inBetween = await create();
    await service.advance(4 * MINUTE_SECONDS);
    const afterwards = await create();
    for (const answer of [inBetween, afterwards]) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    }
    await service.advance(LAST_LOOK_SECONDS);
    const tombstone = (await partitionOf(service, `ORG#${id}`))[0];
    expect(Object.keys(tombstone).sort()).toEqual(['createdAt', 'deletedAt', 'id', 'pk', 'requestHash', 'sk']);
    await service.advance(2 * DAY_SECONDS);
    const later = await create();
    expect(later.status).toBe(201);
    expect(later.body.data.id).not.toBe(id);
    expect(await service.get(`/organizations/${id}`, owner.options)).toMatchObject({ status: 404 });
  });
});

const invoicePaid = (invoice: ParsedJson, { id, subscription_id }: ParsedJson) => ({
  type: 'invoice.payment_succeeded',
  object: {
    ...{ id: invoice.id, object: 'invoice', subscription: id, status: 'paid' },
    subscription_details: { metadata: { subscription_id } },
  },
});

const atProvider = async (service: TestHost) => {
  const ledger: ParsedJson = await service.ledger();
  const attached = ledger.payment_methods.filter(({ customer }: { customer: unknown }) => customer);
  const customers = ledger.customers.filter(({ deleted }: { deleted: unknown }) => !deleted);
  return { customers: customers.length, attached: attached.length };
};

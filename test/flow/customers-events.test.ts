import { describe, expect, test } from 'vitest';
import { THREE_D_SECURE } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, createPaidIntent, itemsOf, PATIENT, read, signIn, type User } from './flow.ts';
import { type TestProviderEvent, withHost } from './host.ts';
import { createCustomer, customerEventsOf, guestWithMethod, outcomesOf, saveMethod, storedRecord } from './payers.ts';
import type { CustomerBody, ParsedJson } from './routes.ts';

/**
 * Provider events about customers, and the events that follow on the bus. With CUSTOMER_DELETE_HISTORY, the deletion of
 * a customer also removes its payments.
 */
const service = withHost({ frozen: true, env: { ...PATIENT, CUSTOMER_DELETE_HISTORY: 'true' } });

const seconds = (): number => Math.floor(service.now() / 1_000);
const namesOf = async (customerId: string): Promise<string[]> =>
  (await customerEventsOf(service, customerId)).map((event) => event['detail-type']);
const readCustomer = async (user: User, id: string) => (await service.get(`/customers/${id}`, user.options)).body;

const sendEvent = async (type: string, object: object, event: Partial<TestProviderEvent> = {}): Promise<void> => {
  const answer = await service.sendEvent({ type, object, ...event });
  expect(answer).toMatchObject({ status: 200, body: { received: true } });
  await service.settle();
};

/** Creates a customer, and waits until the events of the creation are processed. */
const known = async (fields = {}): Promise<{ user: User; customer: CustomerBody; at: ParsedJson }> => {
  const user = await signIn(service);
  const customer = await createCustomer(service, user.options, { name: 'Ada', phone: '+1555', ...fields });
  await service.advance(10 * MINUTE_SECONDS);
  return { user, customer, at: { id: customer.provider_customer_id } };
};

describe('customer.updated', () => {
  test.each(['contract', 'native'] as const)(
    'ignores overlong e-mails, names and phone numbers before processing them (%s vocabulary)',
    async (vocabulary) => {
      const { user, customer, at } = await known();
      const startedAt = process.cpuUsage();
      await sendEvent('customer.updated', { ...at, email: '\u0301\u0316'.repeat(40_000) }, { vocabulary });
      const { user: used, system } = process.cpuUsage(startedAt);
      // Unicode composition of these marks would take a second.
      expect((used + system) / 1_000).toBeLessThan(700);
      const long = 'x'.repeat(80_000);
      await sendEvent('customer.updated', { ...at, email: `${long}@x.org`, name: long, phone: long }, { vocabulary });
      expect(await readCustomer(user, customer.id)).toEqual(customer);
      await service.advance(MINUTE_SECONDS);
      await sendEvent('customer.updated', { ...at, name: 'Grace', email: `${long}@x.org` }, { vocabulary });
      expect(await readCustomer(user, customer.id)).toMatchObject({ name: 'Grace', email: customer.email });
    },
  );

  test.each(['contract', 'native'] as const)(
    'refreshes e-mail, name and phone in the %s vocabulary, and publishes one event',
    async (vocabulary) => {
      const { user, customer, at } = await known({ metadata: { kept: true }, first_name: 'Ada' });
      await sendEvent(
        'customer.updated',
        { ...at, email: 'NEW@example.com', name: 'Grace', phone: '+1777' },
        { vocabulary },
      );
      expect(await readCustomer(user, customer.id)).toEqual({
        ...customer,
        email: 'new@example.com',
        name: 'Grace',
        first_name: null,
        phone: '+1777',
        updated_at: new Date(service.now()).toISOString(),
      });
      expect(await namesOf(customer.id)).toEqual(['customer.created', 'customer.updated']);
      const [entry] = (await outcomesOf(service, at.id)).slice(-1);
      expect(entry).toMatchObject({
        provider: 'provider_a',
        eventType: 'customer.updated',
        status: 'success',
        direction: 'inbound',
        userId: user.userId,
        response: { outcome: 'applied', reason: 'customer refreshed' },
      });
      expect(JSON.stringify(entry)).not.toContain('NEW@example.com');
    },
  );

  test('keeps the fields missing in the event', async () => {
    const { user, customer, at } = await known();
    await sendEvent('customer.updated', { ...at, name: 'Grace' });
    expect(await readCustomer(user, customer.id)).toMatchObject({
      ...customer,
      name: 'Grace',
      updated_at: expect.any(String),
    });
  });

  test('changes and publishes nothing when repeated or when the values are already known', async () => {
    const { user, customer, at } = await known();
    const event = { id: `evt_${customer.id}`, times: 3 };
    await sendEvent('customer.updated', { ...at, name: 'Grace' }, event);
    await sendEvent('customer.updated', { ...at, name: 'Grace' });
    const now = await readCustomer(user, customer.id);
    await service.advance(MINUTE_SECONDS);
    await sendEvent('customer.updated', { ...at, name: 'Grace' });
    expect(await readCustomer(user, customer.id)).toEqual(now);
    expect(await namesOf(customer.id)).toEqual(['customer.created', 'customer.updated']);
  });

  test('is stale if it is older than the stored values, in any order of arrival', async () => {
    const { user, customer, at } = await known();
    const started = seconds();
    await service.advance(MINUTE_SECONDS);
    // Both events arrive late, and the older event arrives last.
    await sendEvent('customer.updated', { ...at, name: 'Newer' }, { created: started + 20 });
    await sendEvent('customer.updated', { ...at, name: 'Older' }, { created: started + 10 });
    expect(await readCustomer(user, customer.id)).toMatchObject({ name: 'Newer' });
    // This event is newer than both events above, but was created before they arrived.
    await sendEvent('customer.updated', { ...at, name: 'Newest' }, { created: started + 30 });
    expect(await readCustomer(user, customer.id)).toMatchObject({ name: 'Newest' });
    expect(
      (await outcomesOf(service, at.id))
        .slice(-3)
        .map(({ response }) => response.reason)
        .sort(),
    ).toEqual(['customer refreshed', 'customer refreshed', 'stale']);
  });

  test('makes older events stale even if it repeats known values', async () => {
    const { user, customer, at } = await known();
    const started = seconds();
    await service.advance(MINUTE_SECONDS);
    await sendEvent('customer.updated', { ...at, name: 'Ada' }, { created: started + 20 });
    await sendEvent('customer.updated', { ...at, name: 'Older' }, { created: started + 10 });
    expect(await readCustomer(user, customer.id)).toEqual(customer);
    expect(await namesOf(customer.id)).toEqual(['customer.created']);
  });

  test('is stale if sent before our own change at the provider, except for a change of metadata', async () => {
    const { user, customer, at } = await known();
    const started = seconds();
    await service.advance(MINUTE_SECONDS);
    await service.put(`/customers/${customer.id}`, { metadata: { a: 1 } }, user.options);
    await sendEvent('customer.updated', { ...at, name: 'Grace' }, { created: started + 10 });
    expect(await readCustomer(user, customer.id)).toMatchObject({ name: 'Grace' });
    await service.webhookMode('drop');
    await service.put(`/customers/${customer.id}`, { name: 'Ours' }, user.options);
    await service.webhookMode('normal');
    await sendEvent('customer.updated', { ...at, name: 'Theirs' }, { created: started + 20 });
    expect(await readCustomer(user, customer.id)).toMatchObject({ name: 'Ours' });
  });

  test('is retried, then logged, for an unknown customer', async () => {
    await sendEvent('customer.updated', { id: 'cus_unknown', name: 'Unknown' });
    expect(await outcomesOf(service, 'cus_unknown')).toEqual([]);
    await service.advance(HOUR_SECONDS);
    expect(await outcomesOf(service, 'cus_unknown')).toMatchObject([
      { status: 'failed', response: { outcome: 'unmatched' } },
    ]);
  });
});

describe('customer.created', () => {
  test('is only logged, for known and unknown customers', async () => {
    const { user, customer, at } = await known();
    await sendEvent('customer.created', { ...at, name: 'Other' });
    await sendEvent('customer.created', { id: 'cus_of_the_dashboard', email: 'd@example.com' });
    expect(await readCustomer(user, customer.id)).toEqual(customer);
    expect(await namesOf(customer.id)).toEqual(['customer.created']);
    expect((await outcomesOf(service, at.id)).at(-1)).toMatchObject({
      status: 'success',
      response: { outcome: 'ignored' },
    });
    expect(await outcomesOf(service, 'cus_of_the_dashboard')).toMatchObject([
      { status: 'success', response: { outcome: 'ignored', reason: 'no such customer here' } },
    ]);
    expect((await itemsOf(service, 'CUS#')).some((item) => item.email === 'd@example.com')).toBe(false);
  });
});

describe('customer.deleted', () => {
  test.each(['contract', 'native'] as const)(
    'removes the customer and its methods in the %s vocabulary, without a call to the provider',
    async (vocabulary) => {
      const user = await signIn(service);
      const method = await saveMethod(service, user.options, { is_default: true });
      const { provider_customer_id, id } = await readCustomer(user, method.customer_id);
      await service.settle();
      await service.clearProviderRequests();
      await sendEvent('customer.deleted', { id: provider_customer_id }, { vocabulary });
      expect(await service.providerRequests()).toEqual([]);
      expect((await service.get(`/customers/${id}`, user.options)).status).toBe(404);
      expect(await service.get('/payment-methods', user.options)).toMatchObject({ body: [] });
      expect((await itemsOf(service, 'OWNER#')).filter(({ pk }) => pk.includes(user.userId))).toEqual([]);
      expect(await namesOf(id)).toEqual(['customer.created']);
      const outcomes = (await outcomesOf(service, provider_customer_id)).map(({ response }) => response);
      expect(outcomes).toContainEqual({ outcome: 'applied', reason: 'customer removed' });
    },
  );

  test('changes nothing when repeated or for an unknown customer', async () => {
    const { at } = await known();
    await sendEvent('customer.deleted', at);
    await sendEvent('customer.deleted', at);
    await sendEvent('customer.deleted', { id: 'cus_never' });
    const deletions = (await outcomesOf(service, at.id)).filter(({ eventType }) => eventType === 'customer.deleted');
    expect(deletions.map(({ response }) => response.outcome).sort()).toEqual(['applied', 'ignored']);
    expect(await outcomesOf(service, 'cus_never')).toMatchObject([{ status: 'success' }]);
  });

  test('removes only the methods of the customer’s own guest', async () => {
    const [one, two] = [
      await guestWithMethod(service, 'twin@example.com'),
      await guestWithMethod(service, 'twin@example.com'),
    ];
    const customer = await storedRecord(service, 'CUS', one.method.customer_id);
    await sendEvent('customer.deleted', { id: customer.providerCustomerId });
    expect(await service.get('/payment-methods', one.options)).toMatchObject({ status: 200, body: [] });
    expect((await service.get('/payment-methods', two.options)).body).toHaveLength(1);
  });
});

describe('a deletion that includes history', () => {
  test('removes all data of the customer’s payments, but no data of other payments', async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const before = await createIntent(service, user);
    const customer = await createCustomer(service, user.options);
    const paid = await createPaidIntent(service, user, { description: 'secret-of-a-payment' });
    const open = await createPaidIntent(service, user);
    await confirm(service, paid.id, user.options);
    expect([paid.customer_id, open.customer_id]).toEqual([customer.id, customer.id]);
    await service.settle();
    expect((await service.request('DELETE', `/customers/${customer.id}`, user.options)).status).toBe(204);
    await service.settle();
    for (const { id } of [paid, open]) expect((await service.get(`/payments/${id}`, user.options)).status).toBe(404);
    const { data, meta } = (await service.get('/payments', user.options)).body;
    expect(data.map(({ id }) => id)).toEqual([before.id]);
    expect(meta).toMatchObject({ total: 1 });
    const items = await itemsOf(service);
    const left = items.filter((item) => [paid, open].some(({ id }) => JSON.stringify(item).includes(id)));
    // Only the log of inbound events, kept for 90 days, holds the provider's payload with the customer's name.
    expect(new Set(left.map(({ pk }) => pk.split('#')[0]))).toEqual(new Set(['LOG']));
    const counted = items.filter(({ pk }) => pk === `SUM#USER#${user.userId}#PAY`);
    const sum = (status: string): number =>
      counted.reduce((total, item) => total + (item[`status#${status}#count`] ?? 0), 0);
    expect(['succeeded', 'created', 'requires_payment_method'].map(sum)).toEqual([0, 0, 1]);
  });

  test('keeps a payment whose money may still be moving', async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const customer = await createCustomer(service, user.options);
    const waiting = await createPaidIntent(service, user, { payment_method_id: THREE_D_SECURE });
    await confirm(service, waiting.id, user.options);
    expect((await service.request('DELETE', `/customers/${customer.id}`, user.options)).status).toBe(204);
    expect(await read(service, waiting.id, user.options)).toMatchObject({ status: 'pending' });
  });
});

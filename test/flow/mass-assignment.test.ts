import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { fullAddress } from '../builders/address.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { productBody } from '../builders/reference.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { targetOf } from '../builders/target-of.ts';
import { createIntent, itemsOf, signIn, type User } from './flow.ts';
import { heldPayment } from './holders.ts';
import { type ParsedJson, withHost } from './host.ts';
import { company, createAddress, createCustomer, saveMethod } from './payers.ts';
import { paidPayment } from './refunders.ts';
import { command, OWN_BILLING, subscribe, subscriber } from './subscribers.ts';

/** Only the fields that the caller may set are stored, here and at the provider; other fields are ignored. */
const service = withHost({ frozen: true, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', ...OWN_BILLING } });

const CANARY = 'canary-5f2a';

/** Fields of records, of the table's own items, of callers. A route that accepts such a field says so. */
const FORBIDDEN: readonly string[] = [
  ...['id', 'version', 'status', 'created_at', 'createdAt', 'updated_at', 'updatedAt', 'completed_at', 'completedAt'],
  ...['user_id', 'userId', 'user_email', 'userEmail', 'guest_id', 'guestId', 'guest_email', 'guestEmail', 'guestName'],
  ...['organizationId', 'owner_user_id', 'ownerUserId', 'members', 'members_owner', 'your_role', 'is_admin'],
  ...['client_secret', 'clientSecret', 'provider_payment_id', 'providerPaymentId', 'provider_intent_id'],
  ...['providerIntentId', 'provider_customer_id', 'providerCustomerId', 'provider_payment_method_id', 'methodRef'],
  ...['providerMethodId', 'attempt', 'attemptRef', 'claimedAt', 'draft', 'anomaly', 'failure_code', 'failureCode'],
  ...['reconcileAt', 'busyUntil', 'requestHash', 'subscription_id', 'subscriptionId', 'order_id', 'orderId'],
  ...['is_guest_payment', 'is_guest_method', 'is_guest_address', 'is_guest', 'tax_id_valid', 'taxIdValid'],
  ...['card_brand', 'card_last_four', 'cardBrand', 'lastFour', 'knownAt', 'next_action', 'provider_synced'],
  ...['captureMethod', 'authorized_cents', 'authorizedCents', 'captured_cents', 'capturableCents', 'capture_before'],
  ...['captureBefore', 'holdCall', 'holdEnd', 'holdCheckAt', 'failedCaptures', 'captureDueSent', 'cancellation_reason'],
  ...['secret', 'secrets', 'prefix', 'revoked_at', 'revokedAt', 'last_used_at', 'created_by', 'createdBy', 'made'],
  ...['pk', 'sk', 'owner', 'project', 'sort', 'f', 'due', 'due_at', 'ttl', 'tombstone', 'deletedAt', 'n'],
];

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: ParsedJson;
  readonly user: User;
}

const as = async (user: User, target: string, body: ParsedJson = {}): Promise<Write> => ({
  ...targetOf(target),
  body,
  user,
});
const someone = () => signIn(service);
const admin = () => signIn(service, { is_admin: true });

const ofSubscription = async (target: string, body: ParsedJson = {}, after?: 'cancel' | 'pause'): Promise<Write> => {
  const who = await subscriber(service);
  const { id } = await subscribe(service, who);
  if (after) await command(service, who, { id, name: after });
  const { method, path } = targetOf(target);
  return as(who.user, `${method} /subscriptions/${id}${path}`, body);
};

/** A product to change to. */
const monthlyPlan = async (): Promise<string> => {
  const fields = { total_cents: 9_900, currency: 'USD', billing_interval: 'monthly' };
  const { options } = await admin();
  expect((await service.put('/admin/products/to-change', productBody(fields), options)).status).toBe(200);
  return 'to-change';
};

const KEY = { name: 'backend', scopes: ['payments:read'] };

const ofKey = async (method: string, path: string, body: ParsedJson = {}): Promise<Write> => {
  const user = await admin();
  const made = await service.post('/admin/keys', KEY, user.options);
  return as(user, `${method} /admin/keys/${made.body.data.id}${path}`, body);
};

/** One successful request per route that accepts a body. */
const WRITES: Readonly<Record<string, () => Promise<Write>>> = {
  'payments.create-intent': async () => as(await someone(), 'POST /payments/intents', intentBody()),
  'payments.create': async () => as(await someone(), 'POST /payments', intentBody()),
  'payments.update-intent': async () => {
    const user = await someone();
    const { id } = await createIntent(service, user);
    return as(user, `PUT /payments/intents/${id}`, { total_cents: 99 });
  },
  'payments.confirm': async () => {
    const user = await someone();
    const { id } = await createIntent(service, user);
    return as(user, `POST /payments/confirm/${id}`, { payment_method_id: VISA });
  },
  'payments.cancel-intent': async () => {
    const user = await someone();
    const { id } = await createIntent(service, user);
    return as(user, `POST /payments/intents/${id}/cancel`);
  },
  'payments.sync': async () => {
    const user = await someone();
    const { provider_payment_id: id } = await createIntent(service, user);
    return as(user, `POST /payments/sync/${id}`);
  },
  'payments.capture': async () => {
    const { id } = await heldPayment(service, await someone());
    return as(await admin(), `POST /payments/${id}/capture`, { total_cents: 500 });
  },
  'refunds.create': async () => {
    const payment = await paidPayment(service, await someone());
    return as(await admin(), `POST /payments/${payment.id}/refunds`, { amount_cents: 500 });
  },
  'customers.create': async () => as(await someone(), 'POST /customers', customerBody()),
  'customers.update': async () => {
    const user = await someone();
    const { id } = await createCustomer(service, user.options);
    return as(user, `PUT /customers/${id}`, { name: 'Ada' });
  },
  'payment-methods.create': async () => as(await someone(), 'POST /payment-methods', methodBody()),
  'payment-methods.update': async () => {
    const user = await someone();
    const { id } = await saveMethod(service, user.options);
    return as(user, `PUT /payment-methods/${id}`, { alias: 'Work' });
  },
  'payment-methods.link-address': async () => {
    const user = await someone();
    const [{ id }, address] = [await saveMethod(service, user.options), await createAddress(service, user.options)];
    return as(user, `PATCH /payment-methods/${id}/billing-address`, { billing_address_id: address.id });
  },
  'payment-methods.set-default': async () => {
    const user = await someone();
    const { id } = await saveMethod(service, user.options);
    return as(user, `POST /payment-methods/${id}/set-default`);
  },
  'addresses.set-default': async () => {
    const user = await someone();
    const { id } = await createAddress(service, user.options);
    return as(user, `POST /addresses/${id}/set-default`);
  },
  'addresses.create': async () => as(await someone(), 'POST /addresses', fullAddress()),
  'addresses.update': async () => {
    const user = await someone();
    const { id } = await createAddress(service, user.options);
    return as(user, `PUT /addresses/${id}`, { city: 'Paris' });
  },
  'organizations.create': async () => as(await someone(), 'POST /organizations', { name: 'Acme' }),
  'organizations.update': async () => {
    const { id, owner } = await company(service);
    return as(owner, `PUT /organizations/${id}`, { name: 'Acme Ltd' });
  },
  'organizations.add-member': async () => {
    const { id, owner } = await company(service);
    await signIn(service, { email: 'joins@example.com' });
    return as(owner, `POST /organizations/${id}/members`, { email: 'joins@example.com', role: 'member' });
  },
  'organizations.change-role': async () => {
    const { id, owner } = await company(service);
    const { data } = (await service.get(`/organizations/${id}/members?role=member`, owner.options)).body;
    return as(owner, `PUT /organizations/${id}/members/${data[0].id}`, { role: 'billing' });
  },
  'organizations.leave': async () => {
    const { id, member } = await company(service);
    return as(member, `POST /organizations/${id}/leave`);
  },
  'webhooks.send-test': async () => as(await admin(), 'POST /webhooks/test', { event: 'payment.succeeded' }),
  'webhooks.replay-log': async () => {
    const boss = await admin();
    await createIntent(service, boss);
    await service.settle();
    const [entry] = (await service.get('/webhooks/logs?event_type=payment.created', boss.options)).body;
    return as(boss, `POST /webhooks/logs/${entry.id}/replay`);
  },
  'subscriptions.create': async () => {
    const { user, names } = await subscriber(service);
    return as(user, 'POST /subscriptions', subscriptionBody(names));
  },
  'subscriptions.update': () => ofSubscription('PATCH ', { metadata: { seat: '1' } }),
  'subscriptions.link-address': () => ofSubscription('PATCH /billing-address', { billing_address_id: null }),
  'subscriptions.cancel': () => ofSubscription('POST /cancel', { cancel_at_period_end: true }),
  'subscriptions.reactivate': () => ofSubscription('POST /reactivate', {}, 'cancel'),
  'subscriptions.pause': () => ofSubscription('POST /pause'),
  'subscriptions.resume': () => ofSubscription('POST /resume', {}, 'pause'),
  'subscriptions.change': async () => ofSubscription('POST /change', { product_id: await monthlyPlan() }),
  'subscriptions.preview-change': async () =>
    ofSubscription('POST /change/preview', { product_id: await monthlyPlan() }),
  'admin.put-record': async () => as(await admin(), 'PUT /admin/products/assigned', productBody()),
  'admin.request-erasure': async () => as(await admin(), 'POST /admin/erasures', { user_id: 'user_unknown' }),
  'admin.create-key': async () => as(await admin(), 'POST /admin/keys', KEY),
  'admin.update-key': async () => ofKey('PATCH', '', { name: 'renamed' }),
  'admin.rotate-key': async () => ofKey('POST', '/rotate'),
  'admin.clear-cache': async () => as(await admin(), 'POST /admin/cache/clear', { cache_type: 'all' }),
};

const takesBody = endpoints.filter(({ body, bodyForm }) => body !== null && bodyForm === 'json').map(({ id }) => id);

describe('a field that callers may never set', () => {
  test.each(takesBody)('is ignored by %s', async (id) => {
    const write = WRITES[id];
    if (!write) throw new Error(`${id} has no case here`);
    const { method, path, body, user } = await write();
    const forbidden = FORBIDDEN.filter((field) => !(field in body));
    const assigned = Object.fromEntries(forbidden.map((field) => [field, `${CANARY} of ${id}`]));
    const answer = await service.request(method, path, { ...user.options, body: { ...assigned, ...body } });
    expect(answer).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
    expect(JSON.stringify(answer.body)).not.toContain(CANARY);
  });

  test('is never stored, here or at the provider', async () => {
    await service.settle();
    const kept = [...(await itemsOf(service)), ...Object.values(await service.ledger()).flat()];
    expect(kept.length).toBeGreaterThan(takesBody.length);
    expect(kept.filter((item) => JSON.stringify(item).includes(CANARY))).toEqual([]);
  });
});

/** @module A body with an unknown field is refused as a whole. No data is stored in the table or at the provider. */

import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { REFERENCES } from '../../shared/catalog/catalog-kinds.ts';
import { rowOf } from '../../shared/core/rows.ts';
import { guestDataField } from '../../shared/http/guest-fields.ts';
import { namesOf } from '../../shared/http/known-fields.ts';
import { fullAddress } from '../builders/address.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { productBody } from '../builders/reference.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { targetOf } from '../builders/target-of.ts';
import { createIntent, itemsOf, signIn, type User } from './flow.ts';
import { heldPayment } from './holders.ts';
import { withHost } from './host.ts';
import { createLink, pageToken, withToken } from './pages.ts';
import { company, createAddress, createCustomer, saveMethod } from './payers.ts';
import { paidPayment } from './refunders.ts';
import type { ParsedJson, ShownProblem } from './routes.ts';
import { command, OWN_BILLING, subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', ...OWN_BILLING } });

const CANARY = 'canary-5f2a';

/** Fields of records, table items and callers. A route that accepts such a field declares it. */
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

/** The target product of a plan change. */
const monthlyPlan = async (): Promise<string> => {
  const fields = { total_cents: 9_900, currency: 'USD', billing_interval: 'monthly' };
  const { options } = await admin();
  expect((await service.put('/admin/products/to-change', productBody(fields), options)).status).toBe(200);
  return 'to-change';
};

/** A request from a hosted page, with the token of its link. */
const onPage = async (target: string, token: string, body: ParsedJson = {}): Promise<Write> =>
  as({ ...(await someone()), options: withToken(token) }, target, body);

const onSubscriptionPage = async (target: string, body: ParsedJson = {}): Promise<Write> => {
  const { id } = await subscribe(service, await subscriber(service));
  return onPage(target, await pageToken(service, id), body);
};

const onPaymentLink = async (target: string, body: ParsedJson): Promise<Write> =>
  as(await admin(), `${target}/${(await createLink(service)).id}`, body);

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
  'payments.change-metadata': async () => {
    const { id } = await paidPayment(service, await someone());
    return as(await admin(), `PATCH /payments/${id}`, { metadata: { shipped: true } });
  },
  'discounts.check': async () =>
    as(await someone(), 'POST /discounts/check', { code: 'SPRING', subtotal_cents: 500, currency: 'USD' }),
  'payments.link': async () => {
    const { id } = await createIntent(service, await someone());
    return as(await admin(), `POST /payments/${id}/link`, { expires_in: 600 });
  },
  'subscriptions.link': async () => {
    const { id } = await subscribe(service, await subscriber(service));
    return as(await admin(), `POST /subscriptions/${id}/link`, { expires_in: 600 });
  },
  'pay.start': async () => {
    const { token } = await createLink(service);
    const headers = { ...withToken(token).headers, 'idempotency-key': 'the key of an unknown field' };
    const user = { ...(await someone()), options: { headers } };
    return as(user, 'POST /pay/start', { email: 'pia@example.com', name: 'Pia' });
  },
  'pay.confirm': async () => {
    const { id } = await createIntent(service, await someone());
    return onPage('POST /pay/confirm', await pageToken(service, id), { payment_method_id: VISA });
  },
  'pay.method': () => onSubscriptionPage('POST /pay/method', { provider_payment_method_token: 'pm_card_visa' }),
  'pay.cancel': () => onSubscriptionPage('POST /pay/cancel', { reason: 'unused' }),
  'pay.keep': () => onSubscriptionPage('POST /pay/keep'),
  'payment-links.create': async () => as(await admin(), 'POST /payment-links', { total_cents: 500, currency: 'USD' }),
  'payment-links.update': () => onPaymentLink('PATCH /payment-links', { description: 'Another' }),
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
    return as(owner, `PUT /organizations/${id}/members/${present(data[0]).id}`, { role: 'billing' });
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
    return as(boss, `POST /webhooks/logs/${present(entry).id}/replay`);
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
  'admin.import': async () =>
    as(await admin(), 'POST /admin/imports', {
      ...{ provider_id: 'provider_a', dry_run: true },
      rows: [{ provider_customer_id: 'cus_unknown', owner: 'guest:gus@example.com' }],
    }),
  'admin.request-erasure': async () => as(await admin(), 'POST /admin/erasures', { user_id: 'user_unknown' }),
  'admin.create-key': async () => as(await admin(), 'POST /admin/keys', KEY),
  'admin.update-key': async () => ofKey('PATCH', '', { name: 'renamed' }),
  'admin.rotate-key': async () => ofKey('POST', '/rotate'),
  'admin.clear-cache': async () => as(await admin(), 'POST /admin/cache/clear', { cache_type: 'all' }),
};

const takesBody = endpoints.filter(({ body, bodyForm }) => body !== null && bodyForm === 'json');
const ids = takesBody.map(({ id }) => id);

const writes = new Map<string, Promise<Write>>();

/** Refused requests change nothing, so all cases of a route share one valid request, sent last. */
const writeOf = (id: string): Promise<Write> => {
  const write = writes.get(id) ?? WRITES[id]?.();
  if (!write) throw new Error(`${id} has no case here`);
  writes.set(id, write);
  return write;
};

/** The allowed fields of a body, by the path of their object. */
const fieldsOf = (id: string): Readonly<Record<string, readonly string[]>> => {
  const kinds = { 'admin.put-record': REFERENCES.products.body };
  const schema = rowOf(kinds, id) ?? endpoints.find((one) => one.id === id)?.body;
  const guest = namesOf(guestDataField);
  const names = schema ? namesOf(schema) : [];
  return { '': names, ...(names.includes('guest_data') && { guest_data: guest }) };
};

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Common misspellings of a field name. */
const MISSPELLINGS: Readonly<Record<string, (field: string) => string | undefined>> = {
  'in camel case': camelCase,
  'in upper case': (field) => field.toUpperCase(),
  'with hyphens': (field) => field.replaceAll('_', '-'),
  'in the plural': (field) => `${field}s`,
  'with a letter twice': (field) => field.replace(/[a-z]/, '$&$&'),
  'as a vendor names it': (field) => rowOf(VENDORS, field),
};

const VENDORS: Readonly<Record<string, string>> = {
  customer_id: 'customer',
  payment_method_id: 'payment_method',
  provider_payment_method_token: 'source',
  capture_method: 'captureMethod',
  amount_cents: 'amount_to_capture',
  trial_days: 'trial_period_days',
  product_id: 'price',
};

describe('a misspelled field', () => {
  test.each(ids.flatMap((id) => Object.keys(MISSPELLINGS).map((kind) => [kind, id] as const)))(
    '%s is refused by %s with a suggestion of the correct field',
    async (kind, id) => {
      const { method, path, body, user } = await writeOf(id);
      const twins = Object.entries(fieldsOf(id)).flatMap(([at, names]) =>
        names.flatMap((field) => {
          const twin = MISSPELLINGS[kind]?.(field);
          return twin === undefined || names.includes(twin) ? [] : [{ at, twin, field }];
        }),
      );
      if (twins.length === 0) return;
      const sent = (at: string) =>
        Object.fromEntries(twins.flatMap((one) => (one.at === at ? [[one.twin, CANARY]] : [])));
      const nested = twins.some(({ at }) => at === 'guest_data') && { guest_data: sent('guest_data') };
      await settled();
      const answer = await service.request(method, path, {
        ...user.options,
        body: { ...body, ...sent(''), ...nested },
      });
      expect(answer.status).toBe(400);
      for (const { at, twin, field } of twins) {
        const problem = { path: at === '' ? twin : `${at}.${twin}`, rule: 'unknown_field' };
        expect(answer.body.details).toContainEqual({ ...problem, message: expect.stringContaining(`mean ${field}?`) });
      }
      await expectNothingSent();
    },
  );
});

const settled = async (): Promise<void> => {
  await service.settle();
  await service.clearProviderRequests();
};

const expectNothingSent = async (): Promise<void> => {
  expect((await service.providerRequests()).filter(({ method }) => method !== 'GET')).toEqual([]);
};

describe('a field that callers cannot set', () => {
  test.each(ids)('is refused by %s, which accepts the same body without the field', async (id) => {
    const { method, path, body, user } = await writeOf(id);
    const known = fieldsOf(id)[''] ?? [];
    const forbidden = FORBIDDEN.filter((field) => !known.includes(field));
    const assigned = Object.fromEntries(forbidden.map((field) => [field, `${CANARY} of ${id}`]));
    const refused = await service.request(method, path, { ...user.options, body: { ...body, ...assigned } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(JSON.stringify(refused.body)).not.toContain(CANARY);
    const unknown = refused.body.details.map(({ path }: ShownProblem) => path);
    expect(unknown.length).toBeGreaterThan(forbidden.length / 2);
    const accepted = await service.request(method, path, { ...user.options, body });
    expect(accepted).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
  });

  test('is never stored in the table or at the provider', async () => {
    await service.settle();
    const kept = [...(await itemsOf(service)), ...Object.values(await service.ledger()).flat()];
    expect(kept.length).toBeGreaterThan(takesBody.length);
    expect(kept.filter((item) => JSON.stringify(item).includes(CANARY))).toEqual([]);
  });
});

describe('an unknown field', () => {
  const refused = async (body: ParsedJson) => {
    const user = await someone();
    const answer = await service.post('/payments/intents', { ...intentBody(), ...body }, user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    return answer.body.details;
  };

  test('is refused even if it is null or an empty string', async () => {
    expect(await refused({ captureMethod: null, coupon: '' })).toEqual([
      { path: 'captureMethod', rule: 'unknown_field', message: 'is not a known field; did you mean capture_method?' },
      { path: 'coupon', rule: 'unknown_field', message: 'is not a known field; did you mean discount_code?' },
    ]);
  });

  test('is listed with every other problem of the request', async () => {
    const details = await refused({ currency: 5, captureMethod: 'manual' });
    expect(details.map(({ path, rule }) => [path, rule])).toEqual([
      ['captureMethod', 'unknown_field'],
      ['currency', 'invalid_type'],
    ]);
  });

  test('is not repeated in the error if its name is a card number', async () => {
    const [problem] = await refused({ '4242424242424242': 1 });
    expect(problem?.path).toBe('');
  });

  test('is allowed in the body of a DELETE', async () => {
    const user = await someone();
    const { id } = await createAddress(service, user.options);
    const { status } = await service.request('DELETE', `/addresses/${id}`, { ...user.options, body: { reason: 'x' } });
    expect(status).toBe(204);
  });

  test('is allowed in metadata and test data', async () => {
    const { options } = await admin();
    expect((await service.post('/payments/intents', intentBody({ metadata: { Amount: 1 } }), options)).status).toBe(
      201,
    );
    const event = { event: 'payment.succeeded', test_data: { anything: { at: 'all' } } };
    expect((await service.post('/webhooks/test', event, options)).status).toBe(200);
  });

  test('is ignored if it is is_guest_subscription, which the interface names', async () => {
    const { user, names } = await subscriber(service);
    const body = { ...subscriptionBody(names), is_guest_subscription: true };
    const made = await service.post('/subscriptions', body, user.options);
    expect(made).toMatchObject({ status: 201, body: { is_guest_subscription: false } });
  });
});

describe('the bytes of a body', () => {
  const sent = async (body: Uint8Array, headers: Readonly<Record<string, string>> = {}) => {
    const { options } = await someone();
    const plain = { 'content-type': 'application/json', ...headers };
    return service.request('POST', '/payments/intents', { ...options, body, headers: plain });
  };
  const [before, after] = ['{"total_cents":2500,"currency":"USD","description":"', '"}'].map((text) =>
    Buffer.from(text),
  );
  const intent = (...bytes: readonly number[]): Uint8Array =>
    Buffer.concat([before ?? Buffer.alloc(0), Buffer.from(bytes), after ?? Buffer.alloc(0)]);

  test('must be UTF-8, with any JSON escape', async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xef, 0xbf, 0xbd]]) {
      expect(await sent(intent(...bytes))).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
    }
    expect((await sent(Buffer.concat([intent(...Buffer.from('caf\u00e9 \\ufffd'))]))).status).toBe(201);
  });

  test('are refused in another charset or with compression', async () => {
    const refused: readonly Readonly<Record<string, string>>[] = [
      { 'content-type': 'application/json; charset=iso-8859-1' },
      { 'content-encoding': 'gzip' },
    ];
    for (const headers of refused) {
      expect(await sent(intent(0x61), headers)).toMatchObject({
        status: 415,
        body: { code: 'UNSUPPORTED_MEDIA_TYPE' },
      });
    }
    expect((await sent(intent(0x61), { 'content-type': 'application/json; charset=utf8' })).status).toBe(201);
  });
});

/**
 * @module Null and "" count as absent in every optional body field, alone and in all fields together. The fields come
 * from the catalogue's schemas, so a new field is covered automatically.
 */
import { describe, expect, test } from 'vitest';
import { REFERENCES } from '../../shared/catalog/catalog-kinds.ts';
import { REFERENCE_KINDS, type ReferenceKind } from '../../shared/platform/keys.ts';
import { fullAddress } from '../builders/address.ts';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { type OptionalField, optionalFieldsOf } from '../builders/optional-fields.ts';
import { discountBody, inviteBody, productBody, projectBody, tierBody } from '../builders/reference.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { confirm, createIntent, createPaidIntent, signIn } from './flow.ts';
import { heldPayment } from './holders.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { isLenient, LENIENT_BODIES, type LenientId } from './lenient-bodies.ts';
import { createLink, pageToken, withToken } from './pages.ts';
import type { ParsedJson } from './routes.ts';
import { subscribe, subscriber } from './subscribers.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Sent {
  readonly path: string;
  /** All required fields. */
  readonly body: Fields;
  readonly options: RequestOptions;
  /** The path prefix for reading a created record. */
  readonly readAt?: string;
}

const service = withHost();

const signedIn = async (): Promise<RequestOptions> => (await signIn(service)).options;
const admin = async (): Promise<RequestOptions> => (await signIn(service, { is_admin: true })).options;

const must = async (answer: Promise<TestAnswer>) => {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: expect.toSatisfy((code: number) => code < 300) });
  return body.data ?? body;
};

const create = (path: string, body: Fields) => async (): Promise<Sent> => ({
  path,
  body,
  options: await signedIn(),
  readAt: path.replace('/intents', ''),
});

const TEXTS = {
  description: 'Two notebooks',
  concept: 'Paper',
  reference_code: 'R-1',
  category: 'office',
  tags: 'a,b',
};

const toPlan = (route: string) => async (): Promise<Sent> => {
  const product = productBody({ billing_interval: 'monthly', currency: 'USD' });
  await must(service.put('/admin/products/to-change', product, await admin()));
  const who = await subscriber(service);
  const { id } = await subscribe(service, who);
  const body = { product_id: 'to-change', when: 'period_end' };
  return { path: `/subscriptions/${id}${route}`, body, options: who.options };
};

/** A record with a value in every clearable field, and a body that changes nothing. */
const update =
  (path: string, record: Fields, body: Fields = {}) =>
  async (): Promise<Sent> => {
    const options = await signedIn();
    const { id } = await must(service.post(path, record, options));
    return { path: `${path}/${id}`, body, options };
  };

const paidPayment = async (): Promise<{ readonly id: string; readonly options: RequestOptions }> => {
  const user = await signIn(service);
  const { id } = await createPaidIntent(service, user);
  return { id, options: user.options };
};

const REQUESTS: Readonly<Record<LenientId, () => Promise<Sent>>> = {
  'payments.create-intent': create('/payments/intents', intentBody()),
  'payments.create': create('/payments', intentBody()),
  'payments.update-intent': update(
    '/payments/intents',
    intentBody({ ...TEXTS, metadata: { a: '1' }, return_url: 'https://shop.example/paid' }),
  ),
  'payments.confirm': async () => {
    const { id, options } = await paidPayment();
    return { path: `/payments/confirm/${id}`, body: {}, options };
  },
  'payments.capture': async () => {
    const { id } = await heldPayment(service, await signIn(service));
    return { path: `/payments/${id}/capture`, body: {}, options: await admin() };
  },
  'payments.link': async () => {
    const { id } = await createIntent(service, await signIn(service));
    return { path: `/payments/${id}/link`, body: {}, options: await admin() };
  },
  'subscriptions.link': async () => {
    const { id } = await subscribe(service, await subscriber(service));
    return { path: `/subscriptions/${id}/link`, body: {}, options: await admin() };
  },
  'pay.start': async () => {
    const { token } = await createLink(service);
    const headers = { ...withToken(token).headers, 'idempotency-key': 'the key of a lenient start' };
    return { path: '/pay/start', body: { email: 'pia@example.com', name: 'Pia' }, options: { headers } };
  },
  'pay.confirm': async () => {
    const { id } = await createPaidIntent(service, await signIn(service));
    return { path: '/pay/confirm', body: {}, options: withToken(await pageToken(service, id)) };
  },
  'pay.method': () => onSubscriptionPage('/pay/method', { provider_payment_method_token: 'pm_card_visa' }),
  'pay.cancel': () => onSubscriptionPage('/pay/cancel'),
  'payment-links.create': async () => ({
    ...{ path: '/payment-links', body: { total_cents: 500, currency: 'USD' } },
    ...{ options: await admin(), readAt: '/payment-links' },
  }),
  'payment-links.update': async () => {
    const { id } = await createLink(service, { description: 'Ticket', max_payments: 3, metadata: { a: '1' } });
    return { path: `/payment-links/${id}`, body: {}, options: await admin() };
  },
  'payments.change-metadata': async () => {
    const { id, options } = await paidPayment();
    await must(confirm(service, id, options));
    return { path: `/payments/${id}`, body: { metadata: { a: '1' } }, options: await admin() };
  },
  'discounts.check': async () => {
    await must(service.put('/admin/discounts/LENIENT', discountBody(), await admin()));
    const body = { code: 'LENIENT', subtotal_cents: 1_000, currency: 'USD' };
    return { path: '/discounts/check', body, options: await signedIn() };
  },
  'refunds.create': async () => {
    const { id, options } = await paidPayment();
    await must(confirm(service, id, options));
    return { path: `/payments/${id}/refunds`, body: {}, options: await admin(), readAt: '/refunds' };
  },
  'payment-methods.create': create('/payment-methods', {
    provider_id: 'provider_a',
    provider_payment_method_token: 'pm_card_visa',
  }),
  'payment-methods.update': update('/payment-methods', {
    provider_id: 'provider_a',
    provider_payment_method_token: 'pm_card_visa',
    alias: 'Visa',
    is_default: true,
  }),
  'customers.create': create('/customers', { provider_id: 'provider_a', email: 'ada@example.com' }),
  'customers.update': update('/customers', {
    ...{ provider_id: 'provider_a', email: 'ada@example.com', name: 'Ada L.', phone: '1' },
    ...{ first_name: 'Ada', last_name: 'L.', metadata: { a: '1' } },
  }),
  'addresses.create': create('/addresses', { ...fullAddress(), name: 'Ada' }),
  'addresses.update': update('/addresses', {
    ...fullAddress({ line2: 'Floor 3', state: 'MA', business_name: 'Ada Ltd', alias: 'Office', type: 'shipping' }),
    ...{ tax_id: '12-3456789', tax_id_type: 'ein', is_partial: true, is_default: true },
  }),
  'subscriptions.create': async () => {
    const { options, names } = await subscriber(service);
    return { path: '/subscriptions', body: subscriptionBody(names), options, readAt: '/subscriptions' };
  },
  'subscriptions.update': async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    return { path: `/subscriptions/${id}`, body: { metadata: { seats: '3' } }, options: who.options };
  },
  'subscriptions.cancel': async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    return { path: `/subscriptions/${id}/cancel`, body: {}, options: who.options };
  },
  'subscriptions.pause': async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    return { path: `/subscriptions/${id}/pause`, body: {}, options: who.options };
  },
  'subscriptions.change': toPlan('/change'),
  'subscriptions.preview-change': toPlan('/change/preview'),
  'organizations.create': create('/organizations', { name: 'Engines Ltd' }),
  'organizations.update': update(
    '/organizations',
    { name: 'Engines', business_email: 'a@example.com', business_phone: '1', tax_id: 'T', address: 'Street 1' },
    { tax_id: 'T' },
  ),
  'organizations.add-member': async () => {
    const options = await signedIn();
    const { id } = await must(service.post('/organizations', { name: 'Engines Ltd' }, options));
    const email = `${id}@example.com`;
    await signIn(service, { email });
    return { path: `/organizations/${id}/members`, body: { email, role: 'member' }, options };
  },
  'webhooks.send-test': async () => ({
    path: '/webhooks/test',
    body: { event: 'payment.succeeded' },
    options: await admin(),
  }),
  'admin.request-erasure': async () => ({
    path: '/admin/erasures',
    body: { user_id: (await signIn(service)).userId },
    options: await admin(),
    readAt: '/admin/erasures',
  }),
  'admin.import': async () => ({
    path: '/admin/imports',
    body: {
      ...{ provider_id: 'provider_a', dry_run: true },
      rows: [{ provider_customer_id: 'cus_unknown', owner: 'guest:gus@example.com' }],
    },
    options: await admin(),
  }),
  'admin.create-key': async () => ({ path: '/admin/keys', body: KEY, options: await admin(), readAt: '/admin/keys' }),
  'admin.update-key': async () => onKey(''),
  'admin.rotate-key': async () => onKey('/rotate'),
};

/** A request from the hosted page of a new subscription. */
const onSubscriptionPage = async (path: string, body: Fields = {}): Promise<Sent> => {
  const { id } = await subscribe(service, await subscriber(service));
  return { path, body, options: withToken(await pageToken(service, id)) };
};

const KEY = { name: 'Shop backend', scopes: ['payments:read'] };

/** A request about a key. The key has a value in every clearable field. */
const onKey = async (path: string): Promise<Sent> => {
  const options = await admin();
  const fields = { allowed_ips: ['203.0.113.0/24'], expires_at: '2100-01-01T00:00:00.000Z' };
  const { id } = await must(service.post('/admin/keys', { ...KEY, ...fields }, options));
  return { path: `/admin/keys/${id}${path}`, body: {}, options };
};

const RECORDS: Readonly<Record<ReferenceKind, Fields>> = {
  products: productBody(),
  projects: projectBody(),
  tiers: tierBody(),
  invites: inviteBody(),
  discounts: discountBody(),
};

/** Fields with different values per record. Null and "" are still compared. */
const VOLATILE =
  /^(?:available_on|capture_before|email|prefix|receipt_url|url)$|(^|_)(id|at|by|start|end|date|secret|token)$/;

const steady = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      VOLATILE.test(name) && typeof inner === 'string' && inner !== '' ? '*' : steady(inner),
    ]),
  );
};

/** The body with a value at the path. Missing parent objects are created. */
const withValue = (body: Fields, [name = '', ...below]: readonly string[], value: unknown): Fields => {
  if (below.length === 0) return { ...body, [name]: value };
  const inner = body[name];
  return { ...body, [name]: withValue(typeof inner === 'object' && inner !== null ? { ...inner } : {}, below, value) };
};

const valueAt = (body: ParsedJson, path: readonly string[]): unknown =>
  path.reduce((inner, name) => inner?.[name], body);

const send = async (method: string, { path, body, options, readAt }: Sent) => {
  const answer = await service.request(method, path, { ...options, body });
  const { data = answer.body } = answer.body ?? {};
  const stored =
    readAt === undefined || answer.status >= 300 ? undefined : await service.get(`${readAt}/${data.id}`, options);
  return { status: answer.status, body: steady(answer.body), stored: stored && steady(stored.body) };
};

const nameOf = ({ path }: OptionalField): string => path.join('.');

/**
 * The optional fields that the body lacks, at its top level or in one of its objects. Fields of guest_data are left
 * out, because a session needs no guest_data.
 */
const fieldsFor = (fields: readonly OptionalField[], body: Fields): readonly OptionalField[] =>
  fields.filter(
    ({ path }) => valueAt(body, path) === undefined && (path.length === 1 || Object.hasOwn(body, path[0] ?? '')),
  );

const requestOf = (id: string): Promise<Sent> => {
  const make = isLenient(id) ? REQUESTS[id] : undefined;
  if (!make) throw new Error(`no request of ${id}`);
  return make();
};

describe.each(LENIENT_BODIES.filter(({ method }) => method === 'POST'))('a body of $id', ({ id, method, fields }) => {
  const request = () => requestOf(id);

  test.each([null, ''])('treats %j in any optional field as absent', async (empty) => {
    const plain = await send(method, await request());
    expect(plain.status, JSON.stringify(plain.body)).toBeLessThan(300);
    const made = await request();
    for (const field of fieldsFor(fields, made.body)) {
      const { body, ...sent } = await request();
      expect(await send(method, { ...sent, body: withValue(body, field.path, empty) }), nameOf(field)).toEqual(plain);
    }
    const all = fieldsFor(fields, made.body).reduce((body, { path }) => withValue(body, path, empty), made.body);
    expect(await send(method, { ...made, body: all })).toEqual(plain);
  });
});

describe.each(LENIENT_BODIES.filter(({ method }) => method !== 'POST'))('a body of $id', ({ id, method, fields }) => {
  test('ignores "" in any optional field, and clears clearable fields with null', async () => {
    const made = await requestOf(id);
    const plain = await send(method, made);
    expect(plain.status, JSON.stringify(plain.body)).toBe(200);
    const optional = fieldsFor(fields, made.body);
    for (const field of optional) {
      const sent = { ...made, body: withValue(made.body, field.path, '') };
      expect(await send(method, sent), nameOf(field)).toEqual(plain);
    }
    const all = optional.reduce((body, { path }) => withValue(body, path, ''), made.body);
    expect(await send(method, { ...made, body: all })).toEqual(plain);
    for (const field of optional) {
      const answer = await send(method, { ...made, body: withValue(made.body, field.path, null) });
      expect(answer, nameOf(field)).toMatchObject({ status: 200 });
      const shown = valueAt(answer.body, field.path) ?? null;
      const before = valueAt(plain.body, field.path) ?? null;
      expect(shown, nameOf(field)).toEqual(field.isNullable && before !== null ? cleared(before) : before);
    }
  });
});

/** The value that a cleared field shows: its default value, or an empty value. */
const cleared = (before: unknown): unknown => {
  if (before === 'automatic') return before;
  if (Array.isArray(before)) return [];
  return typeof before === 'object' ? {} : null;
};

describe.each(REFERENCE_KINDS)('a record of %s', (kind) => {
  test.each([null, ''])('treats %j in any optional field as absent', async (empty) => {
    const options = await admin();
    let made = 0;
    const sent = (body: Fields): Sent => {
      made += 1;
      return { path: `/admin/${kind}/lenient-${JSON.stringify(empty).length}-${made}`, body, options };
    };
    const record = RECORDS[kind];
    const plain = await send('PUT', sent(record));
    expect(plain.status, JSON.stringify(plain.body)).toBe(200);
    const optional = fieldsFor(optionalFieldsOf(REFERENCES[kind].body), record);
    for (const field of optional) {
      expect(await send('PUT', sent(withValue(record, field.path, empty))), nameOf(field)).toEqual(plain);
    }
    const all = optional.reduce((body, { path }) => withValue(body, path, empty), record);
    expect(await send('PUT', sent(all))).toEqual(plain);
  });
});

describe('a guest', () => {
  const guests: readonly (readonly [path: string, body: Fields])[] = [
    ['/payments/intents', paidIntentBody()],
    ['/customers', { provider_id: 'provider_a' }],
    ['/payment-methods', { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa' }],
    ['/addresses', fullAddress()],
  ];

  test.each(guests)('has no phone on POST %s if phone is null or ""', async (path, body) => {
    const guest = { email: 'gus@example.com', name: 'Gus' };
    const sent = (guest_data: Fields): Sent => ({ path, body: { ...body, guest_data }, options: {} });
    const plain = await send('POST', sent(guest));
    expect(plain.status, JSON.stringify(plain.body)).toBe(201);
    for (const phone of [null, '']) expect(await send('POST', sent({ ...guest, phone }))).toEqual(plain);
  });

  test.each([null, ''])('counts as missing if guest_data is %j', async (guest_data) => {
    for (const [path, body] of guests) {
      expect(await service.post(path, { ...body, guest_data }), path).toMatchObject({
        status: 401,
        body: { code: 'AUTHENTICATION_REQUIRED' },
      });
    }
  });
});

describe('a required field', () => {
  test.each([null, ''])('is reported with every other problem if it is %j', async (empty) => {
    const body = { customer_id: empty, payment_method_id: empty, total_cents: empty, currency: empty, trial_days: -1 };
    const { status, body: answer } = await service.post('/subscriptions', body, await signedIn());
    expect({ status, code: answer.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    expect(answer.details.map((one: { path: string }) => one.path).toSorted()).toEqual([
      ...['billing_interval', 'currency', 'customer_id', 'payment_method_id', 'subtotal_cents', 'total_cents'],
      'trial_days',
    ]);
  });
});

test('metadata keeps null and "" as sent', async () => {
  const metadata = { empty: '', nothing: null, nested: { empty: '' } };
  const options = await signedIn();
  const { id } = await must(service.post('/payments/intents', intentBody({ metadata }), options));
  expect((await service.get(`/payments/${id}`, options)).body.data.metadata).toEqual(metadata);
});

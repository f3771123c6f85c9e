/** @module Users, organizations and guests as owners of payment methods, and the methods in each list. */

import { beforeAll, describe, expect, test } from 'vitest';
import { methodBody } from '../builders/payer.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { changeTable, createIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import {
  type Company,
  company,
  createAddress,
  defaultsIn,
  guestWithMethod,
  problemsOf,
  saveMethod,
  storedRecord,
} from './payers.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const idsOf = ({ body }: TestAnswer<readonly { readonly id: string }[]>): string[] => body.map(({ id }) => id);
const list = (user: User, query = '') => service.get(`/payment-methods${query}`, user.options);
const link = (user: User, id: string, billing_address_id: unknown) =>
  service.request('PATCH', `/payment-methods/${id}/billing-address`, { ...user.options, body: { billing_address_id } });

describe('a payment method of an organization', () => {
  let acme: Company;
  let stranger: User;
  beforeAll(async () => {
    acme = await company(service);
    stranger = await signIn(service);
  });
  const inAcme = () => ({ organization_id: acme.id });

  test('belongs to the organization’s own customer, and names no user', async () => {
    const method = await saveMethod(service, acme.billing.options, inAcme());
    expect(method).toMatchObject({ organization_id: acme.id, is_guest_method: false });
    expect(await storedRecord(service, 'PM', method.id)).not.toHaveProperty('userId');
    const customer = (await service.get(`/customers/${method.customer_id}`, acme.member.options)).body;
    expect(customer).toMatchObject({ organization_id: acme.id, user_id: null });
    const own = await saveMethod(service, acme.billing.options);
    expect(own.customer_id).not.toBe(method.customer_id);
    expect(idsOf(await list(acme.billing))).toEqual([own.id]);
    expect(idsOf(await list(acme.billing, '?organization_id='))).toEqual([own.id]);
    expect(idsOf(await list(acme.owner, `?organization_id=${acme.id}`))).toEqual([method.id]);
  });

  test('can be read by members, and written by members with the permission', async () => {
    const method = await saveMethod(service, acme.admin.options, inAcme());
    const path = `/payment-methods/${method.id}`;
    const writes = [
      ['PUT', path, { alias: 'Changed' }],
      ['PATCH', `${path}/billing-address`, { billing_address_id: null }],
      ['POST', `${path}/set-default`, {}],
      ['POST', '/payment-methods', methodBody(inAcme())],
      ['DELETE', path, undefined],
    ] as const;
    for (const user of [acme.owner, acme.admin, acme.billing, acme.member]) {
      expect((await service.get(path, user.options)).body).toEqual(method);
      expect(idsOf(await list(user, `?organization_id=${acme.id}`))).toContain(method.id);
    }
    const expectRefusals = async (user: User, code: string) => {
      for (const [verb, where, body] of writes) {
        const answer = await service.request(verb, where, { ...user.options, body });
        expect({ verb, answer }).toMatchObject({ verb, answer: { status: 403, body: { code } } });
      }
    };
    await expectRefusals(acme.member, 'INSUFFICIENT_PERMISSIONS');
    await expectRefusals(stranger, 'ORGANIZATION_ACCESS_DENIED');
    const denied = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
    expect(await service.get(path, stranger.options)).toMatchObject(denied);
    expect(await list(stranger, `?organization_id=${acme.id}`)).toMatchObject(denied);
    const expectChanges = async (user: User) => {
      for (const [verb, where, body] of writes.slice(0, 4)) {
        const { status } = await service.request(verb, where, { ...user.options, body });
        expect({ verb, status }).toEqual({ verb, status: where === '/payment-methods' ? 201 : 200 });
      }
    };
    for (const user of [acme.owner, acme.admin, acme.billing]) await expectChanges(user);
    expect((await service.request('DELETE', path, acme.billing.options)).status).toBe(204);
  });

  test('has its own default, separate from its members’ defaults', async () => {
    const own = await saveMethod(service, acme.owner.options, { is_default: true });
    const first = await saveMethod(service, acme.owner.options, { ...inAcme(), is_default: true });
    expect(await defaultsIn(service, acme.owner.options)).toEqual([own.id]);
    expect(await defaultsIn(service, acme.member.options, `?organization_id=${acme.id}`)).toEqual([first.id]);
  });

  test('is listed only if the request names the organization, but is created for the session’s organization', async () => {
    const user = await signIn(service, { user_id: acme.owner.userId, organization_id: acme.id });
    const method = await saveMethod(service, user.options);
    expect(method).toMatchObject({ organization_id: acme.id });
    expect(idsOf(await list(user))).not.toContain(method.id);
    expect(idsOf(await list(user, `?organization_id=${acme.id}`))).toContain(method.id);
    expect(await saveMethod(service, user.options, { organization_id: null })).not.toHaveProperty('organization_id');
  });

  test('cannot be used by a former member', async () => {
    const method = await saveMethod(service, acme.owner.options, inAcme());
    const email = 'leaver@acme.example.com';
    const leaver = await signIn(service, { email });
    await service.post(`/organizations/${acme.id}/members`, { email, role: 'billing' }, acme.owner.options);
    const made = await saveMethod(service, leaver.options, inAcme());
    expect((await service.post(`/organizations/${acme.id}/leave`, {}, leaver.options)).status).toBe(200);
    for (const id of [method.id, made.id]) {
      const answer = await service.put(`/payment-methods/${id}`, { alias: 'Mine' }, leaver.options);
      expect(answer).toMatchObject({ status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } });
    }
  });
});

describe('the billing address of a payment method', () => {
  test('is linked, sent to the provider, and unlinked by null', async () => {
    const user = await signIn(service);
    const [method, address] = [
      await saveMethod(service, user.options, { alias: 'Kept' }),
      await createAddress(service, user.options),
    ];
    await service.advance(5);
    await service.clearProviderRequests();
    const linked = await link(user, method.id, address.id);
    const updated_at = new Date(service.now()).toISOString();
    expect(linked).toMatchObject({ status: 200 });
    expect(linked.body).toEqual({ ...method, billing_address_id: address.id, updated_at, provider_synced: true });
    expect(await service.providerRequests()).toMatchObject([
      { method: 'POST', path: expect.stringContaining(method.provider_payment_method_id), status: 200 },
    ]);
    await service.advance(5);
    const unlinked = await link(user, method.id, null);
    expect(unlinked.body).toMatchObject({ billing_address_id: null, alias: 'Kept' });
    expect(unlinked.body).not.toHaveProperty('provider_synced');
    await service.settle();
    expect((await service.get(`/payment-methods/${method.id}`, user.options)).body).toEqual(unlinked.body);
  });

  test('stays linked if the provider fails, and a repeated request sends the address again', async () => {
    const user = await signIn(service);
    const [method, address] = [await saveMethod(service, user.options), await createAddress(service, user.options)];
    // The service immediately retries an unexecuted call once, so the rate limit must hit two calls.
    for (const [action, times] of [
      ['error_500', 1],
      ['reset', 1],
      ['rate_limit', 2],
    ] as const) {
      await service.fault({ action, path: '/v1/payment_methods', times });
      const linked = await link(user, method.id, address.id);
      expect({ action, linked }).toMatchObject({
        linked: { status: 200, body: { billing_address_id: address.id, provider_synced: false } },
      });
      expect((await service.get(`/payment-methods/${method.id}`, user.options)).body).toMatchObject({
        billing_address_id: address.id,
      });
    }
    await service.clearFaults();
    expect((await link(user, method.id, address.id)).body).toMatchObject({ provider_synced: true });
  });

  test('is sent to the provider at each change, including a change back', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    const [one, two] = [
      await createAddress(service, user.options),
      await createAddress(service, user.options, { line1: '2 Side Street' }),
    ];
    await service.clearProviderRequests();
    for (const { id } of [one, two, one, one]) {
      expect((await link(user, method.id, id)).body).toMatchObject({ billing_address_id: id, provider_synced: true });
    }
    expect((await service.providerRequests()).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test('must belong to the user, or to an organization in which the user may use it', async () => {
    const [user, stranger, acme, other] = [
      await signIn(service),
      await signIn(service),
      await company(service),
      await company(service),
    ];
    const { id } = await saveMethod(service, user.options);
    const theirs = await createAddress(service, stranger.options);
    const foreign = await createAddress(service, other.owner.options, { organization_id: other.id });
    const unknown = { status: 404, body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'address' } } };
    const denied = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
    const ways = [
      (address: string) => link(user, id, address),
      (address: string) => service.put(`/payment-methods/${id}`, { billing_address_id: address }, user.options),
      (address: string) => service.post('/payment-methods', methodBody({ billing_address_id: address }), user.options),
    ];
    for (const way of ways) {
      expect(await way(theirs.id)).toMatchObject(unknown);
      expect(await way('addr_000000000000000000000000')).toMatchObject(unknown);
      expect(await way(foreign.id)).toMatchObject(denied);
    }
    expect(idsOf(await list(user))).toEqual([id]);
    expect((await service.get(`/payment-methods/${id}`, user.options)).body.billing_address_id).toBeNull();
    const ofAcme = await createAddress(service, acme.owner.options, { organization_id: acme.id });
    const method = await saveMethod(service, acme.owner.options, { organization_id: acme.id });
    expect(await link(acme.billing, method.id, ofAcme.id)).toMatchObject({ status: 200 });
    expect(await link(acme.member, method.id, ofAcme.id)).toMatchObject({ status: 403 });
  });

  test.each([[undefined], [''], [7], ['a'.repeat(65)]])('cannot be set to %j', async (sent) => {
    const user = await signIn(service);
    const { id } = await saveMethod(service, user.options);
    const answer = await link(user, id, sent);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual(['billing_address_id']);
  });
});

describe('the list of payment methods', () => {
  let user: User;
  let made: ParsedJson[];
  beforeAll(async () => {
    user = await signIn(service, { expires_in: DAY_SECONDS });
    made = [];
    for (const [token, alias] of [
      ['pm_card_visa', 'Travel card'],
      ['pm_card_mastercard', 'Office'],
      ['pm_card_amex', 'travel backup'],
      ['pm_card_visa', null],
    ] as const) {
      made.push(await saveMethod(service, user.options, { provider_payment_method_token: token, alias }));
      await service.advance(1);
    }
  });
  const at = (...positions: number[]): string[] => positions.map((position) => made[position].id);

  test.each([
    ['', [3, 2, 1, 0]],
    ['?orderDir=asc', [0, 1, 2, 3]],
    ['?orderBy=created_at&orderDir=desc', [3, 2, 1, 0]],
    ['?orderBy=card_brand&orderDir=asc', [2, 1, 0, 3]],
    ['?orderBy=card_brand', [3, 0, 1, 2]],
    ['?orderBy=alias&orderDir=asc', [3, 1, 2, 0]],
    ['?orderBy=alias&orderDir=desc', [0, 2, 1, 3]],
    ['?card_brand=visa', [3, 0]],
    ['?card_brand=VISA', [3, 0]],
    ['?card_brand=diners', []],
    ['?payment_type=card', [3, 2, 1, 0]],
    ['?payment_type=bank_account', []],
    ['?search=travel', [2, 0]],
    ['?search=%20TRAVEL%20', [2, 0]],
    ['?search=master', [1]],
    ['?search=0005', [2]],
    ['?search=nothing', []],
    ['?search=travel&card_brand=visa', [0]],
    ['?search=travel&orderBy=alias&orderDir=asc', [2, 0]],
    ['?limit=1000', [3, 2, 1, 0]],
    ['?search=&card_brand=', [3, 2, 1, 0]],
  ] as const)('returns the matching methods in order for "%s"', async (query, positions) => {
    const answer = await list(user, query);
    expect(answer.status).toBe(200);
    expect(idsOf(answer)).toEqual(at(...positions));
    expect(answer.headers.get('x-total-count')).toBe(String(positions.length));
    expect(answer.headers.get('link')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each(['', 'orderBy=alias&', 'card_brand=visa&', 'orderDir=asc&'])(
    'pages through all methods with the query "%s"',
    async (query) => {
      const whole = idsOf(await list(user, `?${query}`));
      const pages: string[] = [];
      let path: string | undefined = `/payment-methods?${query}limit=1`;
      while (path) {
        const answer: TestAnswer = await service.get(path, user.options);
        expect(answer.status).toBe(200);
        pages.push(...idsOf(answer));
        path = /^<(\/[^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      expect(pages).toEqual(whole);
      expect(await list(user, `?${query}limit=1&page=9`)).toMatchObject({ status: 200, body: [] });
    },
  );

  test('is returned in an envelope on request', async () => {
    const answer = await list(user, '?envelope=true&limit=1');
    expect(answer.body).toMatchObject({ success: true, data: [{ id: made[3].id }] });
  });

  test('refuses a project filter', async () => {
    expect(await list(user, '?project_id=proj_1')).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_FILTER' } });
    expect(await list(user, '?project_id=')).toMatchObject({ status: 200 });
  });

  test.each([
    ['page=0', 'page'],
    ['page=x', 'page'],
    ['page=102&limit=100', 'page'],
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['payment_type=cash', 'payment_type'],
    [`card_brand=${'b'.repeat(51)}`, 'card_brand'],
    [`search=${'s'.repeat(201)}`, 'search'],
    ['orderBy=updated_at', 'orderBy'],
    ['orderDir=up', 'orderDir'],
  ])('refuses %s', async (query, path) => {
    const answer = await list(user, `?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual([path]);
  });

  test('shows the default on any page, and repairs a reference to a missing method', async () => {
    const owner = await signIn(service);
    const first = await saveMethod(service, owner.options, { is_default: true });
    await service.advance(1);
    const second = await saveMethod(service, owner.options);
    expect(await defaultsIn(service, owner.options, '?page=1&limit=1')).toEqual([]);
    expect(await defaultsIn(service, owner.options, '?page=2&limit=1')).toEqual([first.id]);
    await changeTable(service, { remove: { pk: `PM#${first.id}`, sk: 'PM' } });
    expect(await defaultsIn(service, owner.options)).toEqual([second.id]);
    expect((await service.get(`/payment-methods/${second.id}`, owner.options)).body.is_default).toBe(true);
  });
});

describe('a guest', () => {
  test('saves a method, and can read it only with the guest token', async () => {
    const { method, options, token } = await guestWithMethod(service, 'Gina@Example.com', { alias: 'Mine' });
    expect(method).toMatchObject({
      is_guest_method: true,
      guest_token_expires_at: expect.any(String),
      card_last_four: '4242',
    });
    const { guest_token, guest_token_expires_at, ...shown } = method;
    for (const by of [
      () => service.get(`/payment-methods/${method.id}`, options),
      () => service.get(`/payment-methods/${method.id}?token=${token}`),
    ]) {
      expect(await by()).toMatchObject({ status: 200, body: shown });
    }
    expect(idsOf(await service.get(`/payment-methods?token=${token}`))).toEqual([method.id]);
    const paged = await service.get(`/payment-methods?limit=1&token=${token}`);
    expect(paged.headers.get('link') ?? '').not.toContain(token);
    expect(await storedRecord(service, 'PM', method.id)).toMatchObject({ guestEmail: 'gina@example.com' });
  });

  test('keeps one customer across requests with the guest token', async () => {
    const { method, options, token } = await guestWithMethod(service, 'on@example.com');
    const second = await saveMethod(service, options, { is_default: true });
    const third = await service.post(`/payment-methods?token=${token}`, methodBody());
    expect(third.status).toBe(201);
    expect(new Set([method, second, third.body].map(({ customer_id }) => customer_id)).size).toBe(1);
    expect(idsOf(await service.get('/payment-methods', options)).sort()).toEqual(
      [method.id, second.id, third.body.id].sort(),
    );
    expect(await defaultsIn(service, options)).toEqual([second.id]);
  });

  test('pays with the saved method by the guest token', async () => {
    const { method, options } = await guestWithMethod(service, 'pays@example.com');
    const body = { total_cents: 400, currency: 'USD', payment_method_id: method.id };
    const payment = await service.post('/payments/intents', body, options);
    expect(payment).toMatchObject({
      status: 201,
      body: { payment_method_id: method.id, customer_id: method.customer_id },
    });
    expect(await service.post(`/payments/confirm/${payment.body.id}`, {}, options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
  });

  test('cannot see or use methods of another guest with the same e-mail', async () => {
    const email = 'twins@example.com';
    const [one, two] = [await guestWithMethod(service, email), await guestWithMethod(service, email)];
    // In the first hour, a guest without a token can continue with the method's id.
    await service.advance(3_601);
    const unknown = { status: 404, body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'payment_method' } } };
    for (const [mine, theirs] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(idsOf(await service.get('/payment-methods', mine.options))).toEqual([mine.method.id]);
      for (const query of ['?search=visa', '?orderBy=alias', '?orderDir=asc', '?card_brand=visa']) {
        expect(idsOf(await service.get(`/payment-methods${query}`, mine.options))).toEqual([mine.method.id]);
      }
      expect(await service.get(`/payment-methods/${theirs.method.id}`, mine.options)).toMatchObject(unknown);
      const body = { total_cents: 400, currency: 'USD', payment_method_id: theirs.method.id };
      expect(await service.post('/payments/intents', body, mine.options)).toMatchObject(unknown);
      const named = { ...body, guest_data: { email, name: 'Twin' } };
      expect(await service.post('/payments/intents', named)).toMatchObject(unknown);
    }
    const payment = await service.post('/payments/intents', { total_cents: 400, currency: 'USD' }, one.options);
    expect((await service.get(`/payments/${payment.body.id}`, two.options)).status).toBe(404);
    expect((await service.get('/payments', two.options)).body.data).toEqual([]);
    const shown = (await service.get(`/payments/guest/${email}`, two.options)).body.data;
    expect(JSON.stringify(shown)).not.toContain(one.method.customer_id);
  });

  test('may only read and create methods', async () => {
    const { method, options } = await guestWithMethod(service, 'only@example.com');
    for (const [verb, path, body] of [
      ['PUT', `/payment-methods/${method.id}`, { alias: 'Mine' }],
      ['PATCH', `/payment-methods/${method.id}/billing-address`, { billing_address_id: null }],
      ['POST', `/payment-methods/${method.id}/set-default`, {}],
      ['DELETE', `/payment-methods/${method.id}`, undefined],
    ] as const) {
      const answer = await service.request(verb, path, { ...options, body });
      expect({ verb, answer }).toMatchObject({ verb, answer: { status: 401, body: { code: 'GUEST_NOT_ALLOWED' } } });
    }
    const acme = await company(service);
    expect(await service.get(`/payment-methods?organization_id=${acme.id}`, options)).toMatchObject({ status: 403 });
    const inAcme = methodBody({ organization_id: acme.id });
    expect(await service.post('/payment-methods', inAcme, options)).toMatchObject({ status: 403 });
  });

  test('is refused without token or guest_data, and with a forged or expired token', async () => {
    const { method, options } = await guestWithMethod(service, 'late@example.com');
    for (const path of ['/payment-methods', `/payment-methods/${method.id}`]) {
      expect(await service.get(path)).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
      expect(await service.get(`${path}?token=forged`)).toMatchObject({
        status: 401,
        body: { code: 'SESSION_INVALID' },
      });
    }
    expect(await service.post('/payment-methods', methodBody())).toMatchObject({ status: 401 });
    await service.advance(7 * DAY_SECONDS + 1);
    expect(await service.get('/payment-methods', options)).toMatchObject({
      status: 401,
      body: { code: 'SESSION_INVALID' },
    });
  });
});

test('a method or customer at a different provider than the payment’s is refused', async () => {
  const user = await signIn(service);
  const method = await saveMethod(service, user.options);
  const elsewhere = { providerId: 'provider_b' };
  await changeTable(service, { put: { ...(await storedRecord(service, 'PM', method.id)), ...elsewhere } });
  await changeTable(service, { put: { ...(await storedRecord(service, 'CUS', method.customer_id)), ...elsewhere } });
  const bare = { total_cents: 100, currency: 'USD' };
  const payment = await createIntent(service, user);
  for (const [path, id] of [
    ['payment_method_id', method.id],
    ['customer_id', method.customer_id],
  ]) {
    const details = { path, expected: 'provider_a', given: 'provider_b' };
    const refused = { status: 400, body: { code: 'PROVIDER_MISMATCH', details } };
    expect(await service.post('/payments/intents', { ...bare, [path]: id }, user.options)).toMatchObject(refused);
    const update = await service.put(`/payments/intents/${payment.id}`, { [path]: id }, user.options);
    expect(update).toMatchObject(refused);
  }
  const confirmed = await service.post(
    `/payments/confirm/${payment.id}`,
    { payment_method_id: method.id },
    user.options,
  );
  expect(confirmed).toMatchObject({ status: 400, body: { code: 'PROVIDER_MISMATCH' } });
});

test('a payment’s default customer belongs to its user, organization or guest', async () => {
  const acme = await company(service);
  const { owner } = acme;
  const own = await saveMethod(service, owner.options);
  const ofAcme = await saveMethod(service, owner.options, { organization_id: acme.id });
  const guest = await guestWithMethod(service, 'meant@example.com');
  expect(await createIntent(service, owner)).toMatchObject({ customer_id: own.customer_id });
  expect(await createIntent(service, owner, { organization_id: acme.id })).toMatchObject({
    customer_id: ofAcme.customer_id,
  });
  const bare = { total_cents: 100, currency: 'USD' };
  expect((await service.post('/payments/intents', bare, guest.options)).body.customer_id).toBe(
    guest.method.customer_id,
  );
  const named = { ...bare, guest_data: { email: 'meant@example.com', name: 'Other' } };
  expect((await service.post('/payments/intents', named)).body.customer_id).toBeNull();
  expect((await createIntent(service, await signIn(service))).customer_id).toBeNull();
  expect((await itemsOf(service, 'CUS#')).length).toBeGreaterThan(2);
});

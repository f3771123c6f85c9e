import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { canonicalJson } from '../../shared/http/idempotency.ts';
import { namesOf } from '../../shared/http/known-fields.ts';
import { fullAddress } from '../builders/address.ts';
import { guestIntentBody, intentBody, paidIntentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { confirm, createIntent, itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { actingFor, asMerchant, createKey, forOrganization, forUser, newAdmin } from './keys.ts';
import { type Company, company, guestWithMethod, removeMember, saveMethod } from './payers.ts';
import { payer } from './subscribers.ts';

/** A service key's payers, and the rights of the key for each payer. */
const service = withHost({ frozen: true });

const NO_MEMBER = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
const NO_RIGHT = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };

describe('a service key that acts for a user', () => {
  /** Writes for the organization, on each kind of record. */
  const writesOf = async ({
    id,
    billing,
  }: Company): Promise<readonly ((options: RequestOptions) => Promise<TestAnswer>)[]> => {
    const fields = { organization_id: id };
    const payment = await createIntent(service, billing, { ...fields, payment_method_id: null });
    const { names } = await payer(service, billing.options, { fields });
    const unused = await saveMethod(service, billing.options, fields);
    return [
      (options) => service.post('/payments/intents', intentBody(fields), options),
      (options) => service.put(`/payments/intents/${payment.id}`, { concept: 'x' }, options),
      (options) => service.post('/customers', customerBody(fields), options),
      (options) => service.post('/payment-methods', methodBody(fields), options),
      (options) => service.put(`/payment-methods/${unused.id}`, { alias: 'x' }, options),
      (options) => service.post('/addresses', fullAddress(fields), options),
      (options) => service.post('/subscriptions', subscriptionBody({ ...names, ...fields }), options),
    ];
  };

  test('loses access to the organization at the first write after the membership ends', async () => {
    const acme = await company(service);
    const key = await createKey(service, await newAdmin(service));
    const options = forUser(key, acme.billing);
    const writes = await writesOf(acme);
    for (const write of writes) expect([200, 201]).toContain((await write(options)).status);
    await removeMember(service, acme, acme.billing);
    for (const write of writes) {
      expect(await write(options)).toMatchObject(NO_MEMBER);
      expect(await write(acme.billing.options)).toMatchObject(NO_MEMBER);
    }
  });

  test('has the rights of the user’s role in the organization', async () => {
    const acme = await company(service);
    const key = await createKey(service, await newAdmin(service));
    const create = (user: User) =>
      service.post('/payments/intents', intentBody({ organization_id: acme.id }), forUser(key, user));
    expect(await create(acme.member)).toMatchObject(NO_RIGHT);
    expect(await create(acme.billing)).toMatchObject({ status: 201, body: { organization_id: acme.id } });
    const path = `/organizations/${acme.id}`;
    expect(await service.put(path, { name: 'A' }, forUser(key, acme.admin))).toMatchObject(NO_RIGHT);
    expect(await service.put(path, { name: 'A' }, forUser(key, acme.owner))).toMatchObject({ status: 200 });
  });

  test('has neither the organization of a session nor the rights of an admin or of staff', async () => {
    const acme = await company(service);
    const { userId } = acme.owner;
    await signIn(service, { user_id: userId, organization_id: acme.id, is_admin: true });
    await signIn(service, { user_id: userId, staff_role: 'finance' });
    const options = forUser(await createKey(service, await newAdmin(service)), { userId });
    const { body } = await service.post('/payments/intents', paidIntentBody(), options);
    expect(body).toMatchObject({ user_id: userId });
    expect(body.organization_id ?? null).toBeNull();
    const foreign = await createIntent(service, await signIn(service));
    expect(await service.get(`/payments/${foreign.id}`, options)).toMatchObject({ status: 404 });
    expect(await confirm(service, body.id, options)).toMatchObject({ status: 200 });
    const refund = await service.post(`/payments/${body.id}/refunds`, {}, options);
    expect(refund).toMatchObject({ status: 403, body: { details: { required_scope: 'refunds:write' } } });
    expect(await service.get('/admin/payments', options)).toMatchObject(NO_RIGHT);
  });

  test('never lends one payer’s method to another payer', async () => {
    const [ann, ben] = [await signIn(service), await signIn(service)];
    const key = await createKey(service, await newAdmin(service));
    const method = await saveMethod(service, forUser(key, ann));
    const body = intentBody({ payment_method_id: method.id });
    expect(await service.post('/payments/intents', body, forUser(key, ben))).toMatchObject({ status: 404 });
    expect(await service.post('/payments/intents', body, forUser(key, ann))).toMatchObject({ status: 201 });
    const guest = guestIntentBody({ payment_method_id: method.id });
    expect(await service.post('/payments/intents', guest, asMerchant(key))).toMatchObject({ status: 404 });
    const payment = await createIntent(service, ben);
    const confirmed = await service.post(
      `/payments/confirm/${payment.id}`,
      { payment_method_id: method.id },
      forUser(key, ben),
    );
    expect(confirmed).toMatchObject({ status: 404 });
  });

  test('keeps its Idempotency-Keys separate per payer, from the user’s keys and from other service keys', async () => {
    const [ann, ben] = [await signIn(service), await signIn(service)];
    const admin = await newAdmin(service);
    const [one, other] = [await createKey(service, admin), await createKey(service, admin)];
    const create = (options: RequestOptions) =>
      service.post('/payments/intents', intentBody(), { ...options, idempotencyKey: 'order-1' });
    const callers = [forUser(one, ann), forUser(one, ben), forUser(other, ann), ann.options, ben.options];
    const made = await Promise.all(callers.map(create));
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(callers.length);
    const again = await create(forUser(one, ann));
    expect(again.body.id).toBe(made[0]?.body.id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('is refused for a user whom the identity service does not know', async () => {
    const key = await createKey(service, await newAdmin(service));
    const create = service.post('/payments/intents', intentBody(), actingFor(key, 'user:user_unknown'));
    expect(await create).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } });
  });
});

describe('a service key with too few scopes that acts for a user', () => {
  test('gets no client secret without the scope to write payments', async () => {
    const admin = await newAdmin(service);
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: null });
    const read = async (scopes: readonly string[]) => {
      const key = await createKey(service, admin, { scopes });
      return (await service.get(`/payments/${payment.id}`, forUser(key, user))).body.data;
    };
    expect(await read(['payments:read', 'payments:write'])).toHaveProperty('client_secret');
    expect(await read(['payments:read', 'methods:write'])).not.toHaveProperty('client_secret');
  });

  test('gets no included record without the scope to read it', async () => {
    const admin = await newAdmin(service);
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    const payment = await createIntent(service, user, { payment_method_id: method.id });
    const read = async (scopes: readonly string[]) => {
      const options = forUser(await createKey(service, admin, { scopes }), user);
      const one = await service.get(`/payments/${payment.id}?include=payment_method`, options);
      const list = await service.get('/payments?include=payment_method', options);
      return [one.body.data.payment_method, list.body.data[0].payment_method];
    };
    expect(await read(['payments:read', 'customers:read'])).toMatchObject([{ id: method.id }, { id: method.id }]);
    expect(await read(['payments:read'])).toEqual([null, null]);
  });
});

describe('a service key that acts for an organization', () => {
  test('makes records without a user, and acts on behalf of the organization in their history', async () => {
    const acme = await company(service);
    const options = forOrganization(await createKey(service, await newAdmin(service)), acme.id);
    const made = await service.post('/payments/intents', paidIntentBody(), options);
    expect(made).toMatchObject({ status: 201, body: { organization_id: acme.id, user_id: null } });
    expect(await confirm(service, made.body.id, options)).toMatchObject({ status: 200 });
    const method = await saveMethod(service, options);
    expect(method).toMatchObject({ organization_id: acme.id });
    const address = await service.post('/addresses', fullAddress(), options);
    expect(address).toMatchObject({ status: 201 });
    const { body } = await service.get(`/payments/${made.body.id}/timeline`, asMerchant(await merchantKey()));
    const actors = body.data.flatMap(({ actor }) => (actor?.type === 'key' ? [actor.on_behalf_of] : []));
    expect(actors.length).toBeGreaterThan(0);
    expect(new Set(actors.map(canonicalJson))).toEqual(new Set([canonicalJson({ type: 'organization', id: acme.id })]));
  });

  test('is shown as authenticated in lists of payments, without a user', async () => {
    const acme = await company(service);
    const key = await createKey(service, await newAdmin(service));
    const user_context = {
      ...{ authenticated: true, user_id: null, user_type: 'authenticated', user_email: null },
      search_method: 'organization',
    };
    expect(await service.get('/payments', forOrganization(key, acme.id))).toMatchObject({ body: { user_context } });
    const ofMerchant = await service.get(`/payments?organization_id=${acme.id}`, asMerchant(key));
    expect(ofMerchant).toMatchObject({ body: { user_context } });
  });

  test('lists memberships only if the request names an entity, because the key has no user', async () => {
    const acme = await company(service);
    const options = forOrganization(await createKey(service, await newAdmin(service)), acme.id);
    expect(await service.get('/memberships', options)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'entity_id', rule: 'required' }] },
    });
    const own = `/memberships?entity_type=organization&entity_id=${acme.id}`;
    expect(await service.get(own, options)).toMatchObject({ status: 200, body: { data: [] } });
  });

  const merchantKey = async () => createKey(service, await newAdmin(service));

  test('uses neither a member’s personal method nor a method of another organization', async () => {
    const [acme, other] = [await company(service), await company(service)];
    const options = forOrganization(await createKey(service, await newAdmin(service)), acme.id);
    const personal = await saveMethod(service, acme.billing.options);
    const foreign = await saveMethod(service, other.billing.options, { organization_id: other.id });
    for (const { id } of [personal, foreign]) {
      const made = await service.post('/payments/intents', intentBody({ payment_method_id: id }), options);
      expect([403, 404]).toContain(made.status);
    }
    const own = await saveMethod(service, acme.billing.options, { organization_id: acme.id });
    const made = await service.post('/payments/intents', intentBody({ payment_method_id: own.id }), options);
    expect(made).toMatchObject({ status: 201 });
  });

  test('changes the organization’s subscription to another method of the organization', async () => {
    const acme = await company(service);
    const options = forOrganization(await createKey(service, await newAdmin(service)), acme.id);
    const { names } = await payer(service, options);
    const made = await service.post('/subscriptions', subscriptionBody(names), options);
    expect(made).toMatchObject({ status: 201 });
    const other = await saveMethod(service, options);
    const personal = await saveMethod(service, acme.billing.options);
    const change = (id: string) =>
      service.request('PATCH', `/subscriptions/${made.body.id}`, { ...options, body: { payment_method_id: id } });
    expect(await change(personal.id)).toMatchObject({ status: 404 });
    expect(await change(other.id)).toMatchObject({ status: 200 });
  });

  test('counts as authenticated in lists, and must name the organization to list memberships', async () => {
    const { id } = await company(service);
    const options = forOrganization(await createKey(service, await newAdmin(service)), id);
    const { body } = await service.get('/payments', options);
    expect(body.user_context).toMatchObject({ authenticated: true, user_type: 'authenticated', user_id: null });
    expect(await service.get('/memberships', options)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'entity_id' }] },
    });
    const named = await service.get(`/memberships?entity_type=organization&entity_id=${id}`, options);
    expect(named).toMatchObject({ status: 200, body: { data: [] } });
  });

  test('is refused for an unknown and for a deleted organization', async () => {
    const acme = await company(service);
    const key = await createKey(service, await newAdmin(service));
    const create = (id: string) => service.post('/payments/intents', intentBody(), forOrganization(key, id));
    expect(await create(acme.id)).toMatchObject({ status: 201 });
    expect(await create('org_unknown')).toMatchObject(NO_MEMBER);
    const removed = await service.request('DELETE', `/organizations/${acme.id}`, acme.owner.options);
    expect(removed.status).toBe(200);
    expect(await create(acme.id)).toMatchObject(NO_MEMBER);
  });
});

describe('a service key that acts for a deleted organization', () => {
  test('loses write access immediately, and read access within 5 s', async () => {
    const acme = await company(service);
    const options = forOrganization(await createKey(service, await newAdmin(service)), acme.id);
    const { body: payment } = await service.post('/payments/intents', paidIntentBody(), options);
    const { names } = await payer(service, options);
    const { body: subscription } = await service.post('/subscriptions', subscriptionBody(names), options);
    const { body: address } = await service.post('/addresses', fullAddress(), options);
    const method = await saveMethod(service, options);
    const records = [
      ...[`/payments/${payment.id}`, `/subscriptions/${subscription.id}`, `/addresses/${address.id}`],
      ...[`/payment-methods/${method.id}`, `/customers/${names.customer_id}`],
    ];
    const reads = [
      ...records,
      ...[`/payments/${payment.id}/timeline`, `/payments/${payment.id}/refunds`, `/payments/${payment.id}/disputes`],
      ...['/payments', '/payments/summary', '/payment-methods', '/customers', '/addresses', '/subscriptions'],
      ...[`/subscriptions/${subscription.id}/timeline`, `/memberships?entity_type=organization&entity_id=${acme.id}`],
    ];
    const read = (path: string) => service.get(path, options);
    for (const path of reads) expect({ path, ...(await read(path)) }).toMatchObject({ path, status: 200 });
    expect(await service.request('DELETE', `/organizations/${acme.id}`, acme.owner.options)).toMatchObject({
      status: 200,
    });
    const writes: readonly (readonly [method: string, path: string, body: unknown])[] = [
      ['POST', '/payments/intents', intentBody()],
      ['POST', '/payments', paidIntentBody()],
      ['PUT', `/payments/intents/${payment.id}`, { concept: 'x' }],
      ['POST', `/payments/confirm/${payment.id}`, {}],
      ['POST', `/payments/intents/${payment.id}/cancel`, {}],
      ['POST', '/payment-methods', methodBody()],
      ['PUT', `/payment-methods/${method.id}`, { alias: 'x' }],
      ['DELETE', `/payment-methods/${method.id}`, undefined],
      ['POST', '/customers', customerBody()],
      ['PUT', `/customers/${names.customer_id}`, { name: 'x' }],
      ['POST', '/addresses', fullAddress()],
      ['DELETE', `/addresses/${address.id}`, undefined],
      ['POST', '/subscriptions', subscriptionBody(names)],
      ['PATCH', `/subscriptions/${subscription.id}`, { payment_method_id: method.id }],
      ['POST', `/subscriptions/${subscription.id}/cancel`, {}],
    ];
    for (const [verb, path, body] of writes) {
      const answer = await service.request(verb, path, { ...options, body });
      expect({ verb, path, ...answer }).toMatchObject({ verb, path, ...NO_MEMBER });
    }
    await service.advance(5);
    for (const path of reads) expect({ path, ...(await read(path)) }).toMatchObject({ path, ...NO_MEMBER });
  });
});

describe('a service key without a payer', () => {
  test('creates for a guest, and gets the guest’s token', async () => {
    const key = await createKey(service, await newAdmin(service));
    const { status, body } = await service.post('/payments/intents', guestIntentBody(), asMerchant(key));
    expect({ status, body }).toMatchObject({ status: 201, body: { guest_token: expect.any(String) } });
    expect(await service.get(`/payments/${body.id}`, { guestToken: body.guest_token })).toMatchObject({ status: 200 });
  });

  test('reads every owner’s records, without the payers’ secrets', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    expect(payment.client_secret).toEqual(expect.any(String));
    const key = await createKey(service, await newAdmin(service), { scopes: ['payments:read'] });
    const { status, body } = await service.get(`/payments/${payment.id}`, asMerchant(key));
    expect({ status, id: body.data.id }).toEqual({ status: 200, id: payment.id });
    expect(JSON.stringify(body)).not.toContain(payment.client_secret);
  });

  test('is referred to the list of all owners, unless the query names the owner', async () => {
    const admin = await newAdmin(service);
    const options = asMerchant(await createKey(service, admin));
    const acme = await company(service);
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id });
    const listed = await service.get(`/payments?organization_id=${acme.id}`, options);
    expect(listed).toMatchObject({ status: 200, body: { data: [{ id: payment.id }] } });
    for (const [path, instead] of [
      ['/payments', 'GET /admin/payments'],
      ['/payments?project_id=project-1', 'GET /admin/payments'],
      ['/payments/summary?entity_id=user_1', 'GET /admin/summary'],
      ['/subscriptions', 'GET /admin/subscriptions'],
      ['/customers?project_id=project-1', 'GET /admin/search'],
      ['/organizations?organization_id=org_1', 'GET /admin/search'],
    ] as const) {
      const answer = await service.get(path, options);
      expect({ path, answer }).toMatchObject({ answer: { status: 400, body: { code: 'ACTING_REQUIRED' } } });
      expect(answer.body.error).toContain(instead);
    }
  });

  test('requests erasures, cancels payments, and appears in the history with its id', async () => {
    const key = await createKey(service, await newAdmin(service));
    const erasure = await service.post('/admin/erasures', { user_id: 'user_unknown' }, asMerchant(key));
    expect(erasure).toMatchObject({ status: 202 });
    const jobs = (await itemsOf(service)).filter(({ requestedBy }) => requestedBy !== undefined);
    expect(jobs).toMatchObject([{ requestedBy: key.id }]);
    const payment = await createIntent(service, await signIn(service));
    expect(await service.post(`/payments/intents/${payment.id}/cancel`, {}, asMerchant(key))).toMatchObject({
      status: 200,
    });
    await service.settle();
    const { body } = await service.get(`/payments/${payment.id}/timeline`, asMerchant(key));
    expect(body.data).toContainEqual(expect.objectContaining({ actor: { type: 'key', id: key.id } }));
  });
});

describe('X-Act-For', () => {
  test.each(['user', 'user:', 'team:t1', 'user:a b', `user:${'x'.repeat(256)}`, 'organization:', 'USER:u'])(
    'is refused if malformed: %s',
    async (payer) => {
      const key = await createKey(service, await newAdmin(service));
      const answer = await service.post('/payments/intents', intentBody(), actingFor(key, payer));
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [{ path: 'X-Act-For' }] },
      });
    },
  );

  test('counts as absent if empty', async () => {
    const user = await signIn(service);
    const headers = { 'x-act-for': ' ' };
    const made = await service.post('/payments/intents', intentBody(), { ...user.options, headers });
    expect(made).toMatchObject({ status: 201 });
    const key = await createKey(service, await newAdmin(service));
    expect(await service.post('/payments/intents', intentBody(), actingFor(key, ''))).toMatchObject({
      status: 400,
      body: { code: 'ACTING_REQUIRED' },
    });
  });

  test('is refused with an e-mail address, because the identity service provides the address', async () => {
    const key = await createKey(service, await newAdmin(service));
    const user = await signIn(service);
    const headers = { 'x-act-for': `user:${user.userId}`, 'x-act-for-email': 'ada@example.com' };
    expect(await service.post('/payments/intents', intentBody(), { bearer: key.secret, headers })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'X-Act-For-Email' }] },
    });
  });

  const WITHOUT_MEANING = /^(RATE|LOG|DLV|COUNT)#/;
  const tableNow = async (): Promise<string[]> =>
    (await itemsOf(service)).filter(({ pk }) => !WITHOUT_MEANING.test(String(pk))).map(canonicalJson);

  /** A request body for routes that create a record. */
  const bodyOf = (known: z.ZodType, guest = false): unknown => {
    const guest_data = { email: 'gina@example.com', name: 'Gina' };
    const fields = {
      ...intentBody(),
      ...methodBody(),
      ...fullAddress(),
      name: 'New',
      ...customerBody(),
      ...(guest && { guest_data }),
      ...{ code: 'SPRING', subtotal_cents: intentBody()['total_cents'] },
    };
    return Object.fromEntries(Object.entries(fields).filter(([name]) => namesOf(known).includes(name)));
  };

  const ASKED = endpoints.filter(
    ({ auth }) => auth !== 'public' && auth !== 'provider-signature' && auth !== 'link-token',
  );
  type Route = (typeof ASKED)[number];
  type Sender = readonly [who: string, options: RequestOptions];

  /** The status of the refusal. A guest token is no credential on routes for sessions only. */
  const expectedOf = ({ auth }: Route, who: string): number => {
    const takesGuests = auth === 'session-or-guest' || auth === 'session-or-token';
    return who === 'no credential' || (who === 'a guest token' && !takesGuests) ? 401 : 403;
  };

  const sendersOn = ({ path, auth, body }: Route, senders: readonly Sender[]): readonly Sender[] => {
    const sent = body === null ? {} : { body: bodyOf(body) };
    const all = senders.map(([who, options]): Sender => [who, { ...options, ...sent }]);
    const takesGuestData = body !== null && auth === 'session-or-guest' && path !== '/subscriptions';
    return takesGuestData ? [...all, ['guest_data', { body: bodyOf(body, true) }]] : all;
  };

  test('is refused from a session, a guest or a caller without a credential, on every route', async () => {
    const [user, admin] = [await signIn(service), await newAdmin(service)];
    const support = await signIn(service, { staff_role: 'support' });
    const guest = await guestWithMethod(service, 'gina@example.com');
    const payment = await createIntent(service, user);
    await service.settle();
    const before = await tableNow();
    const headers = { 'x-act-for': `user:${user.userId}` };
    const senders: readonly Sender[] = [
      ['a session', user.options],
      ['a bearer token', { bearer: user.token }],
      ['an admin', admin.options],
      ['support', support.options],
      ['a guest token', guest.options],
      ['no credential', {}],
    ];
    const wrong: unknown[] = [];
    for (const route of ASKED) {
      const { method, path } = route;
      const target = path.replace(/^(\/payments.*)\{\w*id\}/, `$1${payment.id}`).replaceAll(/\{\w+\}/g, 'unknown');
      for (const [who, options] of sendersOn(route, senders)) {
        const { status, body } = await service.request(method, target, { ...options, headers });
        if (status !== expectedOf(route, who)) wrong.push({ method, path, who, status, body });
      }
    }
    expect(wrong).toEqual([]);
    await service.settle();
    expect(await tableNow()).toEqual(before);
  });
});

import { describe, expect, test } from 'vitest';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { confirm, signIn } from './flow.ts';
import { foreign, importedOutcomes, tryImport } from './foreigners.ts';
import { type RequestOptions, withHost } from './host.ts';
import { actingFor, asMerchant, createKey, type TestKey } from './keys.ts';
import { payer } from './subscribers.ts';

/** Without an identity service, tokens and keys name the users. */
const service = withHost({ frozen: true, env: { IDENTITY_LOOKUP: 'off' } });

const keyOfAdmin = async (fields: { readonly scopes?: readonly string[] } = {}): Promise<TestKey> => {
  const admin = await signIn(service, { is_admin: true });
  return createKey(service, { ...admin, options: { bearer: admin.token } }, fields);
};

/** Requests with the key for a user, with the user's e-mail address if given. */
const forSaid = (key: TestKey, id: string, email?: string): RequestOptions => ({
  bearer: key.secret,
  headers: { 'x-act-for': `user:${id}`, ...(email !== undefined && { 'x-act-for-email': email }) },
});

describe('the service without an identity service', () => {
  test('refuses a session id, and accepts a bearer token by its signature', async () => {
    const user = await signIn(service);
    const invalid = { status: 401, body: { code: 'SESSION_INVALID' } };
    expect(await service.get('/payments', { session: user.session })).toMatchObject(invalid);
    expect(await service.get('/payments', { session: 'demo-owner' })).toMatchObject(invalid);
    expect(await service.get('/payments', { bearer: user.session })).toMatchObject(invalid);
    expect(await service.get('/me', { bearer: user.token })).toMatchObject({
      status: 200,
      body: { data: { user_id: user.userId } },
    });
  });

  test.each(['my-user-42', 'auth0|5f7c', 'a.b_c-d@e:f+g=', 'x'.repeat(64), '7'])(
    'lets a key act for the user in its request: %s',
    async (id) => {
      const key = await keyOfAdmin();
      const made = await service.post('/payments/intents', paidIntentBody(), forSaid(key, id, 'Ada@Example.com'));
      expect(made).toMatchObject({ status: 201, body: { user_id: id } });
      expect(await confirm(service, made.body.id, forSaid(key, id))).toMatchObject({ status: 200 });
      const listed = await service.get('/payments', forSaid(key, id));
      expect(listed.body).toMatchObject({
        data: [{ id: made.body.id }],
        user_context: { user_id: id, user_email: null, authenticated: true },
      });
      const user = { id, type: 'authenticated', email: 'ada@example.com' };
      const events = (await service.busEvents()).filter(
        ({ source, detail }) => source === 'payments' && detail.payload.data.payment_id === made.body.id,
      );
      expect(events.length).toBeGreaterThan(0);
      for (const { detail } of events) expect(detail.payload.data).toMatchObject({ user });
    },
  );

  test('lets a key subscribe a user without an e-mail address, and charge the user off session', async () => {
    const key = await keyOfAdmin();
    const options = forSaid(key, 'user-without-mail');
    const { names } = await payer(service, options);
    const made = await service.post('/subscriptions', subscriptionBody(names), options);
    expect(made).toMatchObject({ status: 201, body: { status: 'active', user_id: 'user-without-mail' } });
    const intent = await service.post(
      '/payments/intents',
      intentBody({ payment_method_id: names.payment_method_id }),
      options,
    );
    const charged = await confirm(service, intent.body.id, { ...options, body: { off_session: true } });
    expect(charged).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('treats the user of a token and the user of a key as one user if their ids are equal', async () => {
    const key = await keyOfAdmin();
    const user = await signIn(service, { user_id: 'shop-user-1' });
    const made = await service.post('/payments/intents', intentBody(), forSaid(key, 'shop-user-1'));
    const path = `/payments/${made.body.id}`;
    expect(await service.get(path, { bearer: user.token })).toMatchObject({ status: 200 });
    expect(await service.get(path, forSaid(key, 'shop-user-2'))).toMatchObject({ status: 404 });
  });

  test.each(['user:', 'user:a b', 'user:a#b', 'user:a/b', `user:${'x'.repeat(65)}`, 'user:ä', 'user:a%20b'])(
    'refuses a malformed id: %s',
    async (payerName) => {
      const answer = await service.post('/payments/intents', intentBody(), actingFor(await keyOfAdmin(), payerName));
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [{ path: 'X-Act-For', rule: 'format' }] },
      });
    },
  );

  test('refuses an e-mail address if malformed or without a user', async () => {
    const key = await keyOfAdmin();
    const create = async (actFor: string | undefined, email: string) => {
      const headers = { 'x-act-for-email': email, ...(actFor !== undefined && { 'x-act-for': actFor }) };
      return (await service.post('/payments/intents', intentBody(), { bearer: key.secret, headers })).body.details;
    };
    expect(await create('user:a', 'ada')).toMatchObject([{ path: 'X-Act-For-Email', rule: 'format' }]);
    expect(await create('organization:org_demo', 'ada@example.com')).toMatchObject([{ path: 'X-Act-For-Email' }]);
    expect(await create(undefined, 'ada@example.com')).toMatchObject([{ path: 'X-Act-For-Email' }]);
    expect(await create('user:a b', 'ada')).toMatchObject([{ path: 'X-Act-For' }, { path: 'X-Act-For-Email' }]);
    const { token } = await signIn(service);
    const headers = { 'x-act-for-email': 'ada@example.com' };
    expect(await service.get('/payments', { bearer: token, headers })).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS' },
    });
  });

  test.each(['auth0|5f7c', 'google-oauth2:42'])('imports a customer for the user id as it is sent: %s', async (id) => {
    const importing = await keyOfAdmin({ scopes: ['imports:write'] });
    const card = { payment_methods: [{ token: 'pm_card_visa' }], default_payment_method: 0 };
    const { customers } = await foreign(service, { customers: [card, card] });
    const rows = [`user:${id}`, 'user:a#b'].map((owner, at) => ({ provider_customer_id: customers[at]?.id, owner }));
    expect(importedOutcomes(await tryImport(service, asMerchant(importing), rows))).toEqual([
      ['customer adopted', 'payment_method adopted'],
      ['customer refused owner_unknown'],
    ]);
    const listed = await service.get('/customers', forSaid(await keyOfAdmin(), id));
    expect(listed.body).toMatchObject([{ provider_customer_id: customers[0]?.id, user_id: id }]);
  });

  test('adds a member by the id sent with a key, and lists the member without a name', async () => {
    const key = await keyOfAdmin();
    const owner = forSaid(key, 'owner-1', 'owner@example.com');
    const { body: made } = await service.post('/organizations', { name: 'Acme' }, owner);
    const members = `/organizations/${made.data.id}/members`;
    const unknown = await service.post(members, { email: 'ada@example.com', role: 'billing' }, owner);
    expect(unknown).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } });
    expect(unknown.body.error).toContain('IDENTITY_LOOKUP');
    const added = await service.post(members, { user_id: 'auth0|ada', role: 'billing' }, owner);
    expect(added).toMatchObject({ status: 201, body: { data: { user_id: 'auth0|ada', role: 'billing' } } });
    const both = await service.post(members, { user_id: 'a', email: 'ada@example.com', role: 'member' }, owner);
    expect(both).toMatchObject({ status: 400, body: { details: [{ path: 'email' }] } });
    const neither = await service.post(members, { role: 'member' }, owner);
    expect(neither).toMatchObject({ status: 400, body: { details: [{ path: 'email', rule: 'required' }] } });
    const { token } = await signIn(service, { user_id: 'owner-1' });
    const bySession = await service.post(members, { user_id: 'bob', role: 'member' }, { bearer: token });
    expect(bySession).toMatchObject({ status: 400, body: { details: [{ path: 'user_id' }] } });
    const listed = await service.get(members, owner);
    const nameless = { user_name: null, user_last_name: null, user_email: null, user_picture: null };
    type Named = { readonly user_id: string };
    const byId = listed.body.data.toSorted((one: Named, other: Named) => other.user_id.localeCompare(one.user_id));
    expect(byId).toMatchObject([
      { user_id: 'owner-1', ...nameless },
      { user_id: 'auth0|ada', ...nameless },
    ]);
  });

  test('allows searches by e-mail address without a call to an identity service', async () => {
    const key = await keyOfAdmin();
    expect(await service.get('/admin/payments?search=ada@example.com', asMerchant(key))).toMatchObject({ status: 200 });
    expect(await service.get('/admin/search?q=ada@example.com', asMerchant(key))).toMatchObject({ status: 200 });
  });
});

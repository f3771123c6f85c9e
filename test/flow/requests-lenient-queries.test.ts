/**
 * @module An empty query value counts as absent. Enum values, flags and includes are accepted in any case. The tests
 * cover every parameter of every route in the catalogue's schemas.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { documentedEndpoints } from '../../functions/api/catalogue.ts';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { optionalFieldsOf } from '../builders/optional-fields.ts';
import { tierBody } from '../builders/reference.ts';
import { confirm, createPaidIntent, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { subscribe, subscriber } from './subscribers.ts';

/** The session of a platform admin. The admin owns records of every kind, and may call every route. */
const ADMIN = { is_admin: true };

describe('a query', () => {
  const service = withHost({ env: { RATE_LIMITS: 'off' } });
  let user: User;
  let ids: Readonly<Record<string, string>> = {};
  let organizationId = '';
  let guestEmail = '';

  beforeAll(async () => {
    user = await signIn(service, ADMIN);
    const { options } = user;
    const [open, paid] = [await createPaidIntent(service, user), await createPaidIntent(service, user)];
    await confirm(service, paid.id, options);
    const other = await signIn(service, ADMIN);
    await service.post(`/payments/${paid.id}/refunds`, { amount_cents: 100 }, other.options);
    const who = await subscriber(service);
    const subscription = await subscribe(service, who);
    const method = { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa' };
    const saved = await service.post('/payment-methods', method, options);
    await service.post('/addresses', { country: 'DE', is_partial: true }, options);
    await service.post('/customers', { provider_id: 'provider_a', email: 'ada@example.com' }, options);
    organizationId = (await service.post('/organizations', { name: 'Engines' }, options)).body.data.id;
    const guest = await service.post('/payments/intents', guestIntentBody());
    guestEmail = guest.body.guest_email ?? '';
    await service.put('/admin/tiers/gold', tierBody(), options);
    ids = {
      'payments.get': open.id,
      'payments.timeline': paid.id,
      'subscriptions.timeline': subscription.id,
      'payment-methods.get': saved.body.id,
      'organizations.list-members': organizationId,
      'admin.export-person': `user:${user.userId}`,
    };
    await service.settle();
  });

  const pathOf = ({ id, path }: { readonly id: string; readonly path: string }): string =>
    path
      .replace('{id}', ids[id] ?? '')
      .replace('{email}', guestEmail || 'gus@example.com')
      .replace('{kind}', 'tiers');

  const get = async (path: string, query: Readonly<Record<string, string>>, options = user.options) => {
    const { status, body } = await service.get(`${path}?${new URLSearchParams(query)}`, options);
    return { status, body: { ...body, request_id: undefined } };
  };

  const routes = documentedEndpoints.flatMap(({ id, path, method, query }) => {
    const fields = method === 'GET' ? optionalFieldsOf(query) : [];
    return fields.length > 0 ? [{ id, path, fields }] : [];
  });

  test('has parameters on exactly the routes that this file covers', () => {
    expect(routes.length).toBeGreaterThan(15);
    const named = routes.filter(({ path }) => path.includes('{id}')).map(({ id }) => id);
    expect(named.toSorted()).toEqual(Object.keys(ids).toSorted());
  });

  test.each(routes)('does nothing for $id if its parameters are empty', async ({ id, path, fields }) => {
    const at = pathOf({ id, path });
    const plain = await get(at, {});
    expect(plain.status, JSON.stringify(plain.body)).toBe(200);
    const names = [...fields.map((field) => field.path.join('.')), 'session_id', 'token', 'envelope', 'unknown'];
    for (const name of names) expect(await get(at, { [name]: '' }), name).toEqual(plain);
    expect(await get(at, Object.fromEntries(names.map((name) => [name, ''])))).toEqual(plain);
  });

  const enums = routes
    .map((route) => ({ ...route, fields: route.fields.filter(({ values }) => values.length > 0) }))
    .filter(({ fields }) => fields.length > 0);

  test.each(enums)('accepts keywords in any case for $id', async ({ id, path, fields }) => {
    const at = pathOf({ id, path });
    for (const { path: names, values } of fields) {
      const name = names.join('.');
      for (const value of values) {
        // The membership list of an organization or project needs the id of the organization or project.
        const beside: Record<string, string> = id === 'memberships.list' ? { entity_id: organizationId } : {};
        const plain = await get(at, { ...beside, [name]: value });
        for (const spelling of [value.toUpperCase(), value.charAt(0).toUpperCase() + value.slice(1)]) {
          expect(await get(at, { ...beside, [name]: spelling }), `${name}=${spelling}`).toEqual(plain);
        }
        expect(plain.body.code, `${name}=${value}`).not.toBe('VALIDATION_ERROR');
      }
      expect(await get(at, { [name]: 'no such word' }), name).toMatchObject({ status: 400 });
    }
  });

  test('accepts a list of statuses in any case', async () => {
    const plain = await get('/payments', { status: 'succeeded,failed' });
    expect(plain.body.data).toHaveLength(1);
    expect(await get('/payments', { status: 'Succeeded, FAILED' })).toEqual(plain);
  });

  test.each(['payment_method', 'Payment_Method', 'PM', 'project,PM'])(
    'shows the method with include=%s',
    async (include) => {
      const { status, body } = await get(`/payments/${ids['payments.get']}`, { include });
      expect({ status, data: body.data }).toMatchObject({ status: 200, data: { payment_method: null } });
    },
  );

  const included = async (flag: string): Promise<boolean> => {
    const { status, body } = await get(`/payments/${ids['payments.get']}`, { include_project: flag });
    expect(status).toBe(200);
    return 'project' in body.data;
  };

  test.each(['true', 'TRUE', '1', 'yes', 'Yes'])('sets the flag with %s', async (flag) => {
    expect(await included(flag)).toBe(true);
  });

  test.each(['false', 'FALSE', '0', 'no', 'No', ''])('does not set the flag with %j', async (flag) => {
    expect(await included(flag)).toBe(false);
  });

  test.each([
    ['yes', true],
    ['TRUE', true],
    ['0', false],
    ['No', false],
  ])('selects the response form with envelope=%s', async (envelope, isWrapped) => {
    const { body } = await service.get(`/addresses?envelope=${envelope}`, user.options);
    expect(body).toEqual(isWrapped ? expect.objectContaining({ success: true }) : expect.any(Array));
  });

  test('finds the payment with empty scope guards, but not with another organization', async () => {
    const path = `/payments/${ids['payments.get']}`;
    expect(await get(path, { organization_id: '', project_id: '', product_id: '' })).toMatchObject({ status: 200 });
    expect(await get(path, { organization_id: organizationId })).toMatchObject({ status: 404 });
  });

  test('selects personal records if organization_id is empty', async () => {
    const session = await service.session({ user_id: user.userId, organization_id: organizationId });
    const options: RequestOptions = { session: session.session_id };
    const of = async (query: string) => (await service.get(`/payments${query}`, options)).body.data;
    expect(await of('')).toHaveLength(0);
    expect(await of('?organization_id=')).toHaveLength(2);
  });

  test('has no credential if all its credentials are empty', async () => {
    const answer = await service.get('/payments?session_id=&token=');
    expect(answer).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
  });

  test('omits empty values in the link to the next page', async () => {
    await service.post('/payments/intents', intentBody(), user.options);
    const { headers } = await service.get('/addresses?limit=1&type=&alias=', user.options);
    expect(headers.get('link') ?? '').not.toContain('type=');
  });
});

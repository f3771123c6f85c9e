import { describe, expect, test } from 'vitest';
import { customerBody } from '../builders/payer.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { PATIENT, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { company, storedRecord } from './payers.ts';

/** Customers of guests. */
const service = withHost({ frozen: true, env: PATIENT });

const create = (options: RequestOptions, fields = {}) => service.post('/customers', customerBody(fields), options);

describe('a guest', () => {
  test('creates a customer with guest_data, and gets a token', async () => {
    const guest_data = { email: 'Gina@Example.com', name: 'Gina Guest', phone: '+1555' };
    const answer = await create({}, { guest_data, email: undefined });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        email: 'gina@example.com',
        name: 'Gina Guest',
        phone: '+1555',
        user_id: null,
        is_guest: true,
        guest_email: 'gina@example.com',
        guest_token: expect.any(String),
        guest_token_expires_at: new Date((Math.floor(service.now() / 1_000) + 7 * DAY_SECONDS) * 1_000).toISOString(),
      },
    });
    expect(await storedRecord(service, 'CUS', answer.body.id)).toMatchObject({ guestEmail: 'gina@example.com' });
  });

  test('creates a customer for the same guest with a guest token in place of guest_data', async () => {
    const first = await create({}, { guest_data: { email: 'token@example.com', name: 'Tom' }, email: undefined });
    const guestToken = first.body.guest_token;
    const second = await create({ guestToken }, { email: undefined });
    expect(second).toMatchObject({
      status: 201,
      body: { email: 'token@example.com', guest_email: 'token@example.com' },
    });
    const stored = await Promise.all([first, second].map(({ body }) => storedRecord(service, 'CUS', body.id)));
    expect(stored[1].guestId).toBe(stored[0].guestId);
    const other = { email: 'other@example.com', name: 'Other' };
    const third = await create({ guestToken }, { guest_data: other, email: undefined });
    expect(third).toMatchObject({ status: 201, body: { guest_email: 'other@example.com' } });
    expect((await storedRecord(service, 'CUS', third.body.id)).guestId).not.toBe(stored[0].guestId);
  });

  test('gets a separate guest_id per create with the same e-mail, and can repeat a create under its key', async () => {
    const guest_data = { email: 'same@example.com', name: 'Sam' };
    const [one, two] = [await create({}, { guest_data }), await create({}, { guest_data })];
    const ids = await Promise.all(
      [one, two].map(async ({ body }) => (await storedRecord(service, 'CUS', body.id)).guestId),
    );
    expect(ids[0]).not.toBe(ids[1]);
    const keyed = { idempotencyKey: 'a-key-that-is-long-and-random' };
    const first = await create(keyed, { guest_data });
    const again = await create(keyed, { guest_data });
    expect(again.body.id).toBe(first.body.id);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await create(keyed, { guest_data: { ...guest_data, name: 'Else' } })).toMatchObject({ status: 422 });
  });

  test('needs a key of at least 20 characters, unless the request has a token or a session', async () => {
    const guest_data = { email: 'key@example.com', name: 'Kay' };
    const short = { idempotencyKey: 'x'.repeat(19) };
    expect(await create(short, { guest_data })).toMatchObject({
      status: 400,
      body: { code: 'IDEMPOTENCY_KEY_INVALID', error: expect.stringContaining('20 characters') },
    });
    const first = await create({ idempotencyKey: 'x'.repeat(20) }, { guest_data });
    expect(first).toMatchObject({ status: 201 });
    const guestToken = first.body.guest_token;
    expect(await create({ ...short, guestToken }, { email: undefined })).toMatchObject({ status: 201 });
    const user = await signIn(service);
    expect(await create({ ...short, ...user.options })).toMatchObject({ status: 201 });
    const other = { email: 'another@example.com', name: 'Ann' };
    expect(await create({ ...short, guestToken }, { guest_data: other })).toMatchObject({ status: 400 });
  });

  test('may not read, list, change or delete customers', async () => {
    const { body } = await create({}, { guest_data: { email: 'reads@example.com', name: 'Rea' } });
    const guestToken = body.guest_token;
    for (const [method, path] of [
      ['GET', `/customers/${body.id}`],
      ['GET', '/customers'],
      ['PUT', `/customers/${body.id}`],
      ['DELETE', `/customers/${body.id}`],
    ] as const) {
      const answer = await service.request(method, path, { guestToken, ...(method === 'PUT' && { body: {} }) });
      expect({ method, answer }).toMatchObject({
        method,
        answer: { status: 401, body: { code: 'GUEST_NOT_ALLOWED' } },
      });
      const anonymous = await service.request(method, path, method === 'PUT' ? { body: {} } : {});
      expect(anonymous).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
    }
  });

  test('is refused without guest_data and without a token, or with a forged token', async () => {
    expect(await create({})).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
    expect(await create({ guestToken: 'ey.forged.token' })).toMatchObject({
      status: 401,
      body: { code: 'SESSION_INVALID' },
    });
  });

  test('may not create a customer of an organization', async () => {
    const acme = await company(service);
    const guest_data = { email: 'g@example.com', name: 'G' };
    expect(await create({}, { guest_data, organization_id: acme.id })).toMatchObject({ status: 403 });
  });

  test('is not created from guest_data in a signed-in request, so the customer belongs to the user', async () => {
    const user = await signIn(service);
    const guest_data = { email: 'friend@example.com', name: 'Friend' };
    const answer = await create(user.options, { guest_data, email: undefined });
    expect(answer).toMatchObject({
      status: 201,
      body: { user_id: user.userId, is_guest: false, email: 'friend@example.com' },
    });
    expect(answer.body).not.toHaveProperty('guest_token');
  });
});

import { describe, expect, test } from 'vitest';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { createIntent, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';

/** An empty credential counts as absent. A guest token beside a session also gives access to the guest's records. */
const service = withHost({ frozen: true });

const guestPayment = async () => {
  const { status, body } = await service.post('/payments/intents', guestIntentBody());
  expect(status).toBe(201);
  return body;
};

describe('an empty credential', () => {
  const EMPTY_HEADERS = [
    ['X-Session-ID', { 'x-session-id': '' }],
    ['Authorization', { authorization: '' }],
    ['X-Guest-Token', { 'x-guest-token': '' }],
    ['X-Session-ID of spaces', { 'x-session-id': '  ' }],
  ] as const;

  test.each(EMPTY_HEADERS)('counts as absent in %s if the body has guest_data', async (_, headers) => {
    const answer = await service.post('/payments/intents', guestIntentBody(), { headers });
    expect(answer).toMatchObject({ status: 201, body: { is_guest_payment: true } });
  });

  test.each(EMPTY_HEADERS)('is no credential in %s, so the request gets 401', async (_, headers) => {
    const unsigned = { status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } };
    expect(await service.post('/payments/intents', intentBody(), { headers })).toMatchObject(unsigned);
    expect(await service.get('/payments', { headers })).toMatchObject(unsigned);
  });

  test.each(['session_id', 'token'])('counts as absent in the query as %s', async (name) => {
    const answer = await service.post(`/payments/intents?${name}=`, guestIntentBody());
    expect(answer).toMatchObject({ status: 201, body: { is_guest_payment: true } });
    expect(await service.get(`/payments?${name}=`)).toMatchObject({
      status: 401,
      body: { code: 'AUTHENTICATION_REQUIRED' },
    });
  });

  test('is skipped in favor of the next session carrier', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const carriers: readonly (readonly [string, RequestOptions])[] = [
      ['', { headers: { 'x-session-id': '', authorization: `Bearer ${user.token}` } }],
      [`?session_id=${user.session}`, { headers: { 'x-session-id': '', authorization: '' } }],
      ['?session_id=&token=', { headers: { 'x-session-id': user.session } }],
    ];
    for (const [query, options] of carriers) {
      expect(await service.get(`/payments/${payment.id}${query}`, options)).toMatchObject({ status: 200 });
    }
  });

  test('is skipped in favor of the guest token, in the header or in the query', async () => {
    const { id, guest_token } = await guestPayment();
    const empty = { 'x-session-id': '', authorization: '' };
    const inHeader = { headers: { ...empty, 'x-guest-token': guest_token } };
    expect(await service.get(`/payments/${id}?session_id=&token=`, inHeader)).toMatchObject({ status: 200 });
    const inQuery = { headers: { ...empty, 'x-guest-token': '' } };
    expect(await service.get(`/payments/${id}?token=${guest_token}`, inQuery)).toMatchObject({ status: 200 });
  });

  test('differs from an unknown session id, and only the unknown id gets SESSION_INVALID', async () => {
    const answer = await service.post('/payments/intents', guestIntentBody(), { session: 'unknown' });
    expect(answer).toMatchObject({ status: 401, body: { code: 'SESSION_INVALID' } });
  });
});

describe('a guest token beside a session', () => {
  test('reads and confirms records that the session alone does not find', async () => {
    const user = await signIn(service);
    const { id, guest_token } = await guestPayment();
    for (const path of [`/payments/${id}`, `/payments/${id}/timeline`, `/payments/${id}/refunds`]) {
      expect(await service.get(path, user.options)).toMatchObject({ status: 404 });
      expect(await service.get(`${path}?token=${guest_token}`, user.options)).toMatchObject({ status: 200 });
      const inHeader = { ...user.options, guestToken: guest_token };
      expect(await service.get(path, inHeader)).toMatchObject({ status: 200 });
    }
    const path = `/payments/confirm/${id}`;
    const body = { payment_method_id: 'pm_card_visa' };
    expect(await service.post(path, body, user.options)).toMatchObject({ status: 404 });
    const confirmed = await service.post(`${path}?token=${guest_token}`, body, user.options);
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('reads the guest’s saved method', async () => {
    const user = await signIn(service);
    const guest_data = { email: 'beside@example.com', name: 'Gus' };
    const { id, guest_token } = (await service.post('/payment-methods', methodBody({ guest_data }))).body;
    const path = `/payment-methods/${id}`;
    expect(await service.get(path, user.options)).toMatchObject({ status: 404 });
    expect(await service.get(`${path}?token=${guest_token}`, user.options)).toMatchObject({ status: 200 });
  });

  test('has no effect on records found by the session', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const { guest_token } = await guestPayment();
    const read = await service.get(`/payments/${payment.id}?token=${guest_token}`, user.options);
    expect(read).toMatchObject({ status: 200, body: { data: { user_id: user.userId } } });
    const listed = await service.get(`/payments?token=${guest_token}`, user.options);
    expect(listed.body.data.map(({ id }) => id)).toEqual([payment.id]);
    const made = await service.post(`/payments/intents?token=${guest_token}`, intentBody(), user.options);
    expect(made).toMatchObject({ status: 201, body: { user_id: user.userId, is_guest_payment: false } });
  });

  test('does not change the session’s 404 if it is forged, expired or from another guest', async () => {
    const user = await signIn(service, { expires_in: 3_000_000 });
    const [one, other] = [await guestPayment(), await guestPayment()];
    for (const token of [other.guest_token, 'forged']) {
      expect(await service.get(`/payments/${one.id}?token=${token}`, user.options)).toMatchObject({ status: 404 });
    }
    await service.advance(604_801);
    const answer = await service.get(`/payments/${one.id}?token=${one.guest_token}`, user.options);
    expect(answer).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
  });

  test('is not tried if the session gets another error than 404, or if guests may not use the route', async () => {
    const user = await signIn(service);
    const { id, guest_token } = await guestPayment();
    const root = await signIn(service, { is_admin: true });
    const path = `/payments/confirm/${id}?token=${guest_token}`;
    expect(await service.post(path, {}, root.options)).toMatchObject({ status: 403 });
    const cancel = `/payments/intents/${id}/cancel?token=${guest_token}`;
    expect(await service.post(cancel, {}, user.options)).toMatchObject({ status: 404 });
  });

  test('gets the same response for a repeat under the session’s Idempotency-Key', async () => {
    const user = await signIn(service);
    const { id, guest_token } = await guestPayment();
    const body = { payment_method_id: 'pm_card_visa' };
    const confirm = (token: string) =>
      service.post(`/payments/confirm/${id}${token}`, body, { ...user.options, idempotencyKey: 'again' });
    const first = await confirm(`?token=${guest_token}`);
    const again = await confirm(`?token=${guest_token}`);
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await confirm('')).toMatchObject({ status: 404 });
  });
});

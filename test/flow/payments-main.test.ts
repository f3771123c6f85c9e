import { describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { DECLINED, guestIntentBody, intentBody, paidIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  confirmInBrowser,
  createIntent,
  createPaidIntent,
  eventsOf,
  read,
  signIn,
  timesCharged,
} from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true });

describe('a signed-in user', () => {
  test('creates, confirms, gets, lists and syncs a payment', async () => {
    const user = await signIn(service);
    const created = await service.post(
      '/payments/intents',
      paidIntentBody({ description: 'Two books', tags: 'books,gift', metadata: { basket: '7' } }),
      user.options,
    );
    expect(created).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^pay_[0-9a-f]{24}$/),
        user_id: user.userId,
        status: 'created',
        subtotal_cents: 2_500,
        tax_cents: 0,
        discount_cents: 0,
        total_cents: 2_500,
        amount_cents: 2_500,
        currency: 'USD',
        provider_id: 'provider_a',
        provider_payment_id: expect.stringMatching(/^pi_/),
        client_secret: expect.stringContaining('_secret_'),
        is_guest_payment: false,
        description: 'Two books',
        tags: 'books,gift',
        metadata: { basket: '7' },
        created_at: new Date(service.now()).toISOString(),
        completed_at: null,
      },
    });
    expect(created.headers.get('x-request-id')).toBeTruthy();
    expect(created.headers.get('cache-control')).toBe('no-store');
    const { id, provider_payment_id } = created.body;
    const completed = {
      id,
      status: 'succeeded',
      provider_payment_id,
      completed_at: new Date(service.now()).toISOString(),
    };
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: completed });
    expect(await read(service, id, user.options)).toMatchObject({ ...completed, amount_cents: 2_500 });
    const list = await service.get('/payments', user.options);
    expect(list.body).toMatchObject({ data: [{ id, status: 'succeeded' }], meta: { total: 1 } });
    expect(list.body.data[0]).not.toHaveProperty('client_secret');
    const synced = await service.post(`/payments/sync/${provider_payment_id}`, undefined, user.options);
    expect(synced).toMatchObject({ status: 200, body: { id, status: 'succeeded' } });
    await service.settle();
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await timesCharged(service, id)).toBe(1);
  });

  test('can also create a payment with POST /payments', async () => {
    const user = await signIn(service);
    const body = { amount_cents: 900, currency: 'jpy', payment_method_id: VISA };
    const created = await service.post('/payments', body, user.options);
    expect(created).toMatchObject({ status: 201, body: { status: 'created', total_cents: 900, currency: 'JPY' } });
    expect(await confirm(service, created.body.id, user.options)).toMatchObject({ status: 200 });
  });

  test('pays with a method named in the confirm', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    expect(payment.status).toBe('requires_payment_method');
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 400,
      body: { code: 'PAYMENT_METHOD_REQUIRED' },
    });
    const body = { payment_method_id: 'tok_visa' };
    expect(await confirm(service, payment.id, { ...user.options, body })).toMatchObject({
      body: { status: 'succeeded' },
    });
  });

  test('gets the decline reason, and pays with another method', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, {
      payment_method_id: 'pm_card_visa_chargeDeclinedInsufficientFunds',
    });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 402,
      body: {
        success: false,
        code: 'PAYMENT_DECLINED',
        details: { decline_code: 'insufficient_funds', payment: { id: payment.id, status: 'failed' } },
      },
    });
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'failed',
      failure_code: 'insufficient_funds',
    });
    const again = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
    expect(again).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
    expect(await read(service, payment.id, user.options)).not.toHaveProperty('failure_code');
  });

  test.each([
    ['pm_card_visa_chargeDeclined', 'do_not_honor'],
    ['pm_card_visa_chargeDeclinedLostCard', 'lost_card'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'stolen_card'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc'],
    ['pm_card_chargeDeclinedProcessingError', 'processing_error'],
  ])('gets the decline reason of %s: %s', async (method, code) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: method });
    const answer = await confirm(service, payment.id, user.options);
    expect(answer).toMatchObject({ status: 402, body: { details: { decline_code: code } } });
  });

  test('cannot confirm with a method unknown to the provider, and pays with another method', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const refused = { status: 400, body: { code: 'VALIDATION_ERROR', details: [{ path: 'payment_method_id' }] } };
    for (const method of ['pm_unknown', 'tok_unknown']) {
      expect(
        await confirm(service, payment.id, { ...user.options, body: { payment_method_id: method } }),
      ).toMatchObject(refused);
      expect(await timesCharged(service, payment.id)).toBe(0);
    }
    const paid = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test.each(['pm_unknown', 'tok_unknown'])(
    'cannot create a payment with %s, a method unknown to the provider',
    async (method) => {
      const user = await signIn(service);
      const answer = await service.post('/payments/intents', intentBody({ payment_method_id: method }), user.options);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [{ path: 'payment_method_id' }] },
      });
      expect((await service.get('/payments', user.options)).body.data).toEqual([]);
    },
  );
});

describe('an Idempotency-Key', () => {
  test('returns the same payment for a repeated create', async () => {
    const user = await signIn(service);
    const options = { ...user.options, idempotencyKey: 'basket 7' };
    const first = await service.post('/payments/intents', paidIntentBody(), options);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const again = await service.post('/payments/intents', paidIntentBody(), options);
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    await confirm(service, first.body.id, user.options);
    const later = await service.post('/payments/intents', paidIntentBody(), options);
    expect(later).toMatchObject({ status: 201, body: { id: first.body.id, status: 'succeeded' } });
    expect((await service.get('/payments', user.options)).body.meta.total).toBe(1);
    expect((await atProvider(service, first.body.id)).intents).toHaveLength(1);
  });

  test('treats a body with reordered fields as the same request', async () => {
    const user = await signIn(service);
    const options = { ...user.options, idempotencyKey: 'k' };
    const first = await service.post('/payments/intents', { total_cents: 100, currency: 'USD' }, options);
    const again = await service.post('/payments/intents', { currency: 'USD', total_cents: 100 }, options);
    expect(again.body.id).toBe(first.body.id);
  });

  test('refuses a different request under the same key', async () => {
    const user = await signIn(service);
    const options = { ...user.options, idempotencyKey: 'k' };
    await service.post('/payments/intents', intentBody(), options);
    const other = await service.post('/payments/intents', intentBody({ total_cents: 1 }), options);
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  test('applies to one user, one route and one day', async () => {
    const [one, other] = await Promise.all([signIn(service, { expires_in: 7 * DAY_SECONDS }), signIn(service)]);
    const create = (path: string, session: string) =>
      service.post(path, intentBody(), { session, idempotencyKey: 'same' });
    const answers = await Promise.all([
      create('/payments/intents', one.session),
      create('/payments/intents', other.session),
      create('/payments', one.session),
    ]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(3);
    await service.advance(DAY_SECONDS + 1);
    const nextDay = await create('/payments/intents', one.session);
    expect(nextDay).toMatchObject({ status: 201 });
    expect(answers.map(({ body }) => body.id)).not.toContain(nextDay.body.id);
    const replayed = await create('/payments/intents', one.session);
    expect(replayed.body.id).toBe(nextDay.body.id);
  });

  test('returns the same response for a repeated confirm, even for a decline', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: DECLINED });
    const options = { ...user.options, idempotencyKey: 'confirm' };
    const first = await confirm(service, payment.id, options);
    const again = await confirm(service, payment.id, options);
    expect([first.status, again.status]).toEqual([402, 402]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await atProvider(service, payment.id)).charges).toHaveLength(1);
    const paid = await confirm(service, payment.id, {
      ...options,
      idempotencyKey: 'other',
      body: { payment_method_id: VISA },
    });
    expect(paid.status).toBe(200);
  });

  test('applies to one confirm request, and replays declines but no other refusal', async () => {
    const user = await signIn(service);
    const [payment, other] = [await createIntent(service, user), await createIntent(service, user)];
    const options = { ...user.options, idempotencyKey: 'confirm' };
    expect(await confirm(service, payment.id, options)).toMatchObject({ body: { code: 'PAYMENT_METHOD_REQUIRED' } });
    await service.put(`/payments/intents/${payment.id}`, { payment_method_id: VISA }, user.options);
    const paid = await confirm(service, payment.id, options);
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(paid.headers.get('idempotent-replayed')).toBeNull();
    expect((await confirm(service, payment.id, options)).body).toEqual(paid.body);
    expect(await confirm(service, payment.id, { ...options, body: { payment_method_id: VISA } })).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    const ofOther = await confirm(service, other.id, { ...options, body: { payment_method_id: VISA } });
    expect(ofOther).toMatchObject({ status: 200, body: { id: other.id } });
  });

  test.each(['', ' ', 'ünprintable', 'x'.repeat(256)])('is refused with the value %j', async (idempotencyKey) => {
    const user = await signIn(service);
    const answer = await service.post('/payments/intents', intentBody(), { ...user.options, idempotencyKey });
    expect(answer).toMatchObject({ status: 400, body: { code: 'IDEMPOTENCY_KEY_INVALID' } });
  });
});

describe('a guest', () => {
  const createAsGuest = async (guest = {}, options = {}) => {
    const answer = await service.post('/payments/intents', guestIntentBody({}, guest), options);
    expect(answer.status).toBe(201);
    return answer.body;
  };

  test('pays in the browser and reads the payment with the guest token', async () => {
    const payment = await createAsGuest({ email: 'Grace@Example.com', phone: '+1 555 0100' });
    expect(payment).toMatchObject({
      user_id: null,
      is_guest_payment: true,
      guest_email: 'grace@example.com',
      status: 'requires_payment_method',
      guest_token: expect.any(String),
      guest_token_expires_at: new Date(Math.floor(service.now() / 1_000) * 1_000 + 7 * DAY_MS).toISOString(),
    });
    const inBrowser = await confirmInBrowser(service, payment, VISA);
    expect(inBrowser).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    const path = `/payments/${payment.id}?token=${payment.guest_token}`;
    expect(await service.get(path)).toMatchObject({
      status: 200,
      body: { success: true, data: { id: payment.id, status: 'succeeded', completed_at: expect.any(String) } },
    });
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test('confirms through the service with the guest token', async () => {
    const payment = await createAsGuest();
    const answer = await confirm(service, payment.id, {
      guestToken: payment.guest_token,
      body: { payment_method_id: VISA },
    });
    expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    const other = await createAsGuest();
    const byQuery = await service.post(`/payments/confirm/${other.id}?token=${other.guest_token}`, {
      payment_method_id: VISA,
    });
    expect(byQuery).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('remains the same guest if a create has the guest token, with or without guest_data', async () => {
    const first = await createAsGuest({ email: 'same@example.com' });
    const token = { guestToken: first.guest_token };
    const byToken = await service.post('/payments/intents', intentBody(), token);
    expect(byToken).toMatchObject({ status: 201, body: { guest_email: 'same@example.com' } });
    const both = await createAsGuest({ email: 'same@example.com' }, token);
    const list = await service.get('/payments', token);
    expect(list.body.meta.total).toBe(3);
    expect(list.body.user_context).toEqual({
      authenticated: false,
      user_id: null,
      user_type: 'guest',
      user_email: 'same@example.com',
      search_method: 'guest_token',
    });
    expect(await service.get(`/payments/${both.id}`, token)).toMatchObject({ status: 200 });
    const otherEmail = await createAsGuest({ email: 'other@example.com' }, token);
    expect(otherEmail.guest_email).toBe('other@example.com');
    expect(await service.get(`/payments/${otherEmail.id}`, token)).toMatchObject({ status: 404 });
  });

  test('cannot access another guest’s payments with that guest’s e-mail', async () => {
    const theirs = await createAsGuest({ email: 'victim@example.com' });
    const mine = await createAsGuest({ email: 'victim@example.com' });
    expect(mine.id).not.toBe(theirs.id);
    const token = { guestToken: mine.guest_token };
    expect(await service.get(`/payments/${theirs.id}`, token)).toMatchObject({ status: 404 });
    expect(await confirm(service, theirs.id, { ...token, body: { payment_method_id: VISA } })).toMatchObject({
      status: 404,
    });
    expect((await service.get('/payments', token)).body.data.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
  });

  test('may not update, cancel or sync a payment', async () => {
    const payment = await createAsGuest();
    const token = { guestToken: payment.guest_token };
    const guestData = { guest_data: { email: 'a@example.com', name: 'A' } };
    const refused = { status: 401, body: { code: 'GUEST_NOT_ALLOWED' } };
    const path = `/payments/intents/${payment.id}`;
    expect(await service.put(path, {}, token)).toMatchObject(refused);
    expect(await service.put(path, guestData)).toMatchObject(refused);
    expect(await service.post(`${path}/cancel`, {}, token)).toMatchObject(refused);
    expect(await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, token)).toMatchObject(refused);
  });

  test('is refused with a forged, an altered or an expired token', async () => {
    const payment = await createAsGuest();
    const [head, , signature] = payment.guest_token.split('.');
    const claims = Buffer.from(JSON.stringify({ email: 'x@example.com', guest_id: 'gst_x', iss: 'payments:guest' }));
    const changed = [head, claims.toString('base64url'), signature].join('.');
    for (const token of ['nonsense', 'a.b.c', changed]) {
      expect(await service.get(`/payments/${payment.id}?token=${token}`)).toMatchObject({
        status: 401,
        body: { code: 'SESSION_INVALID' },
      });
    }
    await service.advance(7 * DAY_SECONDS + 1);
    expect(await service.get(`/payments/${payment.id}?token=${payment.guest_token}`)).toMatchObject({
      status: 401,
      body: { code: 'SESSION_INVALID' },
    });
  });
});

describe('the credential of a request', () => {
  test('is read from X-Session-ID, a bearer token (signed or opaque) or session_id', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const path = `/payments/${payment.id}`;
    const carriers = [
      service.get(path, { session: user.session }),
      service.get(path, { bearer: user.token }),
      service.get(path, { bearer: user.session }),
      service.get(`${path}?session_id=${user.session}`),
    ];
    expect((await Promise.all(carriers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test('is the first credential present, in a fixed order', async () => {
    const [user, other] = await Promise.all([signIn(service), signIn(service)]);
    const payment = await createPaidIntent(service, user);
    const path = `/payments/${payment.id}`;
    const status = async (query: string, options: Parameters<typeof service.get>[1]) =>
      (await service.get(`${path}${query}`, options)).status;
    expect(await status('', { session: user.session, bearer: other.session })).toBe(200);
    expect(await status('', { session: other.session, bearer: user.session })).toBe(404);
    expect(await status('', { session: 'none', bearer: user.session })).toBe(401);
    expect(await status(`?session_id=${other.session}`, { bearer: user.session })).toBe(200);
    expect(await status(`?session_id=${user.session}`, { bearer: 'none' })).toBe(401);
    expect(await status(`?session_id=${user.session}`, { headers: { authorization: 'Basic abc' } })).toBe(401);
    expect(await status(`?session_id=none`, { guestToken: 'none' })).toBe(401);
  });

  test('returns 404 on every route for another user’s payment', async () => {
    const [user, other] = await Promise.all([signIn(service), signIn(service)]);
    const payment = await createPaidIntent(service, user);
    const answers = await Promise.all([
      service.get(`/payments/${payment.id}`, other.options),
      confirm(service, payment.id, other.options),
      service.put(`/payments/intents/${payment.id}`, { total_cents: 1 }, other.options),
      service.post(`/payments/intents/${payment.id}/cancel`, {}, other.options),
      service.post(`/payments/sync/${payment.provider_payment_id}`, {}, other.options),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'payment' } },
      });
    }
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'created', total_cents: 2_500 });
  });

  test('is required, else the response is 401', async () => {
    const answers = await Promise.all([
      service.post('/payments/intents', intentBody()),
      service.post('/payments', intentBody()),
      service.get('/payments'),
      service.get('/payments/pay_000000000000000000000000'),
      service.post('/payments/confirm/pay_000000000000000000000000', {}),
      service.post('/payments/sync/pi_1', {}),
      service.put('/payments/intents/pay_000000000000000000000000', {}),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 401, body: { success: false, code: 'AUTHENTICATION_REQUIRED' } });
    }
  });

  test('is refused when the session is unknown or expired', async () => {
    const user = await signIn(service, { expires_in: 100 });
    expect(await service.get('/payments', { session: 'none' })).toMatchObject({ body: { code: 'SESSION_INVALID' } });
    expect(await service.get('/payments', user.options)).toMatchObject({ status: 200 });
    await service.advance(100);
    for (const options of [user.options, { bearer: user.session }]) {
      expect(await service.get('/payments', options)).toMatchObject({ status: 401, body: { code: 'SESSION_EXPIRED' } });
    }
  });

  test('returns 503 while the identity service is down, and is never treated as anonymous', async () => {
    const user = await signIn(service);
    onTestFinished(() => service.identity({ available: true }));
    await service.identity({ available: false });
    const guestToo = { ...user.options };
    for (const answer of [
      await service.get('/payments', user.options),
      await service.post('/payments/intents', guestIntentBody(), guestToo),
      await service.get('/payments', { bearer: user.session }),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'IDENTITY_UNAVAILABLE' } });
    }
    const guest = await service.post('/payments/intents', guestIntentBody());
    expect(guest.status).toBe(201);
    await service.identity({ delay_ms: 5_000 });
    expect(await service.get('/payments', user.options)).toMatchObject({ body: { code: 'IDENTITY_UNAVAILABLE' } });
    await service.identity({ available: true });
    expect(await service.get('/payments', user.options)).toMatchObject({ status: 200 });
  });
});

describe('3-D Secure', () => {
  const pending = async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: THREE_D_SECURE });
    const answer = await confirm(service, payment.id, user.options);
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'pending', completed_at: null, next_action: { type: 'use_provider_sdk' } },
    });
    return { user, payment };
  };

  test('completes the payment by webhook if the customer passes', async () => {
    const { user, payment } = await pending();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'pending' });
    await service.authenticate(payment.id, 'success');
    await service.settle();
    const after = await read(service, payment.id, user.options);
    expect(after).toMatchObject({ status: 'succeeded', completed_at: new Date(service.now()).toISOString() });
    expect(after).not.toHaveProperty('next_action');
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('fails the payment through the webhook if the customer fails, and another card pays', async () => {
    const { user, payment } = await pending();
    await service.authenticate(payment.id, 'failure');
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'failed',
      failure_code: 'authentication_required',
    });
    expect(await timesCharged(service, payment.id)).toBe(0);
    expect(await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } })).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
    await service.settle();
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  });

  test('redirects the customer to the return_url if it is set', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, {
      payment_method_id: THREE_D_SECURE,
      return_url: 'https://shop.example/back',
    });
    const answer = await confirm(service, payment.id, user.options);
    expect(answer.body).toMatchObject({
      status: 'pending',
      next_action: { type: 'redirect_to_url', url: expect.stringContaining('/authenticate') },
    });
  });

  test('succeeds the payment if passed in a guest’s browser', async () => {
    const { body: payment } = await service.post('/payments/intents', guestIntentBody());
    const inBrowser = await confirmInBrowser(service, payment, THREE_D_SECURE);
    expect(inBrowser).toMatchObject({ status: 200, body: { status: 'requires_action' } });
    await service.settle();
    const token = { guestToken: payment.guest_token };
    expect(await read(service, payment.id, token)).toMatchObject({ status: 'pending' });
    await service.authenticate(payment.id);
    await service.settle();
    expect(await read(service, payment.id, token)).toMatchObject({ status: 'succeeded' });
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { HOUR_MS } from '../../shared/core/time.ts';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { from, type TestAnswer, withHost } from './host.ts';

const statusesOf = (answers: readonly TestAnswer[]): number[] => answers.map(({ status }) => status);
const times = <T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => task(index)));

const noPayment = (index: number): string => `pay_${String(index).padStart(24, '0')}`;

describe('rate limits', () => {
  const service = withHost({ frozen: true, env: { ...PATIENT, RATE_LIMITS: 'on' } });

  /** Moves the clock by more than an hour, so that every window is empty. The current windows started 20 s ago. */
  beforeEach(async () => {
    await service.moveTo(new Date(Math.ceil((service.now() + HOUR_MS) / HOUR_MS) * HOUR_MS + 20_000).toISOString());
  });

  /**
   * Expects that `max` requests pass in the window of this many seconds and the next request is refused. One more
   * request passes as soon as one of them leaves the window.
   */
  const expectLimit = async (max: number, seconds: number, ask: (index: number) => Promise<TestAnswer>) => {
    const wait = seconds - 20 + seconds / max;
    const passed = await times(max, ask);
    expect(statusesOf(passed)).not.toContain(429);
    for (const again of [0, 1]) {
      const refused = await ask(max + again);
      expect(refused).toMatchObject({
        status: 429,
        body: { success: false, code: 'RATE_LIMITED', request_id: expect.any(String) },
      });
      expect(refused.headers.get('retry-after')).toBe(String(wait));
    }
    await service.advance(wait - 1);
    expect((await ask(max + 2)).status).toBe(429);
    await service.advance(1);
    expect((await ask(max + 3)).status).toBe(passed[0]?.status);
    expect((await ask(max + 4)).status).toBe(429);
  };

  test('allow each IP address to list guest payments 10 times a minute, for any e-mail addresses', async () => {
    const list = (index: number) => service.get(`/payments/guest/${index}@ip.example.com`, from('203.0.113.1'));
    await expectLimit(10, MINUTE_SECONDS, list);
    expect((await service.get('/payments/guest/x@ip.example.com', from('203.0.113.2'))).status).toBe(200);
  });

  test('allow no burst at a full hour', async () => {
    const list = (index: number) => service.get(`/payments/guest/${index}@hour.example.com`, from('203.0.113.44'));
    await service.advance(HOUR_SECONDS - 21);
    expect(statusesOf(await times(10, list))).toEqual(Array(10).fill(200));
    await service.advance(1);
    expect(statusesOf(await times(10, list))).toEqual(Array(10).fill(429));
    await service.advance(30);
    expect(statusesOf(await times(10, list)).toSorted()).toEqual([...Array(5).fill(200), ...Array(5).fill(429)]);
  });

  test('allow 5 list requests per minute per e-mail, in any spelling and from any IP address', async () => {
    await expectLimit(5, MINUTE_SECONDS, (index) =>
      service.get(`/payments/guest/${index % 2 ? 'One' : 'one'}@example.com`, from(`203.0.113.${index}`)),
    );
  });

  const guestRoutes = endpoints.filter(({ auth }) => auth === 'session-or-guest');

  test.each(guestRoutes.map(({ method, path }) => [method, path]))(
    'allow 10 invalid guest creates per minute and IP address (%s %s)',
    async (method, path) => {
      const invalid = (body: unknown, sent = from('203.0.113.9')) => service.request(method, path, { ...sent, body });
      await expectLimit(10, MINUTE_SECONDS, (index) =>
        invalid(index % 2 ? { guest_data: { email: 'x' } } : { guest_data: {}, note: '\ud800' }),
      );
      await service.advance(2 * MINUTE_SECONDS);
      expect(statusesOf(await times(10, () => invalid({ guest_data: {} })))).toEqual(Array(10).fill(400));
      const create = () => service.post('/payments/intents', guestIntentBody(), from('203.0.113.9'));
      expect((await create()).status).toBe(429);
      const user = await signIn(service);
      expect((await invalid({ guest_data: {} }, { session: user.session, ...from('203.0.113.9') })).status).toBe(400);
    },
  );

  test('allow 10 guest creates per minute per IP address, and do not limit users', async () => {
    const create = () => service.post('/payments/intents', guestIntentBody(), from('203.0.113.3'));
    await expectLimit(10, MINUTE_SECONDS, create);
    const user = await signIn(service);
    await createIntent(service, user);
    const byUser = await times(30, () =>
      service.post('/payments/intents', intentBody(), { ...user.options, ...from('203.0.113.3') }),
    );
    expect(new Set(statusesOf(byUser))).toEqual(new Set([201]));
  });

  test('never count guest creates by e-mail, because an attacker can use another person’s e-mail', async () => {
    const body = guestIntentBody({}, { email: 'often@example.com' });
    const made = await times(12, (index) => service.post('/payments/intents', body, from(`203.0.113.${50 + index}`)));
    expect(new Set(statusesOf(made))).toEqual(new Set([201]));
  });

  /** Without a method, a confirmation is refused before the claim, so it can be repeated. */
  const unpayable = (user: User) => createIntent(service, user, { payment_method_id: null });

  test('allow 20 confirms per minute and user', async () => {
    const [user, other] = await Promise.all([signIn(service), signIn(service)]);
    const payments = await times(4, () => unpayable(user));
    await expectLimit(20, MINUTE_SECONDS, (index) => confirm(service, present(payments[index % 4]).id, user.options));
    expect((await confirm(service, (await unpayable(other)).id, other.options)).status).toBe(400);
  });

  test('allow 10 confirms per hour per payment, and ignore repeats and unrelated callers', async () => {
    const [user, stranger] = await Promise.all([signIn(service), signIn(service)]);
    const payment = await unpayable(user);
    const tries = await times(15, () => confirm(service, payment.id, stranger.options));
    expect(new Set(statusesOf(tries))).toEqual(new Set([404]));
    await expectLimit(10, HOUR_SECONDS, () => confirm(service, payment.id, user.options));
    const paid = await createIntent(service, user, { payment_method_id: 'pm_card_visa' });
    const once = { ...user.options, headers: { ...user.options.headers, 'idempotency-key': 'once' } };
    for (let tries = 0; tries < 12; tries += 1) {
      expect((await confirm(service, paid.id, once)).status).toBe(200);
    }
  });

  test('prevent a charge beyond the limit of confirms', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await times(10, () => confirm(service, payment.id, user.options));
    const paid = { payment_method_id: 'pm_card_visa' };
    expect((await confirm(service, payment.id, { ...user.options, body: paid })).status).toBe(429);
    await service.advance(2 * HOUR_SECONDS);
    expect((await confirm(service, payment.id, { ...user.options, body: paid })).status).toBe(200);
  });

  test('allow 10 syncs per minute and payment', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const sync = (id: string) => service.post(`/payments/sync/${id}`, {}, user.options);
    await expectLimit(10, MINUTE_SECONDS, () => sync(payment.provider_payment_id));
    expect((await sync('pi_other')).status).toBe(404);
    const other = await createIntent(service, user);
    expect((await sync(other.provider_payment_id)).status).toBe(200);
  });

  test('allow 60 invalid signatures per minute per IP address, and only these write a log entry', async () => {
    const refused = () => service.post('/webhooks/provider_a', { id: 'evt_x' }, from('203.0.113.5'));
    const before = (await itemsOf(service, 'LOG#')).length;
    const answers = await times(70, refused);
    expect(statusesOf(answers).filter((status) => status === 401)).toHaveLength(60);
    expect(statusesOf(answers).filter((status) => status === 429)).toHaveLength(10);
    expect((await refused()).headers.get('retry-after')).toBe('41');
    expect((await itemsOf(service, 'LOG#')).length - before).toBe(60);
    const event = { type: 'customer.created', object: { id: 'cus_1' } };
    expect(await service.sendEvent(event)).toMatchObject({ status: 200 });
    await service.advance(41);
    expect((await refused()).status).toBe(401);
  });
});

describe('the service with RATE_LIMITS=off', () => {
  const service = withHost({ frozen: true, env: { ...PATIENT, RATE_LIMITS: 'off' } });

  test('limits no request', async () => {
    const user = await signIn(service);
    const ip = from('203.0.113.9');
    const answers = [
      ...(await times(30, () => service.get('/payments/guest/one@example.com', ip))),
      ...(await times(30, () =>
        service.post('/payments/intents', guestIntentBody({}, { email: 'one@example.com' }), ip),
      )),
      ...(await times(30, () => confirm(service, noPayment(1), user.options))),
      ...(await times(30, () => service.post('/payments/sync/pi_none', {}, user.options))),
      ...(await times(70, () => service.post('/webhooks/provider_a', {}, ip))),
    ];
    expect(new Set(statusesOf(answers))).toEqual(new Set([200, 201, 404, 401]));
    expect((await itemsOf(service, 'RATE#')).length).toBe(0);
  });
});

describe('a slot without a webhook secret', () => {
  const service = withHost({ frozen: true, env: { PROVIDER_A_WEBHOOK_SECRET: '' } });

  test('closes its webhook route for signed and unsigned events', async () => {
    const { default: Stripe } = await import('stripe');
    const payload = JSON.stringify({
      id: 'evt_1',
      type: 'customer.created',
      created: 1,
      data: { object: { id: 'c' } },
    });
    const timestamp = Math.floor(service.now() / 1_000);
    const secret = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET;
    const signed = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    for (const header of [signed, `t=${timestamp},v1=`, '']) {
      const answer = await service.request('POST', '/webhooks/provider_a', {
        body: payload,
        headers: { 'stripe-signature': header },
      });
      expect(answer).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } });
    }
    expect([...(await itemsOf(service, 'EVT#')), ...(await itemsOf(service, 'LOG#'))]).toEqual([]);
  });
});

describe('a slot without the provider’s API key', () => {
  const service = withHost({ frozen: true, env: { PROVIDER_A_API_KEY: '' } });

  test('still stores verified events, because webhooks use a separate secret', async () => {
    const event = { id: 'evt_1', type: 'customer.created', created: 1, data: { object: { id: 'c' } } };
    const { default: Stripe } = await import('stripe');
    const payload = JSON.stringify(event);
    const timestamp = Math.floor(service.now() / 1_000);
    const secret = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET;
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    const send = (header: string) =>
      service.request('POST', '/webhooks/provider_a', { body: payload, headers: { 'stripe-signature': header } });
    expect(await send(signature)).toMatchObject({ status: 200, body: { event_id: 'evt_1' } });
    expect(await send(`t=${timestamp},v1=0`)).toMatchObject({ status: 401 });
    expect(await itemsOf(service, 'EVT#')).toHaveLength(1);
  });
});

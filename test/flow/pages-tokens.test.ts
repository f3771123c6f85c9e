import { beforeAll, describe, expect, test, vi } from 'vitest';
import { documentedEndpoints } from '../../functions/api/catalogue.ts';
import { VISA } from '../builders/intent.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { createIntent, itemsOf, signIn, timesCharged } from './flow.ts';
import { withHost } from './host.ts';
import { createLink, pageOf, pageToken, startLink, withToken } from './pages.ts';
import { company, saveReadyMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { OWN_BILLING, subscribe, subscriber } from './subscribers.ts';

const lines: string[] = [];

const listen = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  }
};
const service = withHost({
  frozen: true,
  env: {
    ...OWN_BILLING,
    LOG_LEVEL: 'INFO',
    EXTERNAL_WEBHOOKS_ENABLED: 'true',
    PAGE_RETURN_HOSTS: 'shop.example,127.0.0.1:4000',
  },
  log: (line) => lines.push(line),
});

/** The allowed routes of each token. Other routes respond as if the request had no token. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  payment: ['pay.state', 'pay.confirm'],
  link: ['pay.state', 'pay.start', 'discounts.check'],
  subscription: ['pay.state', 'pay.method', 'pay.cancel', 'pay.keep'],
};

const BODIES: Readonly<Record<string, ParsedJson>> = {
  'pay.start': { email: 'pia@example.com', name: 'Pia' },
  'pay.method': { provider_payment_method_token: 'pm_card_visa' },
};

/** Calls the route with its smallest body and with unknown record ids. */
const ask = ({ id, method, path, body }: (typeof documentedEndpoints)[number], headers: Record<string, string>) =>
  service.request(method, path.replaceAll(/\{[^}]+\}/g, 'unknown'), {
    headers: { ...headers, ...(id === 'pay.start' && { 'idempotency-key': 'the key of another kind' }) },
    ...(body && { body: BODIES[id] ?? {} }),
  });

let tokens: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const user = await signIn(service);
  const { id: payment } = await createIntent(service, user);
  const { id: subscription } = await subscribe(service, await subscriber(service));
  tokens = {
    payment: await pageToken(service, payment),
    link: (await createLink(service)).token,
    subscription: await pageToken(service, subscription),
  };
});

describe('the token of a hosted page', () => {
  test('works only on its own routes, and reveals nothing on other routes', async () => {
    const wrong: string[] = [];
    for (const endpoint of documentedEndpoints) {
      const wanted = endpoint.opens ? 404 : (await ask(endpoint, {})).status;
      for (const [kind, token] of Object.entries(tokens).filter(([one]) => !MAY[one]?.includes(endpoint.id))) {
        const { status } = await ask(endpoint, withToken(token).headers);
        if (status !== wanted) wrong.push(`${kind} at ${endpoint.id}: ${status}, not ${wanted}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('always gets the same 404 if it is forged, expired or no longer valid', async () => {
    const user = await signIn(service);
    const gone = async (end: (id: string) => Promise<unknown>) => {
      const { id } = await createIntent(service, user);
      const token = await pageToken(service, id, { expires_in: 300 });
      await end(id);
      return token;
    };
    const canceled = await gone((id) => service.post(`/payments/intents/${id}/cancel`, {}, user.options));
    const expired = await gone(() => service.advance(301));
    const { payment = '' } = tokens;
    const flipped = `${payment.slice(0, -1)}${payment.endsWith('A') ? 'B' : 'A'}`;
    const answers: ParsedJson[] = [];
    for (const token of [
      canceled,
      expired,
      flipped,
      '',
      'plk_',
      payment.slice(0, -1),
      `${payment}A`,
      'x'.repeat(5_000),
    ]) {
      for (const path of ['/pay/state', '/pay/confirm']) {
        const method = path === '/pay/state' ? 'GET' : 'POST';
        answers.push(
          await service.request(method, path, { ...withToken(token), ...(method === 'POST' && { body: {} }) }),
        );
      }
    }
    const said = new Set(answers.map(({ status, body: { request_id: _, ...body } }) => JSON.stringify([status, body])));
    expect([...said]).toHaveLength(1);
    expect(answers[0]).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
  });

  test('cannot charge any stored method', async () => {
    const [user, other] = [await signIn(service), await signIn(service)];
    const [own, foreign] = [
      await saveReadyMethod(service, user.options),
      await saveReadyMethod(service, other.options),
    ];
    const { id } = await createIntent(service, user);
    const token = await pageToken(service, id);
    for (const method of [own, foreign].flatMap((one) => [one.id, one.provider_payment_method_id])) {
      const refused: ParsedJson = await service.post('/pay/confirm', { payment_method_id: method }, withToken(token));
      expect(refused).toMatchObject({ status: 404, body: { error: 'The link is no longer valid' } });
    }
    expect(await timesCharged(service, id)).toBe(0);
  });

  test('cannot change a price through the request body', async () => {
    const { token } = await createLink(service);
    const prices = [
      'subtotal_cents',
      'tax_cents',
      'discount_cents',
      'total_cents',
      'amount_cents',
      'currency',
      'product_id',
    ];
    for (const field of prices) {
      const started = await startLink(service, token, { [field]: field === 'currency' ? 'JPY' : 1 });
      expect(started).toMatchObject({ status: 400, body: { details: [{ path: field, rule: 'unknown_field' }] } });
      const { payment = '' } = tokens;
      const confirmed: ParsedJson = await service.post('/pay/confirm', { [field]: 1 }, withToken(payment));
      expect(confirmed).toMatchObject({ status: 400, body: { details: [{ path: field, rule: 'unknown_field' }] } });
    }
  });

  test.each([
    'https://evil.example/',
    'https://shop.example.evil.example/',
    'https://evil.example/shop.example',
    'https://shop.example@evil.example/',
    'https://user@shop.example/',
    'https://user:pass@shop.example/',
    'https://shop.example:8443/',
    'https://shop.example./',
    'https://sub.shop.example/',
    'https://xshop.example/',
    'http://evil.example/',
    'javascript:alert(1)//shop.example',
    'data:text/html,shop.example',
    '//shop.example/',
    '/thanks',
    'https:/evil.example',
    'https:\\\\evil.example\\shop.example',
    'https://shop.example\\@evil.example/',
    'https://evil.example#shop.example',
    'https://evil.example?shop.example',
    'ftp://shop.example/',
  ])('never sends a payer to %s', async (url) => {
    const admin = await signIn(service, { is_admin: true });
    const { id } = await createIntent(service, await signIn(service));
    for (const [path, body] of [
      [`/payments/${id}/link`, {}],
      ['/payment-links', { total_cents: 500, currency: 'USD' }],
    ] as const) {
      const answer: ParsedJson = await service.post(path, { ...body, return_url: url }, admin.options);
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    }
  });

  test('redirects a payer to a listed host', async () => {
    const { id } = await createIntent(service, await signIn(service));
    for (const url of ['https://shop.example/x?y=1', 'https://SHOP.example/', 'http://127.0.0.1:4000/']) {
      expect(await pageOf(service, await pageToken(service, id, { return_url: url }))).toMatchObject({
        return_url: url,
      });
    }
  });

  test('appears in no log line, table item or event', async () => {
    listen();
    const { id } = await createIntent(service, await signIn(service));
    const token = await pageToken(service, id);
    const key = { 'idempotency-key': 'a key of a page' };
    const body = { payment_method_id: VISA };
    const paid = await service.request('POST', '/pay/confirm', {
      headers: { ...withToken(token).headers, ...key },
      body,
    });
    expect(paid.status).toBe(200);
    await service.settle();
    await service.advance(MINUTE_SECONDS);
    const { body: opened } = await startLink(service, tokens['link'] ?? '');
    vi.restoreAllMocks();
    const places = [lines, await itemsOf(service), await service.busEvents()].map((place) => JSON.stringify(place));
    expect(lines.length).toBeGreaterThan(10);
    for (const secret of [token, opened.token, ...Object.values(tokens)]) {
      expect(places.filter((place) => place.includes(secret.slice('plk_'.length)))).toEqual([]);
    }
  });

  test('keeps a payment open beyond its first day, and then reads the client secret from the provider once', async () => {
    const { id } = await createIntent(service, await signIn(service));
    const token = await pageToken(service, id, { expires_in: 3 * DAY_SECONDS });
    const { client_secret: secret } = await pageOf(service, token);
    await service.advance(2 * DAY_SECONDS);
    await service.clearProviderRequests();
    const shown = [await pageOf(service, token), await pageOf(service, token)];
    expect(shown.map((state) => [state.status, state.client_secret])).toEqual([
      ['requires_payment_method', secret],
      ['requires_payment_method', null],
    ]);
    expect(await service.providerRequests()).toHaveLength(1);
    expect(JSON.stringify(await itemsOf(service, `PAY#${id}`))).not.toContain(secret);
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    expect((await service.get('/pay/state', withToken(token))).status).toBe(404);
  });
});

describe('a payment through its hosted page', () => {
  const pay = (token: string): Promise<ParsedJson> =>
    service.post('/pay/confirm', { payment_method_id: VISA }, withToken(token));

  test('charges nothing for an erased payer or a deleted organization', async () => {
    const admin = await signIn(service, { is_admin: true });
    const user = await signIn(service);
    const erased = await createIntent(service, user);
    const acme = await company(service);
    const deleted = await createIntent(service, acme.owner, { organization_id: acme.id });
    const opened = [await pageToken(service, erased.id), await pageToken(service, deleted.id)];
    for (const token of opened) expect(await pageOf(service, token)).toMatchObject({ kind: 'payment' });
    await service.post('/admin/erasures', { user_id: user.userId }, admin.options);
    await service.request('DELETE', `/organizations/${acme.id}`, acme.owner.options);
    await service.settle();
    await service.advance(10 * MINUTE_SECONDS);
    for (const token of opened) expect((await pay(token)).status).toBe(404);
    for (const { id } of [erased, deleted]) expect(await timesCharged(service, id)).toBe(0);
  });

  test('cannot charge a former member’s own card, but can charge a one-time token for the organization', async () => {
    const acme = await company(service);
    const lent = await saveReadyMethod(service, acme.billing.options, { organization_id: null });
    const fields = { organization_id: acme.id, payment_method_id: lent.id };
    const { id } = await createIntent(service, acme.billing, fields);
    const token = await pageToken(service, id);
    expect(await pageOf(service, token)).toMatchObject({ method: null });
    const members = await service.get(`/organizations/${acme.id}/members`, acme.owner.options);
    const member = members.body.data.find(({ user_id }) => user_id === acme.billing.userId);
    await service.request('DELETE', `/organizations/${acme.id}/members/${member?.id}`, acme.owner.options);
    await service.settle();
    const refused: ParsedJson = await service.post('/pay/confirm', {}, withToken(token));
    expect([400, 404]).toContain(refused.status);
    expect(await timesCharged(service, id)).toBe(0);
    expect(await pay(token)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, id)).toBe(1);
  });

  test('charges once from concurrent tabs', async () => {
    const { id } = await createIntent(service, await signIn(service));
    const token = await pageToken(service, id);
    const answers = await Promise.all(Array.from({ length: 6 }, () => pay(token)));
    expect(answers.every(({ status }) => [200, 202, 409].includes(status))).toBe(true);
    expect(await timesCharged(service, id)).toBe(1);
    expect(await pageOf(service, token)).toMatchObject({ status: 'succeeded' });
  });

  test('returns 202 after a lost provider response, and a retry under the same key charges nothing more', async () => {
    const { id } = await createIntent(service, await signIn(service));
    const token = await pageToken(service, id);
    const headers = { ...withToken(token).headers, 'idempotency-key': 'the key of a lost answer' };
    const send = (): Promise<ParsedJson> =>
      service.request('POST', '/pay/confirm', { headers, body: { payment_method_id: VISA } });
    await service.fault({ provider: 'provider_a', method: 'POST', path: '/confirm', action: 'reset', times: 1 });
    expect(await send()).toMatchObject({ status: 202, body: { status: 'processing', payment_id: id } });
    expect((await send()).status).toBeLessThan(300);
    await service.advance(2 * MINUTE_SECONDS);
    expect(await send()).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, id)).toBe(1);
  });
});

describe('a support agent', () => {
  test('can create links and read records, but is refused all other writes', async () => {
    const support = await signIn(service, { staff_role: 'support' });
    const { id } = await createIntent(service, await signIn(service));
    const { id: subscription } = await subscribe(service, await subscriber(service));
    const links: ParsedJson[] = [
      await service.post(`/payments/${id}/link`, {}, support.options),
      await service.post(`/subscriptions/${subscription}/link`, {}, support.options),
      await service.post('/payment-links', { total_cents: 500, currency: 'USD' }, support.options),
    ];
    expect(links.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await service.get(`/payments/${id}`, support.options)).status).toBe(200);
    const refused = [
      await service.post(`/payments/confirm/${id}`, {}, support.options),
      await service.put(`/payments/intents/${id}`, { total_cents: 1 }, support.options),
      await service.post(`/payments/${id}/capture`, {}, support.options),
      await service.post(`/subscriptions/${subscription}/cancel`, {}, support.options),
      await service.request('PATCH', `/subscriptions/${subscription}`, { ...support.options, body: { metadata: {} } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });
});

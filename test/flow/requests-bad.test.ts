/** @module Bad input gets a clear 4xx and changes nothing. */

import fc from 'fast-check';
import Stripe from 'stripe';
import { beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { badRequests, type RequestTarget } from '../builders/bad-request.ts';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { confirm, createPaidIntent, itemsOf, PATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const REQUESTS = 2_000;

let target: RequestTarget;
let before: ParsedJson[] = [];

const state = async () => ({ items: await itemsOf(service), ledger: await service.ledger() });

beforeAll(async () => {
  const user = await signIn(service);
  const unconfirmed = await createPaidIntent(service, user);
  const settled = await createPaidIntent(service, user);
  await confirm(service, settled.id, user.options);
  await service.settle();
  target = {
    session: user.session,
    unconfirmedId: unconfirmed.id,
    settledId: settled.id,
    providerPaymentId: unconfirmed.provider_payment_id,
  };
  before = await itemsOf(service);
});

describe('2,000 generated bad requests', () => {
  test('each get a clear 4xx, and change nothing in the table or at the provider', {
    timeout: 120_000,
  }, async () => {
    const untouched = await state();
    expect(before.length).toBeGreaterThan(6);
    await service.clearProviderRequests();
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(badRequests(target), async ({ method, path, headers, body }) => {
      const answer = await service.request(method, path, { headers, ...(body !== undefined && { body }) });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      if (answer.body.message === 'Bad Request') return;
      expect(answer.body).toMatchObject({
        success: false,
        code: expect.stringMatching(/^[A-Z_]+$/),
        error: expect.any(String),
        request_id: answer.headers.get('x-request-id'),
      });
      if (answer.body.code === 'VALIDATION_ERROR') expect(answer.body.details.length).toBeGreaterThan(0);
      seen.set(answer.body.code, (seen.get(answer.body.code) ?? 0) + 1);
    });
    await fc.assert(property, { numRuns: REQUESTS, seed: 20_261_120 });
    await service.settle();
    expect(await state()).toEqual(untouched);
    const everyKind = [
      'AUTHENTICATION_REQUIRED',
      'GUEST_NOT_ALLOWED',
      'IDEMPOTENCY_KEY_INVALID',
      'INVALID_JSON',
      'METHOD_NOT_ALLOWED',
      'PAYLOAD_TOO_LARGE',
      'RESOURCE_NOT_FOUND',
      'ROUTE_NOT_FOUND',
      'SESSION_INVALID',
      'UNSUPPORTED_CURRENCY',
      'UNSUPPORTED_MEDIA_TYPE',
      'VALIDATION_ERROR',
    ];
    expect([...seen.keys()]).toEqual(expect.arrayContaining(everyKind));
  });

  test('are refused at the webhook route with or without a signature, and store no event', async () => {
    const events = async () => (await itemsOf(service)).filter(({ pk }) => !pk.startsWith('LOG#'));
    const untouched = await events();
    const secret = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET;
    const timestamp = Math.floor(service.now() / 1_000);
    const noEvent = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.json(),
      fc.constantFrom('{"id":1}', '{"id":"","type":"x","created":1,"data":{"object":{"id":"a"}}}'),
      fc.constantFrom(
        `{"id":"${'e'.repeat(256)}","type":"x","created":1,"data":{"object":{"id":"a"}}}`,
        '['.repeat(50_000),
      ),
    );
    const property = fc.asyncProperty(noEvent, fc.boolean(), async (payload, signed) => {
      const signature = signed ? Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }) : 't=1,v1=00';
      const answer = await service.request('POST', '/webhooks/provider_a', {
        body: payload,
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      });
      expect(answer.status).toBe(signed ? 400 : 401);
    });
    await fc.assert(property, { numRuns: 200, seed: 20_261_121 });
    await service.settle();
    expect(await events()).toEqual(untouched);
  });
});

describe('a refusal', () => {
  test('reports every problem of a create, each with its path', async () => {
    const answer = await service.post(
      '/payments/intents',
      {
        total_cents: '1',
        tax_cents: -1,
        currency: ' ',
        provider_id: 'provider_z',
        description: 7,
        tags: 'x'.repeat(501),
        payment_method_id: 7,
        customer_id: 'c'.repeat(65),
        return_url: 'javascript:alert(1)',
        metadata: [],
        setup_future_usage: 'on_session',
        guest_data: { email: 'none', name: '' },
      },
      { session: target.session },
    );
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const paths = answer.body.details.map(({ path }) => path);
    expect([...new Set(paths)].sort()).toEqual(
      [
        'total_cents',
        'tax_cents',
        'currency',
        'provider_id',
        'description',
        'tags',
        'payment_method_id',
        'customer_id',
        'return_url',
        'metadata',
        'setup_future_usage',
        'guest_data.email',
        'guest_data.name',
      ].sort(),
    );
  });

  test('lists the missing fields of an empty create', async () => {
    const answer = await service.post('/payments/intents', {}, { session: target.session });
    const missing = answer.body.details.map(({ path, rule }) => [path, rule]);
    expect(missing).toEqual([
      ['total_cents', 'required'],
      ['currency', 'required'],
    ]);
  });

  test.each([
    ['GET', '/nowhere', 404, 'ROUTE_NOT_FOUND'],
    ['GET', '/v1/payments', 404, 'ROUTE_NOT_FOUND'],
    ['DELETE', '/nowhere/payments', 404, 'ROUTE_NOT_FOUND'],
    ['GET', '//payments', 404, 'ROUTE_NOT_FOUND'],
    ['DELETE', '/payments', 405, 'METHOD_NOT_ALLOWED'],
    ['DELETE', '/payments/pay_1', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/payments/intents/pay_1/cancel', 405, 'METHOD_NOT_ALLOWED'],
  ])('responds to %s %s with %i %s', async (...[method, path, status, code]) => {
    const answer = await service.request(method, path, { session: target.session });
    expect(answer).toMatchObject({ status, body: { success: false, code, request_id: expect.any(String) } });
    if (status === 405) expect(answer.headers.get('allow')).toEqual(expect.stringMatching(/GET|POST/));
  });

  test('reveals no internal cause', async () => {
    const answer = await service.request('GET', '/payments?cursor=nonsense', { session: target.session });
    expect(Object.keys(answer.body).sort()).toEqual(['code', 'details', 'error', 'request_id', 'success']);
    expect(JSON.stringify(answer.body)).not.toMatch(/dynamo|arn:|\.ts|at \w+ \(/i);
  });
});

describe('a request at the limits of its fields', () => {
  test('is accepted', async () => {
    const options = { session: target.session };
    const most = paidIntentBody({
      description: 'd'.repeat(1_000),
      concept: 'c'.repeat(200),
      reference_code: 'r'.repeat(100),
      category: 'k'.repeat(100),
      tags: Array.from({ length: 9 }, () => 't'.repeat(50)).join(),
      return_url: `https://shop.example/${'u'.repeat(2_048 - 'https://shop.example/'.length)}`,
      metadata: Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`${at}`.padStart(40, 'k'), 'v'.repeat(500)])),
    });
    const answer = await service.post('/payments/intents', most, { ...options, idempotencyKey: 'k'.repeat(255) });
    expect(answer).toMatchObject({ status: 201, body: { description: 'd'.repeat(1_000) } });
    expect((await confirm(service, answer.body.id, options)).status).toBe(200);
  });

  test('keeps special characters in texts and in the names of metadata', async () => {
    const body =
      '{"total_cents":100,"currency":"USD","description":"a\\u0000b 💳","metadata":{"toString":"t","hasOwnProperty":"h","a":{"":[]}}}';
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const answer = await service.request('POST', '/payments/intents', { session: target.session, body, headers });
    expect(answer.status).toBe(201);
    const { data } = (await service.get(`/payments/${answer.body.id}`, { session: target.session })).body;
    expect(data.description).toBe('a\u0000b 💳');
    expect(Object.entries(data.metadata)).toEqual(
      expect.arrayContaining([
        ['toString', 't'],
        ['hasOwnProperty', 'h'],
        ['a', { '': [] }],
      ]),
    );
  });

  test('keeps JSON in free-form fields unchanged, or is refused', { timeout: 120_000 }, async () => {
    const free = fc.record(
      {
        description: fc.string({ maxLength: 300, unit: 'grapheme' }),
        concept: fc.oneof(
          fc.string({ maxLength: 60, unit: 'grapheme' }),
          fc.string({ maxLength: 200, unit: 'binary' }),
        ),
        tags: fc.string({ maxLength: 60 }),
        metadata: fc.dictionary(fc.string({ maxLength: 40 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 }),
      },
      { requiredKeys: [] },
    );
    const options = { session: target.session };
    let kept = 0;
    const property = fc.asyncProperty(free, async (fields) => {
      const answer = await service.post('/payments/intents', intentBody(fields), options);
      expect([201, 400]).toContain(answer.status);
      if (answer.status === 400) return;
      kept += 1;
      const { data } = (await service.get(`/payments/${answer.body.id}`, options)).body;
      expect(data).toEqual(answer.body);
      const { __proto__: _dropped, ...metadata } = JSON.parse(JSON.stringify(fields.metadata ?? {}));
      expect(data).toMatchObject({
        description: fields.description || null,
        concept: fields.concept || null,
        tags: fields.tags || null,
        metadata,
      });
    });
    await fc.assert(property, { numRuns: 150, seed: 20_261_122 });
    expect(kept).toBeGreaterThan(25);
    await service.settle();
    expect(await service.queues()).toMatchObject({ 'apply-provider-event-dlq': { visible: 0 } });
  });

  test('gets a valid API version back in the response', async () => {
    const options = { session: target.session };
    const plain = await service.get('/payments', options);
    expect(plain.headers.get('x-api-version')).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    const asked = await service.post('/payments/intents', intentBody(), {
      ...options,
      headers: { 'x-api-version': '2027-01-01' },
    });
    expect(asked.headers.get('x-api-version')).toBe('2027-01-01');
  });
});

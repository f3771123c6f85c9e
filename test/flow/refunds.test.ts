/** @module Refunds through the service's route, at each provider. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { createPaidIntent, eventsOf, PATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { newOrganization } from './organization-steps.ts';
import {
  expectAgreement,
  PAYING_METHODS,
  type Paying,
  paidPayment,
  refund,
  refundsAtProvider,
  signInAdmin,
} from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });

const setUp = async (provider: Paying = PAYING_METHODS[0]) => {
  const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
  return { user, admin, payment: await paidPayment(service, user, { paying: provider }) };
};

describe.each(PAYING_METHODS)('a paid payment at %s', (...provider) => {
  test('is refunded in full if no amount is given', async () => {
    const { user, admin, payment } = await setUp(provider);
    expect(payment).toMatchObject({
      refunded_cents: 0,
      refundable_cents: 2_500,
      refund_status: 'none',
      disputed: false,
    });
    const made = await refund(service, payment.id, {
      ...admin.options,
      body: { reason: 'duplicate', metadata: { ticket: '7' } },
    });
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^ref_[0-9a-f]{24}$/),
        payment_id: payment.id,
        amount_cents: 2_500,
        currency: 'USD',
        reason: 'duplicate',
        metadata: { ticket: '7' },
        source: 'api',
        provider_id: provider[0],
        created_by: admin.userId,
      },
    });
    await service.advance(10 * MINUTE_SECONDS);
    const after = await service.get(`/refunds/${made.body.id}`, user.options);
    expect(after).toMatchObject({ status: 200, body: { status: 'succeeded', completed_at: expect.any(String) } });
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'succeeded',
      refunded_cents: 2_500,
      refundable_cents: 0,
      refund_status: 'full',
    });
    expect((await eventsOf(service, payment.id)).filter((name) => name.startsWith('payment.refund'))).toEqual([
      'payment.refunded',
    ]);
    await expectAgreement(service, payment.id, admin);
  });

  test('is refunded in parts, and never beyond its total', async () => {
    const { user, admin, payment } = await setUp(provider);
    for (const amount_cents of [1_000, 600]) {
      expect(await refund(service, payment.id, { ...admin.options, body: { amount_cents } })).toMatchObject({
        status: 201,
      });
    }
    expect(await refund(service, payment.id, { ...admin.options, body: { amount_cents: 901 } })).toMatchObject({
      status: 400,
      body: { code: 'REFUND_EXCEEDS_PAYMENT', details: { refundable_cents: 900 } },
    });
    await service.advance(10 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 1_600,
      refundable_cents: 900,
      refund_status: 'partial',
    });
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(2);
    const list = await service.get(`/payments/${payment.id}/refunds`, user.options);
    expect(list.body.map((one: { amount_cents: number }) => one.amount_cents).sort()).toEqual([1_000, 600].sort());
    await expectAgreement(service, payment.id, admin);
  });

  test('is refunded once under one Idempotency-Key, and retries get the same response', async () => {
    const { admin, payment } = await setUp(provider);
    const send = () =>
      refund(service, payment.id, {
        ...admin.options,
        headers: { 'idempotency-key': `key-${payment.id}` },
        body: {
          amount_cents: 700,
        },
      });
    const [first, again] = [await send(), await send()];
    expect(first.status).toBe(201);
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(1);
    const other = await refund(service, payment.id, {
      ...admin.options,
      headers: { 'idempotency-key': `key-${payment.id}` },
      body: { amount_cents: 701 },
    });
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  test('is fully refunded once by concurrent requests under one Idempotency-Key', async () => {
    const { admin, payment } = await setUp(provider);
    const options = { ...admin.options, headers: { 'idempotency-key': `at-once-${payment.id}` } };
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(service, payment.id, options)));
    expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(1);
  });

  test('is never refunded beyond its total by concurrent requests', async () => {
    const { admin, payment } = await setUp(provider);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refund(service, payment.id, { ...admin.options, body: { amount_cents: 500 } })),
    );
    const made = answers.filter(({ status }) => status === 201 || status === 202);
    expect(made.length).toBeGreaterThan(0);
    expect(made.length).toBeLessThanOrEqual(5);
    const others = answers.filter(({ status }) => status !== 201 && status !== 202);
    expect(new Set(others.map(({ body }) => body.code))).toEqual(
      new Set(
        others.map(({ body }) => (body.code === 'VERSION_CONFLICT' ? 'VERSION_CONFLICT' : 'REFUND_EXCEEDS_PAYMENT')),
      ),
    );
    await service.advance(10 * MINUTE_SECONDS);
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(made.length);
    await expectAgreement(service, payment.id, admin);
  });

  test('shows a refund made at the provider after its event, and allows refunds only of the rest', async () => {
    const { user, admin, payment } = await setUp(provider);
    await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 2_000 });
    await service.settle();
    await service.advance(10 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 2_000,
      refundable_cents: 500,
    });
    const [shown] = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    expect(shown).toMatchObject({ source: 'provider', amount_cents: 2_000, status: 'succeeded', created_by: null });
    expect(await refund(service, payment.id, { ...admin.options, body: { amount_cents: 501 } })).toMatchObject({
      status: 400,
    });
    await expectAgreement(service, payment.id, admin);
  });

  test('is read from the provider before a refusal, so a provider refund with a lost event is recorded', async () => {
    const { user, admin, payment } = await setUp(provider);
    await service.webhookMode('drop');
    await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 2_000 });
    await service.webhookMode('normal');
    const refused = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 1_000 } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'INVALID_STATE', details: { refundable_cents: 500 } } });
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 2_000,
      refundable_cents: 500,
    });
    const list = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    expect(list.map(({ source, status }: { source: string; status: string }) => `${source} ${status}`).sort()).toEqual([
      'api failed',
      'provider succeeded',
    ]);
    await expectAgreement(service, payment.id, admin);
  });

  test('shows the provider’s refunds and disputes after a sync', async () => {
    const { user, admin, payment } = await setUp(provider);
    await service.webhookMode('drop');
    await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 300 });
    await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
    await service.webhookMode('normal');
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(synced).toMatchObject({ status: 200, body: { refunded_cents: 300, disputed: true } });
    await expectAgreement(service, payment.id, admin);
  });

  test('shows the opening and the end of a dispute through its events', async () => {
    const { user, payment } = await setUp(provider);
    const raised = await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ disputed: true });
    const [open] = (await service.get(`/payments/${payment.id}/disputes`, user.options)).body;
    expect(open).toMatchObject({
      id: expect.stringMatching(/^dsp_/),
      payment_id: payment.id,
      provider_dispute_id: raised.id,
      amount_cents: 2_500,
      currency: 'USD',
      status: 'needs_response',
      closed_at: null,
    });
    await service.control('POST', `/simulator/disputes/${raised.id}`, { status: 'won' });
    await service.settle();
    const [closed] = (await service.get(`/payments/${payment.id}/disputes`, user.options)).body;
    expect(closed).toMatchObject({ status: 'won', closed_at: expect.any(String) });
    expect(await read(service, payment.id, user.options)).toMatchObject({ disputed: false });
    expect((await eventsOf(service, payment.id)).filter((name) => name.startsWith('payment.dispute'))).toEqual([
      'payment.dispute_opened',
      'payment.dispute_closed',
    ]);
  });
});

describe('a dispute amount with a fraction of a minor unit', () => {
  test('is rounded to whole minor units', async () => {
    const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
    const payment = await paidPayment(service, user, { currency: 'UGX', total_cents: 50_000 });
    const created = Math.floor(service.now() / 1_000);
    const object = {
      ...{ id: `dp_${payment.id}`, object: 'dispute', amount: 1_234_567, currency: 'ugx', status: 'needs_response' },
      ...{ payment_intent: payment.provider_payment_id, created, reason: 'fraudulent' },
    };
    await service.sendEvent({ type: 'charge.dispute.created', object, vocabulary: 'native' });
    await service.settle();
    expect(await service.get(`/payments/${payment.id}/disputes`, user.options)).toMatchObject({
      status: 200,
      body: [{ amount_cents: 12_346 }],
    });
    expect(await service.get('/disputes', admin.options)).toMatchObject({ status: 200 });
  });
});

describe('a refund', () => {
  test('is refused for an unsuccessful payment, and stores nothing', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const intent = await createPaidIntent(service, user);
    expect(await refund(service, intent.id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    expect((await service.get(`/payments/${intent.id}/refunds`, user.options)).body).toEqual([]);
  });

  test('is counted once per provider refund, even if several provider refunds contain the same id of ours', async () => {
    const { user, admin, payment } = await setUp();
    for (let round = 0; round < 3; round += 1) {
      await service.fault({
        provider: 'provider_a',
        method: 'POST',
        path: '/v1/refunds',
        action: 'error_500',
        times: 1,
      });
      const made = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 100 } });
      expect(made.status).toBe(202);
      const copies = [1, 2, 3].map((copy) => ({
        ...{ id: `re_${made.body.id}_${copy}`, object: 'refund', amount: 100, currency: 'usd', status: 'succeeded' },
        ...{ payment_intent: payment.provider_payment_id, created: Math.floor(service.now() / 1_000), reason: null },
        metadata: { refund_id: made.body.id },
      }));
      await Promise.all(
        copies.map((object) => service.sendEvent({ type: 'refund.updated', object, vocabulary: 'native' })),
      );
      await service.settle();
    }
    expect(await read(service, payment.id, user.options)).toMatchObject({ refunded_cents: 900 });
    const list = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    expect(list.map(({ source }: { source: string }) => source).filter((one: string) => one === 'api')).toHaveLength(3);
    expect(new Set(list.map((one: { provider_refund_id: string }) => one.provider_refund_id)).size).toBe(9);
  });

  test.each([
    [150, 'UGX'],
    [0, 'USD'],
    [-100, 'USD'],
    [300, 'EUR'],
  ])('is not stored if the provider reports it as %i %s, and the records stay readable', async (amount, currency) => {
    const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
    const own = currency === 'UGX' ? 'UGX' : 'USD';
    const payment = await paidPayment(service, user, { currency: own, total_cents: 50_000 });
    const object = {
      ...{ id: `re_${payment.id}`, object: 'refund', amount, currency: currency.toLowerCase(), status: 'succeeded' },
      ...{ payment_intent: payment.provider_payment_id, created: Math.floor(service.now() / 1_000), metadata: {} },
    };
    await service.sendEvent({ type: 'refund.updated', object, vocabulary: 'native' });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 0,
      refundable_cents: 50_000,
    });
    expect(await service.get(`/payments/${payment.id}/refunds`, user.options)).toMatchObject({
      status: 200,
      body: [],
    });
    expect(await service.get('/refunds', admin.options)).toMatchObject({ status: 200 });
  });

  test('is refused if the provider cannot express its amount, and stores nothing', async () => {
    const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
    const payment = await paidPayment(service, user, { currency: 'KWD', total_cents: 5_000 });
    expect(await refund(service, payment.id, { ...admin.options, body: { amount_cents: 1_234 } })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'amount_cents', rule: 'multiple_of' }] },
    });
    expect((await service.get(`/payments/${payment.id}/refunds`, user.options)).body).toEqual([]);
    expect(await refund(service, payment.id, { ...admin.options, body: { amount_cents: 1_230 } })).toMatchObject({
      status: 201,
    });
  });

  test('reports every problem of its body', async () => {
    const { admin, payment } = await setUp();
    const refused = await refund(service, payment.id, {
      ...admin.options,
      body: {
        amount_cents: 0,
        reason: 'because',
        metadata: { a: 'x'.repeat(600) },
      },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(refused.body.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'amount_cents',
      'metadata.a',
      'reason',
    ]);
  });

  test.each(['personal', 'of an organization'])(
    'cannot be made by the admin who made the payment (%s)',
    async (whose) => {
      const [payer, other] = [await signInAdmin(service), await signInAdmin(service)];
      const owner = whose === 'personal' ? {} : { organization_id: await newOrganization(service, payer) };
      const payment = await paidPayment(service, payer, owner);
      expect(await refund(service, payment.id, payer.options)).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_PERMISSIONS' },
      });
      expect(await refundsAtProvider(service, payment.id)).toEqual([]);
      expect(await refund(service, payment.id, other.options)).toMatchObject({ status: 201 });
    },
  );

  test('can be made only by platform admins, and read by callers who may read the payment', async () => {
    const { user, admin, payment } = await setUp();
    const stranger = await signIn(service);
    expect(await refund(service, payment.id, user.options)).toMatchObject({
      status: 403,
      body: { code: 'ADMIN_REQUIRED' },
    });
    const { body } = await refund(service, payment.id, admin.options);
    for (const path of [`/refunds/${body.id}`, `/payments/${payment.id}/refunds`, `/payments/${payment.id}/disputes`]) {
      expect(await service.get(path, user.options)).toMatchObject({ status: 200 });
      expect(await service.get(path, admin.options)).toMatchObject({ status: 200 });
      expect(await service.get(path, stranger.options)).toMatchObject({ status: 404 });
    }
    expect(await service.get('/refunds', user.options)).toMatchObject({ status: 403 });
    expect(await service.get('/disputes', user.options)).toMatchObject({ status: 403 });
  });

  test('becomes failed if the bank returns it, lowers the refunded amount, and publishes payment.refund_failed', async () => {
    const { user, admin, payment } = await setUp();
    const { body } = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 900 } });
    await service.settle();
    await service.control('POST', `/simulator/refunds/${body.provider_refund_id}`, { status: 'failed' });
    await service.settle();
    expect(await service.get(`/refunds/${body.id}`, user.options)).toMatchObject({ body: { status: 'failed' } });
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 0,
      refundable_cents: 2_500,
    });
    expect((await eventsOf(service, payment.id)).slice(-2)).toEqual(['payment.refunded', 'payment.refund_failed']);
  });

  test('appears in the list of all refunds by status and day, newest first', async () => {
    await service.advance(40 * DAY_SECONDS);
    const { admin, payment } = await setUp();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await refund(service, payment.id, { ...admin.options, body: { amount_cents: 100 } })).body.id);
      await service.advance(20 * DAY_SECONDS);
    }
    const list = (query: string) => service.get(`/refunds?${query}`, admin.options);
    const today = new Date(service.now()).toISOString().slice(0, 10);
    const first = await list(`limit=2&status=succeeded&to=${today}`);
    expect(first).toMatchObject({ status: 200, body: { success: true, meta: { limit: 2, has_more: true } } });
    const next = await list(`limit=2&status=succeeded&to=${today}&cursor=${first.body.meta.next_cursor}`);
    const shown = [...first.body.data, ...next.body.data].map(({ id }: { id: string }) => id);
    expect(shown.slice(0, 3)).toEqual(ids);
    expect(await list('limit=101')).toMatchObject({ status: 400 });
    expect((await list(`from=${today}`)).body.data).toEqual([]);
  });
});

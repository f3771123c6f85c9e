import Stripe from 'stripe';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { DECLINED, intentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  confirm,
  confirmInBrowser,
  createIntent,
  createPaidIntent,
  eventsOf,
  itemsOf,
  logEntriesOf,
  PATIENT,
  partitionOf,
  read,
  signIn,
  storedPayment,
  timesCharged,
} from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const seconds = (): number => Math.floor(service.now() / 1_000);

/** Creates an unconfirmed payment. `sendEvent` sends an event about the payment, and returns its new state. */
const unconfirmed = async (fields = {}) => {
  const user = await signIn(service);
  const payment = await createIntent(service, user, fields);
  const sendEvent = async (type: string, event: Parameters<typeof intentEvent>[2] = {}) => {
    const answer = await service.sendEvent(intentEvent(payment, type, event));
    expect(answer).toMatchObject({ status: 200, body: { received: true } });
    await service.settle();
    return read(service, payment.id, user.options);
  };
  return { user, payment, sendEvent };
};

/** Expects that the log holds exactly these outcomes of a payment's events, in any order. */
const expectOutcomes = async (paymentId: string, expected: readonly unknown[]): Promise<void> => {
  const logged = (await logEntriesOf(service, paymentId)).map(({ status, response }) => [
    status,
    response.outcome,
    response.reason ?? response.status,
  ]);
  expect(logged).toHaveLength(expected.length);
  expect(logged).toEqual(expect.arrayContaining([...expected]));
};

describe('an inbound event', () => {
  test.each([
    ['payment_intent.succeeded', 'contract', 'succeeded'],
    ['payment_intent.failed', 'contract', 'failed'],
    ['payment_intent.canceled', 'contract', 'canceled'],
    ['payment_intent.processing', 'contract', 'processing'],
    ['payment_intent.requires_action', 'contract', 'pending'],
    ['payment_intent.succeeded', 'native', 'succeeded'],
    ['payment_intent.payment_failed', 'native', 'failed'],
    ['payment_intent.canceled', 'native', 'canceled'],
    ['payment_intent.processing', 'native', 'processing'],
    ['payment_intent.requires_action', 'native', 'pending'],
  ] as const)('%s in the %s vocabulary makes a payment %s', async (type, vocabulary, status) => {
    const { payment, sendEvent } = await unconfirmed();
    const id = `evt_${vocabulary}_${status}`;
    const updated = await sendEvent(type, { vocabulary, id });
    expect(updated).toMatchObject({ status, updated_at: new Date(service.now()).toISOString() });
    expect(updated.completed_at === null).toBe(status !== 'succeeded');
    const settled = status === 'succeeded' || status === 'failed' ? [`payment.${status}`] : [];
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', ...settled]);
    expect(await logEntriesOf(service, payment.id)).toMatchObject([
      {
        provider: 'provider_a',
        eventType: type,
        eventId: id,
        status: 'success',
        direction: 'inbound',
        attempt: 1,
        payload: { id, type, data: { object: { id: payment.provider_payment_id } } },
        response: { outcome: 'applied', status },
      },
    ]);
  });

  test('is acknowledged with its id, and stored before it is applied', async () => {
    const { payment } = await unconfirmed();
    const answer = await service.sendEvent(intentEvent(payment, 'payment_intent.processing', { id: 'evt_stored' }));
    expect(answer).toEqual({ status: 200, body: { received: true, event_id: 'evt_stored' } });
    expect(await partitionOf(service, 'EVT#provider_a#evt_stored')).toHaveLength(1);
    await service.settle();
  });

  test('stores the reason why a payment failed', async () => {
    const { sendEvent } = await unconfirmed();
    const error = { last_payment_error: { code: 'card_declined', decline_code: 'lost_card' } };
    expect(await sendEvent('payment_intent.payment_failed', { vocabulary: 'native', object: error })).toMatchObject({
      status: 'failed',
      failure_code: 'lost_card',
    });
  });

  test('leaves the current attempt open if it concerns an earlier attempt', async () => {
    const { user, payment, sendEvent } = await unconfirmed({ payment_method_id: DECLINED });
    await service.webhookMode('drop');
    for (const method of [DECLINED, DECLINED, 'pm_sim_processing_ok']) {
      await confirm(service, payment.id, { ...user.options, body: { payment_method_id: method } });
    }
    await service.webhookMode('normal');
    const { charges } = await service.ledger();
    const failed = charges.filter((one) => one.payment_id === payment.id && one.status === 'failed');
    expect(failed).toHaveLength(2);
    for (const { id } of failed) {
      const object = { latest_charge: id, last_payment_error: { code: 'card_declined' } };
      expect(
        await sendEvent('payment_intent.payment_failed', { vocabulary: 'native', object, id: `evt_${id}` }),
      ).toMatchObject({ status: 'processing' });
    }
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
  });

  test('is stored and applied once, even if it is delivered again late', async () => {
    const { payment } = await unconfirmed();
    const event = intentEvent(payment, 'payment_intent.succeeded', { id: 'evt_again', created: seconds(), times: 5 });
    const stored = () => partitionOf(service, 'EVT#provider_a#evt_again');
    expect(await service.sendEvent(event)).toEqual({ status: 200, body: { received: true, duplicate: true } });
    await service.settle();
    const first = await stored();
    expect(first).toMatchObject([{ version: 1, receivedAt: new Date(service.now()).toISOString() }]);
    for (const later of [1, HOUR_SECONDS, 20 * DAY_SECONDS]) {
      await service.advance(later);
      expect(await service.sendEvent({ ...event, times: 1 })).toMatchObject({ body: { duplicate: true } });
      await service.settle();
      expect(await stored()).toEqual(first);
    }
    await expectOutcomes(payment.id, [['success', 'applied', 'succeeded']]);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('does not replace a stored event with the same id, whatever its content', async () => {
    const { payment, sendEvent } = await unconfirmed();
    await sendEvent('payment_intent.processing', { id: 'evt_taken', created: seconds() });
    const first = await partitionOf(service, 'EVT#provider_a#evt_taken');
    await service.advance(1);
    const other = intentEvent(payment, 'payment_intent.canceled', { id: 'evt_taken', created: seconds() });
    expect(await service.sendEvent(other)).toMatchObject({ status: 200, body: { duplicate: true } });
    await service.settle();
    expect(await partitionOf(service, 'EVT#provider_a#evt_taken')).toEqual(first);
    await expectOutcomes(payment.id, [['success', 'applied', 'processing']]);
  });

  test('changes nothing when repeated under another id', async () => {
    const { payment, sendEvent } = await unconfirmed();
    const first = await sendEvent('payment_intent.succeeded');
    expect(await sendEvent('payment_intent.succeeded')).toEqual(first);
    await expectOutcomes(payment.id, [
      ['success', 'applied', 'succeeded'],
      ['success', 'ignored', 'no change'],
    ]);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('is accepted and ignored if its type is unknown', async () => {
    const { payment } = await unconfirmed();
    const event = intentEvent(payment, 'payment_intent.dreamt_of', { id: 'evt_unknown' });
    expect(await service.sendEvent(event)).toEqual({
      status: 200,
      body: { received: true, event_id: 'evt_unknown', ignored: true },
    });
    await service.settle();
    const entries = (await itemsOf(service, 'LOG#')).filter(({ eventId }) => eventId === 'evt_unknown');
    expect(entries).toMatchObject([
      { status: 'success', response: { outcome: 'ignored', reason: expect.any(String) } },
    ]);
  });
});

describe('an inbound event of an unrelated type about an unrelated object', () => {
  const sendSigned = (payload: string) => {
    const secret = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET;
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds() });
    const headers = { 'content-type': 'application/json', 'stripe-signature': header };
    return service.request('POST', '/webhooks/provider_a', { body: payload, headers });
  };
  const expectIgnored = async (id: string, answer: { status: number; body: ParsedJson }): Promise<void> => {
    expect(answer).toMatchObject({ status: 200, body: { received: true, ignored: true, event_id: id } });
    await service.settle();
    const entries = (await itemsOf(service, 'LOG#')).filter(({ eventId }) => eventId === id);
    expect(entries).toMatchObject([
      { status: 'success', response: { outcome: 'ignored', reason: expect.any(String) } },
    ]);
  };

  test.each([
    ['provider_a', 'balance.available', { object: 'balance', available: [] }],
    ['provider_a', 'tax.settings.updated', { object: 'tax.settings', status: 'active' }],
    ['provider_a', 'invoice.upcoming', { object: 'invoice', amount_due: 2_500 }],
    ['provider_b', 'BILLING.PLAN.CREATED', {}],
    ['provider_c', 'labor.shift.updated', {}],
  ])('is accepted from %s and logged as ignored: %s', async (provider, type, object) => {
    const id = `evt_${provider}_${type}`;
    await expectIgnored(id, await service.sendEvent({ provider, type, object, id, vocabulary: 'native' }));
  });

  test('is accepted in the thin format too', async () => {
    const created = new Date(service.now()).toISOString();
    const related_object = { id: 'mtr_1', type: 'billing.meter', url: '/v1/billing/meters/mtr_1' };
    const type = 'v1.billing.meter.error_report_triggered';
    const thin = { id: 'evt_thin', object: 'v2.core.event', type, created, related_object };
    await expectIgnored('evt_thin', await sendSigned(JSON.stringify(thin)));
  });

  test.each([
    ['not an event', '{"hello":"world"}'],
    ['an event without an id', '{"type":"balance.available","created":1,"data":{"object":{}}}'],
    [
      'a payment’s event without the payment',
      '{"id":"evt_less","type":"payment_intent.succeeded","created":1,"data":{}}',
    ],
  ])('is refused if the body is %s', async (_what, payload) => {
    expect(await sendSigned(payload)).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });
});

describe('an inbound event with unusual content', () => {
  test.each([
    ['a field named constructor', '"constructor":{"name":"Set"}'],
    ['numbers that the table cannot store', '"a":1e300,"b":12345678901234567890,"c":1e-200'],
    ['a lone surrogate', '"a":"\\ud800","\\ud800":1'],
    ['deep nesting', `"a":${'['.repeat(3_000)}${']'.repeat(3_000)}`],
  ])('is applied and logged (%s)', async (_what, content) => {
    const { payment, user } = await unconfirmed();
    const reported = intentEvent(payment, 'payment_intent.succeeded');
    const object = JSON.stringify(reported.object).replace('{', `{"odd":{${content}},`);
    const payload = `{"id":"evt_odd_${payment.id}","type":"payment_intent.succeeded","created":${seconds()},"data":{"object":${object}}}`;
    const secret = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET;
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds() });
    const headers = { 'content-type': 'application/json', 'stripe-signature': header };
    const answer = await service.request('POST', '/webhooks/provider_a', { body: payload, headers });
    expect(answer).toMatchObject({ status: 200 });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    await expectOutcomes(payment.id, [['success', 'applied', 'succeeded']]);
    expect(await service.queues()).toMatchObject({ 'apply-provider-event': { in_flight: 0 } });
  });
});

describe('an inbound event out of order', () => {
  test('is stale if it predates the current attempt, and triggers a lookup of the payment', async () => {
    const { user, payment, sendEvent } = await unconfirmed({ payment_method_id: 'pm_sim_processing_ok' });
    await service.webhookMode('drop');
    onTestFinished(async () => void (await service.webhookMode('normal')));
    await confirm(service, payment.id, user.options);
    await service.clearProviderRequests();
    for (const type of ['payment_intent.failed', 'payment_intent.succeeded', 'payment_intent.canceled']) {
      expect(await sendEvent(type, { created: seconds() - 1 })).toMatchObject({ status: 'processing' });
    }
    await expectOutcomes(
      payment.id,
      Array.from({ length: 3 }, () => ['success', 'ignored', 'stale']),
    );
    expect(await service.providerRequests()).toEqual([]);
    const untilTheNextMinute = 60 - (seconds() % 60);
    await service.advance(untilTheNextMinute);
    expect(await service.providerRequests()).toMatchObject([
      { method: 'GET', path: `/v1/payment_intents/${payment.provider_payment_id}` },
    ]);
    expect(await sendEvent('payment_intent.failed', { created: seconds() })).toMatchObject({ status: 'failed' });
  });

  test('is applied if its time is in the same second as the claim', async () => {
    const { user, payment, sendEvent } = await unconfirmed({ payment_method_id: THREE_D_SECURE });
    await confirm(service, payment.id, user.options);
    expect(await sendEvent('payment_intent.succeeded', { created: seconds() })).toMatchObject({ status: 'succeeded' });
  });

  test('never moves a payment backward, and makes its reconciliation due earlier', async () => {
    const { payment, sendEvent } = await unconfirmed();
    await sendEvent('payment_intent.processing');
    expect(await sendEvent('payment_intent.requires_action')).toMatchObject({ status: 'processing' });
    const { reconcileAt } = await storedPayment(service, payment.id);
    expect(Date.parse(reconcileAt)).toBeLessThanOrEqual(service.now());
    await sendEvent('payment_intent.failed');
    expect(await sendEvent('payment_intent.processing')).toMatchObject({ status: 'failed' });
    expect(await sendEvent('payment_intent.requires_action')).toMatchObject({ status: 'failed' });
    expect(await sendEvent('payment_intent.succeeded')).toMatchObject({ status: 'succeeded' });
    expect(await sendEvent('payment_intent.processing')).toMatchObject({ status: 'succeeded' });
    const backward = ['success', 'ignored', 'backward'];
    const applied = ['processing', 'failed', 'succeeded'].map((status) => ['success', 'applied', status]);
    await expectOutcomes(payment.id, [...applied, backward, backward, backward, backward]);
  });

  test('does not undo the next attempt if it reports an earlier attempt’s failure', async () => {
    const { user, payment } = await unconfirmed();
    await service.webhookMode('delay');
    onTestFinished(async () => void (await service.webhookMode('normal')));
    await confirm(service, payment.id, { ...user.options, body: { payment_method_id: DECLINED } });
    const answer = await confirm(service, payment.id, {
      ...user.options,
      body: { payment_method_id: 'pm_sim_processing_ok' },
    });
    expect(answer).toMatchObject({ status: 200, body: { status: 'processing' } });
    await service.advance(2 * HOUR_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    const names = await eventsOf(service, payment.id);
    expect(names).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  });

  test('triggers a lookup if it contradicts a settled payment, and is applied only if the provider is ahead', async () => {
    const canceled = await unconfirmed();
    await canceled.sendEvent('payment_intent.canceled');
    expect(await canceled.sendEvent('payment_intent.succeeded')).toMatchObject({ status: 'canceled' });
    await expectOutcomes(canceled.payment.id, [
      ['success', 'applied', 'canceled'],
      ['success', 'ignored', expect.stringContaining('anomaly')],
    ]);
    await service.webhookMode('drop');
    await confirmInBrowser(service, canceled.payment, VISA);
    await service.webhookMode('normal');
    const proven = await canceled.sendEvent('payment_intent.succeeded');
    expect(proven).toMatchObject({ status: 'succeeded', completed_at: new Date(service.now()).toISOString() });
    const { anomaly } = await storedPayment(service, canceled.payment.id);
    expect(anomaly).toEqual(expect.stringContaining('canceled'));
    expect(await eventsOf(service, canceled.payment.id)).toEqual(['payment.created', 'payment.succeeded']);

    expect(await canceled.sendEvent('payment_intent.canceled')).toMatchObject({ status: 'succeeded' });
    expect(await canceled.sendEvent('payment_intent.failed')).toMatchObject({ status: 'succeeded' });
  });
});

describe('an inbound event that does not match the record', () => {
  test.each([
    ['amount', { amount: 2_499 }, 'amount differs'],
    ['currency', { currency: 'eur' }, 'currency differs'],
  ])('changes nothing and is quarantined if the %s differs', async (_what, object, reason) => {
    const { payment, sendEvent, user } = await unconfirmed();
    const before = await read(service, payment.id, user.options);
    expect(await sendEvent('payment_intent.succeeded', { object })).toEqual(before);
    await expectOutcomes(payment.id, [['failed', 'quarantined', reason]]);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created']);
  });

  test('changes nothing and is quarantined if the provider’s object differs', async () => {
    const { payment, sendEvent, user } = await unconfirmed();
    const before = await read(service, payment.id, user.options);
    const object = { id: 'pi_of_another_payer', metadata: { payment_id: payment.id } };
    expect(await sendEvent('payment_intent.succeeded', { vocabulary: 'native', object })).toEqual(before);
    await expectOutcomes(payment.id, [['failed', 'quarantined', 'provider object differs']]);
  });
});

describe('an early inbound event', () => {
  test('is retried after 1, 5 and 30 minutes, then logged', async () => {
    const object = { id: 'pi_never', amount: 1, currency: 'usd', status: 'succeeded' };
    await service.sendEvent({ type: 'payment_intent.succeeded', id: 'evt_early', object });
    const logged = async () => (await itemsOf(service, 'LOG#')).filter(({ eventId }) => eventId === 'evt_early');
    const waiting = async () => (await service.queues())['apply-provider-event'];
    await service.settle();
    expect(await waiting()).toMatchObject({ visible: 0, in_flight: 1 });
    await service.advance(36 * MINUTE_SECONDS - 1);
    expect(await logged()).toEqual([]);
    expect(await waiting()).toMatchObject({ in_flight: 1 });
    await service.advance(1);
    expect(await logged()).toMatchObject([
      { status: 'failed', eventType: 'payment_intent.succeeded', response: { outcome: 'unmatched' } },
    ]);
    expect(await service.queues()).toMatchObject({
      'apply-provider-event': { visible: 0, in_flight: 0 },
      'apply-provider-event-dlq': { visible: 0 },
    });
  });

  test('is retried for 30 hours if it is about a refund or a dispute', async () => {
    const object = {
      ...{ id: 'du_never', object: 'dispute', charge: 'ch_never', payment_intent: 'pi_never' },
      ...{ amount: 1, currency: 'usd', status: 'needs_response', reason: 'fraudulent', created: seconds() },
    };
    await service.sendEvent({ type: 'charge.dispute.created', id: 'evt_early_dispute', object });
    const logged = async () =>
      (await itemsOf(service, 'LOG#')).filter(({ eventId }) => eventId === 'evt_early_dispute').length;
    await service.advance(30 * HOUR_SECONDS);
    expect(await logged()).toBe(0);
    await service.advance(HOUR_SECONDS);
    expect(await logged()).toBe(1);
  });

  test('is applied once its payment exists', async () => {
    const user = await signIn(service);
    await service.fault({ path: '/v1/payment_intents', times: 1, action: 'malformed' });
    const answer = await service.post('/payments/intents', intentBody(), user.options);
    await service.clearFaults();
    const { payment_id } = answer.body.details;
    const { payment_intents } = await service.ledger(payment_id);
    const payment = { provider_payment_id: present(payment_intents[0]).id, total_cents: 2_500, currency: 'USD' };
    const object = { metadata: { payment_id } };
    await service.sendEvent(intentEvent(payment, 'payment_intent.succeeded', { vocabulary: 'native', object }));
    await service.settle();
    expect(await service.get(`/payments/${payment_id}`, user.options)).toMatchObject({ status: 404 });
    await service.advance(7 * MINUTE_SECONDS);
    expect(await read(service, payment_id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await eventsOf(service, payment_id)).toEqual(['payment.created', 'payment.succeeded']);
  });
});

describe('the signature of an inbound event', () => {
  const URL_PATH = '/webhooks/provider_a';
  const eventText = (id: string): string =>
    JSON.stringify({
      id,
      type: 'customer.created',
      provider: 'provider_a',
      created: seconds(),
      data: { object: { id: 'cus_1', secret: 'canary' } },
    });
  const signature = (
    payload: string,
    timestamp = seconds(),
    secret: string = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET,
  ) => Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  const send = (body: string, header?: string) =>
    service.request('POST', URL_PATH, {
      body,
      headers: { 'content-type': 'application/json', ...(header !== undefined && { 'stripe-signature': header }) },
    });

  test('is verified over the received bytes, within 300 s of the clock in both directions', async () => {
    const body = eventText('evt_signed_1').replace('{', '{ ');
    expect(await send(body, signature(body))).toMatchObject({ status: 200 });
    for (const [offset, status] of [
      [-300, 200],
      [300, 200],
      [-301, 401],
      [301, 401],
    ] as const) {
      const text = eventText(`evt_signed_at_${offset}`);
      expect({ offset, ...(await send(text, signature(text, seconds() + offset))) }).toMatchObject({ offset, status });
    }
  });

  test('can be one of several signatures while secrets rotate', async () => {
    const body = eventText('evt_rotated');
    const [t, v1] = signature(body).split(',');
    expect(await send(body, `${t},v1=${'0'.repeat(64)},${v1}`)).toMatchObject({ status: 200 });
  });

  test('is refused when invalid or missing, without a stored event or a logged payload', async () => {
    const body = eventText('evt_forged');
    const good = signature(body);
    const refused = [
      undefined,
      '',
      'nonsense',
      't=1',
      good.replace('v1=', 'v0='),
      signature(body, seconds(), 'whsec_other'),
    ];
    await service.settle();
    const before = (await itemsOf(service, 'LOG#')).map(({ pk }) => pk);
    for (const header of refused) {
      expect(await send(body, header)).toMatchObject({ status: 401, body: { code: 'INVALID_WEBHOOK_SIGNATURE' } });
    }
    expect(await send(body.replace('cus_1', 'cus_2'), good)).toMatchObject({ status: 401 });
    expect(await send(JSON.stringify(JSON.parse(body), null, 1), good)).toMatchObject({ status: 401 });
    expect(
      await service.sendEvent({ type: 'payment_intent.succeeded', object: {}, signature: 'invalid' }),
    ).toMatchObject({
      status: 401,
    });
    expect(
      await service.sendEvent({ type: 'payment_intent.succeeded', object: {}, signature: 'missing' }),
    ).toMatchObject({
      status: 401,
    });
    await service.settle();
    expect(await partitionOf(service, 'EVT#provider_a#evt_forged')).toEqual([]);
    const entries = (await itemsOf(service, 'LOG#')).filter(({ pk }) => !before.includes(pk));
    expect(entries).toHaveLength(refused.length + 4);
    for (const entry of entries) expect(entry).toMatchObject({ status: 'failed', payload: {}, provider: 'provider_a' });
    expect(await send(body, good)).toMatchObject({ status: 200, body: { event_id: 'evt_forged' } });
  });

  test('is refused if the signed body is not an event', async () => {
    for (const [body, status, code] of [
      ['{', 400, 'INVALID_JSON'],
      ['[]', 400, 'VALIDATION_ERROR'],
      ['{"id":"evt_x"}', 400, 'VALIDATION_ERROR'],
      ['null', 400, 'VALIDATION_ERROR'],
      [JSON.stringify({ pad: 'x'.repeat(256 * 1_024) }), 413, 'PAYLOAD_TOO_LARGE'],
    ] as const) {
      expect(await send(body, signature(body))).toMatchObject({ status, body: { code } });
    }
  });
});

describe('the provider’s events', () => {
  test.each(['normal', 'duplicate', 'reorder', 'delay', 'drop'] as const)(
    'bring each payment to its state in the ledger, in delivery mode %s',
    async (mode) => {
      const user = await signIn(service, { expires_in: 7 * 24 * HOUR_SECONDS });
      await service.webhookMode(mode, 7);
      const methods = [
        VISA,
        DECLINED,
        'pm_sim_processing_ok',
        'pm_sim_processing_fail',
        THREE_D_SECURE,
        THREE_D_SECURE,
      ];
      const payments = await Promise.all(methods.map(() => createIntent(service, user)));
      const [, , , , passing, failing] = payments;
      await Promise.all(payments.map((payment, index) => confirmInBrowser(service, payment, methods[index] ?? VISA)));
      await service.authenticate(present(passing).id, 'success');
      await service.authenticate(present(failing).id, 'failure');
      await service.advance(mode === 'delay' || mode === 'drop' ? 2 * HOUR_SECONDS : 2 * MINUTE_SECONDS);
      await service.webhookMode('normal');
      if (mode === 'drop') {
        await Promise.all(
          payments.map(({ provider_payment_id: id }) => service.post(`/payments/sync/${id}`, {}, user.options)),
        );
        await service.settle();
      }
      const statuses = await Promise.all(
        payments.map(async ({ id }) => (await read(service, id, user.options)).status),
      );
      expect(statuses).toEqual(['succeeded', 'failed', 'succeeded', 'failed', 'succeeded', 'failed']);
      for (const [index, { id }] of payments.entries()) {
        const paid = statuses[index] === 'succeeded';
        expect(await timesCharged(service, id)).toBe(paid ? 1 : 0);
        expect(await eventsOf(service, id)).toEqual(['payment.created', paid ? 'payment.succeeded' : 'payment.failed']);
      }
    },
  );
});

describe('a replay of the stream', () => {
  test('publishes the same events, and changes nothing', async () => {
    const { payment, sendEvent, user } = await unconfirmed();
    await sendEvent('payment_intent.processing');
    const before = await sendEvent('payment_intent.succeeded');
    const ofUser = async () => [
      ...(await partitionOf(service, `PAY#${payment.id}`)),
      ...(await itemsOf(service, `SUM#USER#${user.userId}`)),
    ];
    const items = await ofUser();
    expect(items.length).toBeGreaterThan(4);
    const identities = async () => new Set((await service.busEvents()).map((event) => event.detail.id)).size;
    const known = await identities();
    for (const consumer of ['workers.publish-changes', 'workers.project-changes']) {
      await service.host().replayStream(consumer);
    }
    await service.settle();
    expect(await identities()).toBe(known);
    expect(await eventsOf(service, payment.id)).toHaveLength(4);
    expect(await read(service, payment.id, user.options)).toEqual(before);
    expect(await ofUser()).toEqual(items);
  });
});

test('a replay of the stream to the projection changes no history, counter, sum or entry of any payment', async () => {
  const { sendEvent } = await unconfirmed();
  await sendEvent('payment_intent.succeeded');
  const prefixes = ['PAY#', 'COUNT#', 'SUM#', 'ALLPAY#'];
  const projected = async () => (await Promise.all(prefixes.map((prefix) => itemsOf(service, prefix)))).flat();
  const items = await projected();
  await service.host().replayStream('workers.project-changes');
  await service.settle();
  expect(await projected()).toEqual(items);
});

test('the events of one user never touch the payments of a second user', async () => {
  const [one, other] = [await unconfirmed(), await unconfirmed()];
  const user = await signIn(service);
  const paid = await createPaidIntent(service, user);
  await one.sendEvent('payment_intent.failed');
  expect(await read(service, other.payment.id, other.user.options)).toMatchObject({
    status: 'requires_payment_method',
  });
  expect(await read(service, paid.id, user.options)).toMatchObject({ status: 'created' });
});

import { describe, expect, test } from 'vitest';
import { paidIntentBody } from '../builders/intent.ts';
import { confirm, createIntent, read, signIn } from './flow.ts';
import { AT_STRIPE, capture, HOLDING, heldPayment, manualBody } from './holders.ts';
import { withHost } from './host.ts';
import { createCustomer } from './payers.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: { CUSTOMER_DELETE_HISTORY: 'true' } });

/** The adapter's calls with a matching path. */
const calls = async (path: RegExp) => (await service.providerRequests()).filter((request) => path.test(request.path));

const refused = (path: string) => ({
  status: 400,
  body: { code: 'VALIDATION_ERROR', details: [{ path, rule: 'capture_method' }] },
});

describe('the capture method of a payment', () => {
  test('is automatic by default, and may be requested explicitly', async () => {
    const user = await signIn(service);
    for (const body of [{}, { capture_method: 'automatic' }, { capture_method: null }]) {
      const payment = await createIntent(service, user, paidIntentBody(body));
      expect(payment).toMatchObject({
        capture_method: 'automatic',
        ...{ authorized_cents: null, captured_cents: 0, capturable_cents: 0, capture_before: null },
        ...{ guaranteed_until: null, capture_pending: false, release_pending: false, cancellation_reason: null },
      });
      expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    }
    const other = await service.post('/payments', paidIntentBody({ capture_method: 'later' }), user.options);
    expect(other).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });

  test.each(HOLDING)('can be updated until the confirmation, at $slot', async (holding) => {
    const user = await signIn(service);
    const { id } = await createIntent(service, user, manualBody(holding, { capture_method: 'automatic' }));
    const update = (body: object) => service.put(`/payments/intents/${id}`, body, user.options);
    for (const capture_method of ['manual', 'automatic', 'manual']) {
      expect(await update({ capture_method })).toMatchObject({ status: 200, body: { capture_method } });
    }
    expect(await update({ description: 'Hotel' })).toMatchObject({ body: { capture_method: 'manual' } });
    expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'requires_capture' } });
    expect(await update({ description: 'Motel' })).toMatchObject({
      status: 409,
      body: { code: 'PAYMENT_NOT_UPDATABLE' },
    });
    const back = await createIntent(service, user, manualBody(holding));
    const automatic = { capture_method: null };
    expect(await service.put(`/payments/intents/${back.id}`, automatic, user.options)).toMatchObject({ status: 200 });
    expect(await confirm(service, back.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
  });

  test('cannot be manual for a bank account, and the refusal needs no call to the provider', async () => {
    const user = await signIn(service);
    await service.clearProviderRequests();
    const withBank = manualBody(AT_STRIPE, { payment_method_id: 'btok_us' });
    expect(await service.post('/payments/intents', withBank, user.options)).toMatchObject(refused('payment_method_id'));
    expect(await calls(/./)).toEqual([]);
    const { id } = await createIntent(service, user, manualBody(AT_STRIPE, { payment_method_id: undefined }));
    await service.clearProviderRequests();
    const bank = { ...user.options, body: { payment_method_id: 'btok_us' } };
    expect(await confirm(service, id, bank)).toMatchObject(refused('payment_method_id'));
    expect(await calls(/./)).toEqual([]);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_payment_method' });
  });

  test('cannot be manual for a subscription', async () => {
    const user = await signIn(service);
    const body = { payment_method_id: 'pmt_none', product_id: 'demo-gold-monthly', capture_method: 'manual' };
    const answer = await service.post('/subscriptions', body, user.options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(answer.body.details).toContainEqual(expect.objectContaining({ path: 'capture_method' }));
  });
});

describe('the requests to the provider for an automatic payment', () => {
  test('do not name a capture method', async () => {
    const user = await signIn(service);
    await service.clearProviderRequests();
    const { id } = await createIntent(service, user, paidIntentBody());
    await service.put(`/payments/intents/${id}`, { description: 'Books' }, user.options);
    await confirm(service, id, user.options);
    expect(JSON.stringify(await calls(/payment_intents/))).not.toContain('capture_method');
  });
});

describe('a held payment of a customer deleted with history', () => {
  test('stays and can be captured, because money is held', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const customer = await createCustomer(service, user.options);
    const { id } = await heldPayment(service, user, { customer_id: customer.id });
    const removed = await service.request('DELETE', `/customers/${customer.id}`, user.options);
    expect(removed).toMatchObject({ status: 204 });
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });
});

describe.each(HOLDING)('a held payment at $slot', (holding) => {
  test('is returned by another confirmation, and holds the amount once', async () => {
    const user = await signIn(service);
    const { id } = await heldPayment(service, user, { holding });
    await service.clearProviderRequests();
    for (const body of [{}, { payment_method_id: holding.method }]) {
      expect(await confirm(service, id, { ...user.options, body })).toMatchObject({
        status: 200,
        body: { id, status: 'requires_capture', completed_at: null },
      });
    }
    expect(await calls(/./)).toEqual([]);
  });
});

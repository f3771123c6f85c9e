/** @module A refund with an unknown outcome at the provider. The event of this refund does not contain our id. */

import { describe, expect, onTestFinished, test } from 'vitest';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { expectAgreement, PAYING_METHODS, paidPayment, refund, refundsAtProvider, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

const setUp = async (provider: (typeof PAYING_METHODS)[number]) => {
  const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
  const payment = await paidPayment(service, user, { paying: provider });
  await service.webhookMode('drop');
  onTestFinished(async () => {
    await service.clearFaults();
    await service.webhookMode('normal');
  });
  return { user, admin, payment };
};

describe('a refund event without our id that arrives before the refund’s response', () => {
  test('is counted once after the response arrives', async () => {
    const [, paypal] = PAYING_METHODS;
    const { user, admin, payment } = await setUp(paypal ?? PAYING_METHODS[0]);
    await service.fault({ provider: 'provider_b', method: 'POST', path: '/refund', action: 'timeout_after', times: 1 });
    const made = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 500 } });
    expect(made.status).toBe(202);
    await service.webhookMode('normal');
    const [held] = await refundsAtProvider(service, payment.id);
    const capture = `https://api.paypal.com/v2/payments/captures/${payment.provider_payment_id}`;
    await service.sendEvent({
      provider: 'provider_b',
      type: 'PAYMENT.CAPTURE.REFUNDED',
      vocabulary: 'native',
      object: {
        ...{ id: present(held).id, status: 'COMPLETED', amount: { currency_code: 'USD', value: '5.00' } },
        create_time: new Date(service.now()).toISOString(),
        links: [{ rel: 'up', href: capture, method: 'GET' }],
      },
    });
    await service.settle();
    await service.advance(HOUR_SECONDS);
    expect(await service.get(`/refunds/${made.body.id}`, user.options)).toMatchObject({
      body: { status: 'succeeded' },
    });
    const list = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    const others = list.filter(({ id }: { id: string }) => id !== made.body.id);
    expect(others).toMatchObject([
      { source: 'provider', status: 'canceled', failure_code: 'duplicate_record', provider_refund_id: null },
    ]);
    await expectAgreement(service, payment.id, admin);
    expect(await read(service, payment.id, user.options)).toMatchObject({ refunded_cents: 500 });
    await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, admin.options);
    expect(await read(service, payment.id, user.options)).toMatchObject({ refunded_cents: 500 });
  });
});

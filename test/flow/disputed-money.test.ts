import { describe, expect, test } from 'vitest';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { expectAccount } from './accounts.ts';
import { disputedPayment, moveDisputeLater, readDispute } from './disputers.ts';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { PAYING_METHODS, refund, refundsAtProvider, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });

describe.each(PAYING_METHODS)('the money of a disputed payment at %s', (...paying) => {
  const setUp = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const disputed = await disputedPayment(service, paying, fields);
    const admin = await signInAdmin(service);
    const { user, payment } = disputed;
    const ask = (body: object) => refund(service, payment.id, { ...admin.options, body });
    return { disputed, ask, payment, account: () => expectAccount(service, user, payment.id) };
  };

  test.each([{}, { amount_cents: 1 }, { despite_dispute: true }, { amount_cents: 2_500, despite_dispute: true }])(
    'is not refunded after a lost dispute, here or at the provider: %j',
    async (body) => {
      const { disputed, ask, payment, account } = await setUp();
      await moveDisputeLater(service, disputed, { status: 'lost' });
      expect(await account()).toMatchObject({ lost: 2_500, disputed: 0, refundable: 0 });
      const { id } = await readDispute(service, disputed);
      const refused = await ask(body);
      expect(refused).toMatchObject({ status: 409, body: { code: 'PAYMENT_DISPUTED' } });
      expect(refused.body.details).toEqual({ dispute_id: id, status: 'lost' });
      expect((await service.get(`/payments/${payment.id}/refunds`, disputed.user.options)).body).toEqual([]);
      expect(await refundsAtProvider(service, payment.id)).toEqual([]);
    },
  );

  test('follows the bank: open, lost, won, and lost again', async () => {
    const { disputed, ask, account } = await setUp();
    const refusal = async () => (await ask({ amount_cents: 1 })).body;
    expect(await account()).toMatchObject({ disputed: 2_500, lost: 0, refundable: 0 });
    expect(await refusal()).toMatchObject({ code: 'PAYMENT_DISPUTED', details: { status: 'needs_response' } });
    await moveDisputeLater(service, disputed, { status: 'lost' });
    expect(await refusal()).toMatchObject({ code: 'PAYMENT_DISPUTED', details: { status: 'lost' } });
    await moveDisputeLater(service, disputed, { status: 'won' });
    expect(await account()).toMatchObject({ disputed: 0, lost: 0, refundable: 2_500 });
    expect(await ask({ amount_cents: 100 })).toMatchObject({ status: 201 });
    await moveDisputeLater(service, disputed, { status: 'lost' });
    expect(await account()).toMatchObject({ lost: 2_500, refunded: 100, refundable: 0 });
    expect(await refusal()).toMatchObject({ code: 'PAYMENT_DISPUTED', details: { status: 'lost' } });
  });

  test('is refundable up to the rest after a partial loss', async () => {
    const { disputed, ask, account } = await setUp({ amount: 1_000 });
    expect(await account()).toMatchObject({ disputed: 1_000, refundable: 1_500 });
    await moveDisputeLater(service, disputed, { status: 'lost' });
    expect(await account()).toMatchObject({ lost: 1_000, refundable: 1_500 });
    expect(await ask({ amount_cents: 1_501 })).toMatchObject({
      status: 409,
      body: { code: 'PAYMENT_DISPUTED', details: { status: 'lost' } },
    });
    expect(await ask({ amount_cents: 2_501 })).toMatchObject({
      status: 400,
      body: { code: 'REFUND_EXCEEDS_PAYMENT', details: { refundable_cents: 1_500 } },
    });
  });

  test.each([0, 1, 700])('is refundable up to refundable_cents after a refund of %i cents', async (first) => {
    const { disputed, ask, account } = await setUp();
    await moveDisputeLater(service, disputed, { status: 'won' });
    if (first > 0) expect(await ask({ amount_cents: first })).toMatchObject({ status: 201 });
    await service.advance(MINUTE_SECONDS);
    const { refundable } = await account();
    expect(refundable).toBe(2_500 - first);
    expect(await ask({ amount_cents: refundable + 1 })).toMatchObject({
      status: 400,
      body: { code: 'REFUND_EXCEEDS_PAYMENT', details: { refundable_cents: refundable } },
    });
    expect(await ask({ amount_cents: refundable })).toMatchObject({ status: 201 });
    await service.advance(MINUTE_SECONDS);
    expect(await account()).toMatchObject({ refunded: 2_500, refundable: 0 });
  });
});

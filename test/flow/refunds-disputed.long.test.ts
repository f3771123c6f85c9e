/** @module A payment with an open dispute is refunded only if the request sets despite_dispute. */

import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { type Disputed, disputedPayment, disputesOf, moveDisputeLater, readDispute } from './disputers.ts';
import { eventsOf, PATIENT, read } from './flow.ts';
import { withHost } from './host.ts';
import { payctlOf, spawned } from './payctl.ts';
import { expectAgreement, PAYING_METHODS, type Paying, refund, refundsAtProvider, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });
const payctl = payctlOf(service);

const [STRIPE, PAYPAL, SQUARE] = PAYING_METHODS as [Paying, Paying, Paying];
const DESPITE = { despite_dispute: true };

const setUp = async (paying: Paying, fields: object = {}) => {
  const disputed = await disputedPayment(service, paying, { ...fields });
  return { disputed, admin: await signInAdmin(service), payment: disputed.payment };
};

/** The id and status of the dispute, as in the `details` of the error. */
const nameOf = async (disputed: Disputed) => {
  const { id, status } = await readDispute(service, disputed);
  return { dispute_id: id, status };
};

const refundsOf = async ({ payment, user }: Disputed) =>
  (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;

describe.each(PAYING_METHODS)('a disputed payment at %s', (...paying) => {
  test.each([{}, { amount_cents: 300 }, { despite_dispute: false }, { despite_dispute: null }])(
    'is not refunded without despite_dispute: %j',
    async (body) => {
      const { disputed, admin, payment } = await setUp(paying);
      const refused = await refund(service, payment.id, { ...admin.options, body });
      expect(refused).toMatchObject({ status: 409, body: { code: 'PAYMENT_DISPUTED' } });
      expect(refused.body.details).toEqual(await nameOf(disputed));
      expect(await refundsOf(disputed)).toEqual([]);
      expect(await refundsAtProvider(service, payment.id)).toEqual([]);
      expect(await read(service, payment.id, admin.options)).toMatchObject({
        refundable_cents: 0,
        disputed_cents: 2_500,
      });
    },
  );

  test('cannot be refunded during the evidence review, but can be after the dispute is won', async () => {
    const { disputed, admin, payment } = await setUp(paying);
    await moveDisputeLater(service, disputed, { status: 'under_review' });
    const refused = await refund(service, payment.id, admin.options);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'PAYMENT_DISPUTED', details: { status: 'under_review' } },
    });
    await moveDisputeLater(service, disputed, { status: 'won' });
    expect(await refund(service, payment.id, admin.options)).toMatchObject({ status: 201 });
    await service.advance(10 * MINUTE_SECONDS);
    await expectAgreement(service, payment.id, admin);
  });

  test('is refunded despite an inquiry if the request sets despite_dispute', async () => {
    const { disputed, admin, payment } = await setUp(paying, { inquiry: true });
    expect(await refund(service, payment.id, admin.options)).toMatchObject({
      status: 409,
      body: { details: await nameOf(disputed) },
    });
    expect(await refund(service, payment.id, { ...admin.options, body: DESPITE })).toMatchObject({ status: 201 });
    await service.advance(10 * MINUTE_SECONDS);
    await expectAgreement(service, payment.id, admin);
  });

  test('is not refunded if the dispute arrives during the request', async () => {
    const { payment, admin, disputed } = await setUp(paying, { status: 'won' });
    const [refused] = await Promise.all([
      Promise.all(
        [1, 2, 3, 4, 5].map(() => refund(service, payment.id, { ...admin.options, body: { amount_cents: 1 } })),
      ),
      service.control('POST', `/simulator/disputes/${disputed.id}`, { status: 'needs_response' }),
    ]);
    for (const { status } of refused) expect([201, 409]).toContain(status);
    await service.settle();
    expect(await refund(service, payment.id, { ...admin.options, body: { amount_cents: 1 } })).toMatchObject({
      body: { code: 'PAYMENT_DISPUTED' },
    });
  });

  test('is refunded by payctl only with --despite-dispute', async () => {
    const { disputed, payment } = await setUp(paying, { inquiry: true });
    const { id } = await readDispute(service, disputed);
    const complaint = new RegExp(`^PAYMENT_DISPUTED: [^\n]*${id} is needs_response[^\n]*--despite-dispute\n$`);
    for (const args of [[], ['--dry-run']]) {
      expect(await spawned(service.host().baseUrl, ['refund', payment.id, ...args])).toMatchObject({
        ...{ exitCode: 2, stdout: '', stderr: expect.stringMatching(complaint) },
      });
    }
    expect(await refundsOf(disputed)).toEqual([]);
    expect(await payctl(['refund', payment.id, '--despite-dispute', '--dry-run'])).toMatchObject({ exitCode: 0 });
    expect(await payctl(['refund', payment.id, '--despite-dispute'])).toMatchObject({ exitCode: 0 });
  });

  test('is not refunded by payctl after the dispute is lost', async () => {
    const { disputed, payment } = await setUp(paying, { status: 'lost' });
    const { id } = await readDispute(service, disputed);
    expect(await spawned(service.host().baseUrl, ['refund', payment.id])).toMatchObject({
      ...{ exitCode: 2, stdout: '', stderr: expect.stringMatching(/^PAYMENT_DISPUTED: /) },
    });
    expect((await spawned(service.host().baseUrl, ['refund', payment.id])).stderr).toContain(`${id} is lost`);
  });
});

describe('a chargeback at Stripe', () => {
  test.each(['needs_response', 'under_review'])(
    'blocks a refund when %s, even with despite_dispute',
    async (status) => {
      const { disputed, admin, payment } = await setUp(STRIPE, { status });
      const refused = await refund(service, payment.id, {
        ...admin.options,
        body: DESPITE,
        idempotencyKey: `k-${payment.id}`,
      });
      const [failed] = await refundsOf(disputed);
      expect(refused).toMatchObject({ status: 409, body: { code: 'PAYMENT_DISPUTED' } });
      expect(refused.body.details).toEqual({
        ...(await nameOf(disputed)),
        refund_id: present(failed).id,
        payment_id: payment.id,
      });
      expect(failed).toMatchObject({ status: 'failed', failure_code: 'payment_disputed' });
      const again = await refund(service, payment.id, {
        ...admin.options,
        body: DESPITE,
        idempotencyKey: `k-${payment.id}`,
      });
      expect(again).toMatchObject({ status: 409, body: { code: 'PAYMENT_DISPUTED', details: refused.body.details } });
      expect(await payctl(['refund', payment.id, '--despite-dispute'])).toMatchObject({
        exitCode: 1,
        json: { refund: { status: 'failed', failure_code: 'payment_disputed' } },
      });
      expect(await refundsAtProvider(service, payment.id)).toEqual([]);
      await expectAgreement(service, payment.id, admin);
    },
  );
});

describe('a dispute at Square', () => {
  test.each(['needs_response', 'under_review'])(
    'blocks a refund when %s, even with despite_dispute',
    async (status) => {
      const { disputed, admin, payment } = await setUp(SQUARE, { status });
      const refused = await refund(service, payment.id, { ...admin.options, body: DESPITE });
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'PAYMENT_DISPUTED', details: await nameOf(disputed) },
      });
      expect(await refundsAtProvider(service, payment.id)).toEqual([]);
      await expectAgreement(service, payment.id, admin);
    },
  );
});

describe('a PayPal case', () => {
  test('allows a full refund with despite_dispute, and never a partial refund', async () => {
    const { disputed, admin, payment } = await setUp(PAYPAL);
    const part = await refund(service, payment.id, { ...admin.options, body: { ...DESPITE, amount_cents: 300 } });
    expect(part).toMatchObject({ status: 409, body: { code: 'PAYMENT_DISPUTED', details: await nameOf(disputed) } });
    expect(await refund(service, payment.id, { ...admin.options, body: DESPITE })).toMatchObject({ status: 201 });
    await service.settle();
    expect(await eventsOf(service, payment.id)).toContain('payment.refunded');
    await expectAgreement(service, payment.id, admin);
  });
});

describe.each([STRIPE, SQUARE])('a refund refusal at %s because of a dispute', (...paying) => {
  test('records the new status of a dispute whose event was lost', async () => {
    const { disputed, admin, payment } = await setUp(paying, { status: 'won' });
    await service.webhookMode('drop');
    await moveDisputeLater(service, disputed, { status: 'needs_response' });
    await service.webhookMode('normal');
    const refused = await refund(service, payment.id, admin.options);
    expect(refused).toMatchObject({ status: 409, body: { code: 'PAYMENT_DISPUTED' } });
    expect(refused.body.details).toMatchObject({ ...(await nameOf(disputed)), status: 'needs_response' });
    expect(await disputesOf(service, disputed)).toMatchObject([{ status: 'needs_response' }]);
  });
});

import { describe, expect, test } from 'vitest';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { itemsOf, PATIENT, read, signIn } from './flow.ts';
import { expectAgreement, PAYING_METHODS, paidPayment } from './refunders.ts';
import { withStops } from './stops.ts';

/** An erasure takes nothing from a provider's event that its record still needs. */
const stoppable = withStops(PATIENT);

const REFUND = { amount: 700, status: 'succeeded' };

describe.each(PAYING_METHODS)('a refund at %s whose event is applied after the erasure of its payer', (...paying) => {
  test('is recorded, and its event holds nothing of the person afterwards', async () => {
    const { service, losing } = stoppable();
    const admin = await platformAdmin(service);
    const user = await signIn(service);
    const payment = await paidPayment(service, user, { paying });
    await losing({ call: 'GetItem', executed: false }, async () => {
      await service.control('POST', `/simulator/payments/${payment.id}/refunds`, REFUND);
      await service.settle();
    });
    const { id } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id });
    await service.advance(HOUR_SECONDS);
    expect(await read(service, payment.id, admin.options)).toMatchObject({ refunded_cents: REFUND.amount });
    await expectAgreement(service, payment.id, admin);
    const events = (await itemsOf(service, 'EVT#')).filter(({ rawType }) => /refund/i.test(rawType));
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter(({ isBlanked }) => !isBlanked)).toEqual([]);
  });
});

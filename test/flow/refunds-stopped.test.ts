/** @module The provider's event can arrive between any two calls of the refunding function. */

import { beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { PATIENT, read, signIn } from './flow.ts';
import { expectAgreement, paidPayment, refund, refundsAtProvider, signInAdmin } from './refunders.ts';
import { withStops } from './stops.ts';

const stoppable = withStops(PATIENT);

beforeAll(async () => {
  await stoppable().service.webhookMode('drop');
});

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

const people = async () => {
  const { service } = stoppable();
  return { user: await signIn(service, { expires_in: YEAR_SECONDS }), admin: await signInAdmin(service) };
};

describe('a refund event without our refund id', () => {
  const POST = 'POST /v1/refunds';
  const body = { amount_cents: 900 };

  /** A Stripe event like that of a refund made in the dashboard. */
  const sendForeignEvent = async ({
    id,
    provider_payment_id,
  }: {
    readonly id: string;
    readonly provider_payment_id: string;
  }): Promise<void> => {
    const { service } = stoppable();
    const [held] = await refundsAtProvider(service, id);
    const answer = await service.sendEvent({
      ...{ type: 'refund.updated', vocabulary: 'native' },
      object: {
        ...{ id: present(held).id, object: 'refund', status: 'succeeded', amount: 900, currency: 'usd', metadata: {} },
        ...{ payment_intent: provider_payment_id, created: Math.floor(service.now() / 1_000) },
      },
    });
    expect(answer.status).toBe(200);
    await service.settle();
  };

  test('is counted once, even if it arrives during any call of the refund', async () => {
    const { service, watch, overtaken } = stoppable();
    const { user, admin } = await people();
    const seen = await paidPayment(service, user);
    const calls = await watch(() => refund(service, seen.id, { ...admin.options, body }));
    const answered = calls.indexOf(POST) + 1;
    expect(answered).toBeGreaterThan(0);
    expect(calls.slice(answered).filter((name) => WRITES.has(name)).length).toBeGreaterThan(1);
    const duplicates = new Set<number>();
    for (let call = answered; call <= calls.length; call += 1) {
      const payment = await paidPayment(service, user);
      const made = await overtaken(
        call,
        () => sendForeignEvent(payment),
        () => refund(service, payment.id, { ...admin.options, body }),
      );
      await service.advance(HOUR_SECONDS);
      const list = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
      const others = list.filter(({ id }) => id !== made.body.id);
      if (others.length > 0) duplicates.add(call);
      expect({ call, others }).toEqual({
        call,
        others: others.map(() => expect.objectContaining({ status: 'canceled', failure_code: 'duplicate_record' })),
      });
      const after = await read(service, payment.id, admin.options);
      expect({ call, refunded: after.refunded_cents }).toEqual({ call, refunded: 900 });
      await expectAgreement(service, payment.id, admin);
    }
    // At more than one position, the event arrives after the check for duplicates and before the write.
    expect(duplicates.size).toBeGreaterThan(1);
  });
});

import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { eventsOf, PATIENT, read, signIn, type User } from './flow.ts';
import type { ParsedJson, TestAnswer } from './host.ts';
import { expectAgreement, paidPayment, refund, refundsAtProvider, signInAdmin } from './refunders.ts';
import { withStops } from './stops.ts';
import { everyNth, type Way, waysToLose, waysToStop } from './ways.ts';

/** The function of a refund may stop at any call: the tests stop it at every one. */
const stoppable = withStops(PATIENT);
vi.setConfig({ testTimeout: 240_000 });

beforeAll(async () => {
  await stoppable().service.webhookMode('drop');
});

interface Case {
  readonly way: Way;
  readonly payment: ParsedJson;
}

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

const people = async () => {
  const { service } = stoppable();
  return { user: await signIn(service, { expires_in: YEAR_SECONDS }), admin: await signInAdmin(service) };
};

const keyed = (admin: User, payment: ParsedJson) => ({ ...admin.options, idempotencyKey: `refund-${payment.id}-key` });

/** One payment for every way to end its refund. */
const stopEverywhere = async (
  { user, admin }: { readonly user: User; readonly admin: User },
  ways: (calls: readonly string[]) => readonly Way[],
): Promise<readonly Case[]> => {
  const { service, watch, stopped } = stoppable();
  const seen = await paidPayment(service, user);
  const calls = await watch(() => refund(service, seen.id, { ...keyed(admin, seen), body: { amount_cents: 900 } }));
  expect(calls.filter((name) => name.startsWith('POST'))).toHaveLength(1);
  expect(calls.filter((name) => WRITES.has(name)).length).toBeGreaterThan(1);
  const cases: Case[] = [];
  for (const way of ways(calls)) {
    const payment = await paidPayment(service, user);
    await stopped(way, () => refund(service, payment.id, { ...keyed(admin, payment), body: { amount_cents: 900 } }));
    cases.push({ way, payment });
  }
  return cases;
};

/** Was the refund claimed before the stop? */
const isClaimed = async ({ payment }: Case, user: User): Promise<boolean> =>
  (await stoppable().service.get(`/payments/${payment.id}/refunds`, user.options)).body.length > 0;

const expectOneRefund = async ({ way, payment }: Case, admin: User): Promise<void> => {
  const { service } = stoppable();
  const after = await read(service, payment.id, admin.options);
  expect({ way, refunded: after.refunded_cents }).toEqual({ way, refunded: 900 });
  expect({ way, held: (await refundsAtProvider(service, payment.id)).length }).toEqual({ way, held: 1 });
  const published = (await eventsOf(service, payment.id)).filter((name) => name.startsWith('payment.refund'));
  expect({ way, published }).toEqual({ way, published: ['payment.refunded'] });
  await expectAgreement(service, payment.id, admin);
};

describe('an interrupted refund', () => {
  test('is finished by its due work if it was claimed, and otherwise has no effect', async () => {
    const { service } = stoppable();
    const { user, admin } = await people();
    const cases = await stopEverywhere({ user, admin }, waysToStop);
    const claimed = await Promise.all(cases.map((one) => isClaimed(one, user)));
    expect(new Set(claimed)).toEqual(new Set([true, false]));
    await service.advance(HOUR_SECONDS);
    for (const [index, one] of cases.entries()) {
      if (claimed[index]) await expectOneRefund(one, admin);
      else expect(await refundsAtProvider(service, one.payment.id)).toEqual([]);
    }
  });

  test('is finished by the same key, and is made once', async () => {
    const { service } = stoppable();
    const { user, admin } = await people();
    const cases = await stopEverywhere({ user, admin }, waysToStop);
    for (const { way, payment } of cases) {
      const again: TestAnswer = await refund(service, payment.id, {
        ...keyed(admin, payment),
        body: { amount_cents: 900 },
      });
      expect({ way, status: again.status }).toEqual({ way, status: expect.toBeOneOf([201, 202]) });
    }
    await service.advance(HOUR_SECONDS);
    for (const one of cases) await expectOneRefund(one, admin);
  });

  test('is finished even if its due work also stops at any call', async () => {
    const { service, watch, stopped, losing } = stoppable();
    const { user, admin } = await people();
    const begin = async (): Promise<ParsedJson> => {
      const payment = await paidPayment(service, user);
      const call = 'POST /v1/refunds';
      await stopped({ call, executed: false }, () =>
        refund(service, payment.id, { ...admin.options, body: { amount_cents: 900 } }),
      );
      return payment;
    };
    await begin();
    const calls = await watch(() => service.advance(2 * MINUTE_SECONDS));
    expect(calls.some((name) => name.startsWith('POST'))).toBe(true);
    await service.advance(DAY_SECONDS);
    const cases: Case[] = [];
    for (const way of everyNth(2, waysToLose(calls))) {
      const payment = await begin();
      await losing(way, () => service.advance(2 * MINUTE_SECONDS));
      cases.push({ way, payment });
      await service.advance(HOUR_SECONDS);
    }
    await service.advance(DAY_SECONDS);
    for (const one of cases) await expectOneRefund(one, admin);
  });
});

describe('a refund event without our refund id', () => {
  const POST = 'POST /v1/refunds';
  const body = { amount_cents: 900 };

  /** Stripe's own event, as of a refund that was made in the dashboard. */
  const sendForeignEvent = async ({ id, provider_payment_id }: ParsedJson): Promise<void> => {
    const { service } = stoppable();
    const [held] = await refundsAtProvider(service, id);
    const answer = await service.sendEvent({
      ...{ type: 'refund.updated', vocabulary: 'native' },
      object: {
        ...{ id: held.id, object: 'refund', status: 'succeeded', amount: 900, currency: 'usd', metadata: {} },
        ...{ payment_intent: provider_payment_id, created: Math.floor(service.now() / 1_000) },
      },
    });
    expect(answer.status).toBe(200);
    await service.settle();
  };

  test('counts the amount once, at whichever call of the refund it arrives', async () => {
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
      const others = list.filter(({ id }: ParsedJson) => id !== made.body.id);
      if (others.length > 0) duplicates.add(call);
      expect({ call, others }).toEqual({
        call,
        others: others.map(() => expect.objectContaining({ status: 'canceled', failure_code: 'duplicate_record' })),
      });
      const after = await read(service, payment.id, admin.options);
      expect({ call, refunded: after.refunded_cents }).toEqual({ call, refunded: 900 });
      await expectAgreement(service, payment.id, admin);
    }
    // The event came before the call's answer was read, and between the look for a duplicate and the write of the answer.
    expect(duplicates.size).toBeGreaterThan(1);
  });
});

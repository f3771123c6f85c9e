import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { disputedPayment } from './disputers.ts';
import { confirmInBrowser, createIntent, itemsOf, read, timesCharged, type User } from './flow.ts';
import { capture, HOLDING, heldPayment } from './holders.ts';
import { payctlOf } from './payctl.ts';
import { createCustomer } from './payers.ts';
import { PAYING_METHODS, refund, signInAdmin } from './refunders.ts';
import { payAt, type RestoreDrill, signInForYear, startRestorable } from './restorers.ts';
import type { ParsedJson, ReceivedEvent } from './routes.ts';

const NO_DUE_WORK = { DUE_WORK: 'off' } as const;

describe('payctl drift --fix after a restore', () => {
  let drill: RestoreDrill;
  let admin: User;
  let user: User;
  let restoredTo: string;
  const before: ParsedJson[] = [];
  const after: ParsedJson[] = [];
  /** The ids of the payments' refunds. */
  const refunds: string[] = [];
  /** The ids of the events published before the restore. */
  const published: string[] = [];

  beforeAll(async () => {
    drill = await startRestorable();
    admin = await signInAdmin(drill.service());
    user = await signInForYear(drill.service());
    for (const [slot] of PAYING_METHODS) await createCustomer(drill.service(), user.options, { provider_id: slot });
    for (const paying of PAYING_METHODS) before.push(await payAt(drill.service(), user, { paying }));
    await drill.copy();
    restoredTo = new Date(drill.service().now()).toISOString();
    await drill.service().advance(3_600);
    for (const paying of PAYING_METHODS) {
      const payment = await payAt(drill.service(), user, { paying, total_cents: 4_321 });
      const given = await refund(drill.service(), payment.id, { ...admin.options, body: { amount_cents: 1_234 } });
      expect(given.status).toBe(201);
      refunds.push(given.body.id);
      after.push(payment);
    }
    const [first] = before;
    await refund(drill.service(), first.id, { ...admin.options, body: { amount_cents: 500 } });
    await drill.service().advance(3_600);
    const events: readonly ReceivedEvent[] = await drill.service().busEvents();
    published.push(...events.filter(({ source }) => source === 'payments').map(({ detail }) => detail.id));
    await drill.restore(NO_DUE_WORK);
  });
  afterAll(() => drill.end());

  test('without --fix only reports the payments made after the restored time as lost', async () => {
    for (const { id } of after) {
      expect(await drill.service().get(`/payments/${id}`, admin.options)).toMatchObject({ status: 404 });
    }
    const { exitCode, json } = await payctlOf(drill.service())(['drift', '--restored-to', restoredTo]);
    expect({ exitCode, restore: json.restore }).toMatchObject({
      exitCode: 1,
      restore: { before: 3, lost: 3, found_again: 0 },
    });
  });

  test('restores every payment exactly, with its refunds, and charges nothing', async () => {
    const payctl = payctlOf(drill.service());
    const { exitCode, json } = await payctl(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, json }).toMatchObject({
      exitCode: 0,
      json: { restore: { before: 3, lost: 3, found_again: 3 } },
    });
    for (const lost of after) {
      const found = await read(drill.service(), lost.id, admin.options);
      expect(found).toMatchObject({ total_cents: 4_321, currency: 'USD', status: 'succeeded', refunded_cents: 1_234 });
      expect(found.provider_payment_id).toBe(lost.provider_payment_id);
      expect(await timesCharged(drill.service(), lost.id)).toBe(1);
    }
    const stored = (await itemsOf(drill.service(), 'RFD#')).map(({ pk }) => pk);
    expect(stored).toEqual(expect.arrayContaining(refunds.map((id) => `RFD#${id}`)));
    const [first] = before;
    expect(await read(drill.service(), first.id, user.options)).toMatchObject({ refunded_cents: 500 });
  });

  test('shows restored payments to their owner if the provider knows the customer, else only to staff', async () => {
    const seen = await Promise.all(
      after.map(async ({ id }) => (await drill.service().get(`/payments/${id}`, user.options)).status),
    );
    // A PayPal order names no customer.
    expect(seen).toEqual([200, 404, 200]);
    const { body } = await drill.service().get('/payments?limit=50', user.options);
    expect(body.data.map(({ id }) => id)).toEqual(expect.arrayContaining([after[0].id, after[2].id]));
  });

  test('marks restored payments in their timeline, with an anomaly if only staff see them', async () => {
    await drill.service().settle();
    const [first, ofPayPal] = await Promise.all(
      after.map(({ id }) => drill.service().get(`/payments/${id}/timeline`, admin.options)),
    );
    const restored = { kind: 'change', cause: 'restore', status: 'succeeded', actor: { type: 'system', id: 'payctl' } };
    expect(first?.body.data).toContainEqual(expect.objectContaining(restored));
    const anomaly = 'restored without its owner';
    expect(ofPayPal?.body.data).toContainEqual(expect.objectContaining({ ...restored, anomaly }));
  });

  test('repeats no payment webhook, except for refunds, which get new event ids', async () => {
    for (const { id } of after) {
      const all: readonly ParsedJson[] = await drill.service().busEvents();
      const events = all.filter(({ source, detail }) => source === 'payments' && detail.payload.data.payment_id === id);
      expect(events.map((event) => event['detail-type'])).toEqual(['payment.refunded']);
      const known = published.filter((event) => event.startsWith(id));
      expect(known).toContainEqual(expect.stringContaining('payment.succeeded'));
      expect(known).not.toContain(events[0]?.detail.id);
    }
  });

  test('changes nothing when it runs again', async () => {
    await drill.service().settle();
    const items = await itemsOf(drill.service(), 'PAY#');
    const { exitCode, json } = await payctlOf(drill.service())(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, json }).toMatchObject({ exitCode: 0, json: { drifted: 0, restore: { lost: 0 } } });
    await drill.service().settle();
    expect(await itemsOf(drill.service(), 'PAY#')).toEqual(items);
  });
});

describe('a restored payment in another state', () => {
  let drill: RestoreDrill;
  let admin: User;
  let user: User;
  let restoredTo: string;
  beforeAll(async () => {
    drill = await startRestorable();
    admin = await signInAdmin(drill.service());
    user = await signInForYear(drill.service());
    await payAt(drill.service(), user, { paying: PAYING_METHODS[0] });
    await drill.copy();
    restoredTo = new Date(drill.service().now()).toISOString();
  });
  afterAll(() => drill.end());

  test('comes back held, disputed, declined or unpaid, and can continue', async () => {
    const service = drill.service();
    const held = await Promise.all(HOLDING.map((holding) => heldPayment(service, user, { holding })));
    const { payment: disputed } = await disputedPayment(service, ['provider_a', 'pm_card_createDispute']);
    const declined = await payAt(service, user, { paying: ['provider_a', 'pm_card_visa_chargeDeclined'] });
    const unpaid = await createIntent(service, user, { provider_id: 'provider_a' });
    await service.settle();
    await drill.restore(NO_DUE_WORK);
    const { exitCode, json } = await payctlOf(drill.service())(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, restore: json.restore }).toMatchObject({ exitCode: 0, restore: { lost: 6, found_again: 6 } });
    await drill.restart();
    const found = (id: string) => read(drill.service(), id, admin.options);
    for (const { id } of held) {
      expect(await found(id)).toMatchObject({ status: 'requires_capture', capturable_cents: 1_000 });
      expect(await capture(drill.service(), id, admin.options)).toMatchObject({ body: { status: 'succeeded' } });
    }
    expect(await found(disputed.id)).toMatchObject({ status: 'succeeded', disputed: true });
    expect(await found(declined.id)).toMatchObject({ status: 'failed', failure_code: 'do_not_honor' });
    expect(await found(unpaid.id)).toMatchObject({ status: 'requires_payment_method' });
    await confirmInBrowser(drill.service(), unpaid, 'pm_card_visa');
    await drill.service().settle();
    expect(await found(unpaid.id)).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged(drill.service(), unpaid.id)).toBe(1);
  });

  test('is not searched at a provider that cannot be listed, and drift reports that provider', async () => {
    const fault = { provider: 'provider_c', method: 'GET', path: '/square/v2/payments', times: 1, action: 'error_500' };
    await drill.service().fault(fault);
    const { exitCode, json } = await payctlOf(drill.service())(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, unlisted: json.restore.unlisted }).toEqual({
      exitCode: 1,
      unlisted: [{ provider: 'provider_c', unread: 'error' }],
    });
  });

  test('is not searched at a provider that no longer lists the restored time, and drift reports that provider', async () => {
    await drill.service().advance(40 * DAY_SECONDS);
    const { exitCode, json } = await payctlOf(drill.service())(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, unlisted: json.restore.unlisted }).toEqual({
      exitCode: 1,
      unlisted: [{ provider: 'provider_b', unread: expect.stringMatching(/^before \d{4}-/) }],
    });
  });
});

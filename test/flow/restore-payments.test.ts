import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemsOf, read, timesCharged, type User } from './flow.ts';
import type { ParsedJson } from './host.ts';
import { payctlOf } from './payctl.ts';
import { PAYING_METHODS, refund, signInAdmin } from './refunders.ts';
import { payAt, type Restorable, signInForYear, startRestorable } from './restorers.ts';
import { createCustomer } from './payers.ts';

const NO_DUE_WORK = { DUE_WORK: 'off' } as const;

describe('payctl drift --fix after a restore', () => {
  let drill: Restorable;
  let admin: User;
  let user: User;
  let restoredTo: string;
  const before: ParsedJson[] = [];
  const after: ParsedJson[] = [];

  beforeAll(async () => {
    drill = await startRestorable();
    admin = await signInAdmin(drill.service());
    user = await signInForYear(drill.service());
    for (const [slot] of PAYING_METHODS) await createCustomer(drill.service(), user.options, { provider_id: slot });
    for (const paying of PAYING_METHODS) before.push(await payAt(drill.service(), user, paying));
    await drill.copy();
    restoredTo = new Date(drill.service().now()).toISOString();
    await drill.service().advance(3_600);
    for (const paying of PAYING_METHODS) {
      const payment = await payAt(drill.service(), user, paying, { total_cents: 4_321 });
      const given = await refund(drill.service(), payment.id, { ...admin.options, body: { amount_cents: 1_234 } });
      expect(given.status).toBe(201);
      after.push(payment);
    }
    const [first] = before;
    await refund(drill.service(), first.id, { ...admin.options, body: { amount_cents: 500 } });
    await drill.service().advance(3_600);
    await drill.restore(NO_DUE_WORK);
  });
  afterAll(() => drill.end());

  test('finds nothing of the payments made after the restored time before it runs', async () => {
    for (const { id } of after) {
      expect(await drill.service().get(`/payments/${id}`, admin.options)).toMatchObject({ status: 404 });
    }
    const { exitCode, json } = await payctlOf(drill.service())(['drift', '--restored-to', restoredTo]);
    expect({ exitCode, restore: json.restore }).toMatchObject({
      exitCode: 1,
      restore: { before: 3, lost: 3, found_again: 0 },
    });
  });

  test('brings back every payment to the cent, with its refunds, and charges nothing', async () => {
    const payctl = payctlOf(drill.service());
    const { exitCode, json } = await payctl(['drift', '--fix', '--restored-to', restoredTo]);
    expect({ exitCode, json }).toMatchObject({ exitCode: 0, json: { restore: { before: 3, lost: 3, found_again: 3 } } });
    for (const lost of after) {
      const found = await read(drill.service(), lost.id, admin.options);
      expect(found).toMatchObject({ total_cents: 4_321, currency: 'USD', status: 'succeeded', refunded_cents: 1_234 });
      expect(found.provider_payment_id).toBe(lost.provider_payment_id);
      expect(await timesCharged(drill.service(), lost.id)).toBe(1);
    }
    const [first] = before;
    expect(await read(drill.service(), first.id, user.options)).toMatchObject({ refunded_cents: 500 });
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

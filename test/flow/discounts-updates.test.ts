import { describe, expect, test } from 'vitest';
import { codeCounts, heldOf, putCode } from './discounts.ts';
import { createIntent, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true });

const update = (id: string, body: unknown, user: User) => service.put(`/payments/intents/${id}`, body, user.options);
const withCode = async (user: User, code: string) =>
  createIntent(service, user, {
    ...{ subtotal_cents: 2_000, discount_cents: 200, total_cents: undefined, discount_code: code },
  });

describe('an update of a payment', () => {
  test('adds a code, recomputes the discount for another price, and removes the code', async () => {
    await putCode(service, 'PUT-25', { max_redemptions: 1 });
    const user = await signIn(service);
    const { id } = await createIntent(service, user, { subtotal_cents: 2_000, total_cents: undefined });
    expect(await update(id, { discount_code: 'put-25' }, user)).toMatchObject({
      status: 200,
      body: { total_cents: 1_500, discount_cents: 500, discount: { code: 'PUT-25', cents: 500 } },
    });
    expect(await codeCounts(service, 'PUT-25')).toEqual({ reserved: 1, redeemed: 0 });
    expect(await update(id, { subtotal_cents: 4_000 }, user)).toMatchObject({
      body: { total_cents: 3_000, discount: { cents: 1_000 } },
    });
    expect(await codeCounts(service, 'PUT-25')).toEqual({ reserved: 1, redeemed: 0 });
    expect(await update(id, { discount_code: null }, user)).toMatchObject({
      body: { total_cents: 4_000, discount_cents: 0, discount: null },
    });
    expect(await codeCounts(service, 'PUT-25')).toEqual({ reserved: 0, redeemed: 0 });
    expect(await heldOf(service, 'PUT-25')).toEqual({ reserved: 0, redeemed: 0 });
  });

  test('changes nothing if the record is sent back unchanged', async () => {
    await putCode(service, 'BACK');
    const user = await signIn(service);
    const made = await withCode(user, 'BACK');
    const shown = await read(service, made.id, user.options);
    const answer = await update(made.id, shown, user);
    expect(answer).toMatchObject({ status: 200, body: { total_cents: 1_350, discount: { code: 'BACK', cents: 450 } } });
  });

  test('sets the payment’s own discount by own_discount_cents only', async () => {
    await putCode(service, 'OWN', { percent_bp: 5_000 });
    const user = await signIn(service);
    const { id, total_cents } = await withCode(user, 'OWN');
    expect(total_cents).toBe(900);
    expect(await update(id, { discount_cents: 300 }, user)).toMatchObject({
      status: 400,
      body: { code: 'PRICING_MISMATCH', details: { path: 'own_discount_cents' } },
    });
    expect(await update(id, { discount_cents: 1_100 }, user)).toMatchObject({
      status: 200,
      body: { total_cents: 900 },
    });
    expect(await update(id, { own_discount_cents: 400 }, user)).toMatchObject({
      status: 200,
      body: { own_discount_cents: 400, discount_cents: 1_200, total_cents: 800 },
    });
    const alone = await update(id, { total_cents: 700 }, user);
    expect(alone).toMatchObject({ status: 400, body: { details: [{ path: 'subtotal_cents' }] } });
  });

  test('replaces a code by another, and releases the first code', async () => {
    await putCode(service, 'FIRST', { max_redemptions: 1 });
    await putCode(service, 'SECOND', { max_redemptions: 1, percent_bp: 5_000 });
    const user = await signIn(service);
    const { id } = await withCode(user, 'FIRST');
    expect(await update(id, { discount_code: 'SECOND' }, user)).toMatchObject({ body: { total_cents: 900 } });
    expect(await codeCounts(service, 'FIRST')).toEqual({ reserved: 0, redeemed: 0 });
    expect(await codeCounts(service, 'SECOND')).toEqual({ reserved: 1, redeemed: 0 });
    const refused = await update(id, { discount_code: 'NONE-SUCH' }, user);
    expect(refused).toMatchObject({ status: 400, body: { code: 'DISCOUNT_INVALID', details: { reason: 'unknown' } } });
    expect(await codeCounts(service, 'SECOND')).toEqual({ reserved: 1, redeemed: 0 });
  });

  test('keeps the terms of a code that is changed and made inactive later', async () => {
    await putCode(service, 'KEPT');
    const user = await signIn(service);
    const { id } = await withCode(user, 'KEPT');
    await putCode(service, 'KEPT', { percent_bp: 9_000, is_active: false });
    expect(await update(id, { subtotal_cents: 1_000 }, user)).toMatchObject({
      status: 200,
      body: { discount: { cents: 200 }, total_cents: 600 },
    });
  });
});

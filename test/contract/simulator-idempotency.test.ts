import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR } from '../../shared/core/time.ts';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const AMOUNT = { amount: 500, currency: 'usd' };

/** A call with its key, as bytes go over the wire. */
const post = async (path: string, key: string, fields: Record<string, string>) => {
  const response = await rig.raw(path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_test_local_provider_a', 'idempotency-key': key },
    body: new URLSearchParams(fields),
  });
  return {
    status: response.status,
    replayed: response.headers.get('idempotent-replayed'),
    request: response.headers.get('request-id'),
    original: response.headers.get('original-request'),
    body: await response.text(),
  };
};
const create = (key: string, fields: Record<string, string> = { amount: '500', currency: 'usd' }) =>
  post('/v1/payment_intents', key, fields);
const code = ({ body }: { body: string }) => (JSON.parse(body) as { error: { type: string; code?: string } }).error;
const intents = async () => (await rig.stripe.paymentIntents.list()).data;

describe('a repeated idempotency key', () => {
  it('returns the stored response, marked as replayed, for any order of the fields', async () => {
    const first = await create('k1');
    const again = await create('k1', { currency: 'usd', amount: '500' });
    expect(first.replayed).toBeNull();
    expect(again).toMatchObject({ status: 200, body: first.body, replayed: 'true', original: first.request });
    expect(again.request).not.toBe(first.request);
    expect(await intents()).toHaveLength(1);
  });

  it('returns the stored decline, and leaves one failed charge', async () => {
    const { id } = await rig.stripe.paymentIntents.create(AMOUNT);
    const confirm = () => post(`/v1/payment_intents/${id}/confirm`, 'k1', { payment_method: 'pm_card_chargeDeclined' });
    const first = await confirm();
    await rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' }, { idempotencyKey: 'k2' });
    const again = await confirm();
    expect([first.status, again.status, again.replayed, again.body]).toEqual([402, 402, 'true', first.body]);
    expect((await rig.stripe.charges.list({ payment_intent: id })).data.map(({ status }) => status)).toEqual([
      'succeeded',
      'failed',
    ]);
  });

  it('is refused with other parameters or on another path', async () => {
    await create('k1');
    const other = await create('k1', { amount: '501', currency: 'usd' });
    expect([other.status, code(other).type]).toEqual([400, 'idempotency_error']);
    const elsewhere = await post('/v1/customers', 'k1', {});
    expect([elsewhere.status, code(elsewhere).type]).toEqual([400, 'idempotency_error']);
    expect(await intents()).toHaveLength(1);
    const error = await errorOf(rig.stripe.paymentIntents.create({ ...AMOUNT, amount: 7 }, { idempotencyKey: 'k1' }));
    expect(error.type).toBe('StripeIdempotencyError');
  });

  it('conflicts while its first request is in flight, and one of the two requests succeeds', async () => {
    const answers = await Promise.all([create('k1'), create('k1')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const conflict = answers.find(({ status }) => status === 409);
    expect(conflict && code(conflict)).toMatchObject({ type: 'idempotency_error', code: 'idempotency_key_in_use' });
    expect(await create('k1')).toMatchObject({ status: 200, replayed: 'true' });
    expect(await intents()).toHaveLength(1);
  });

  it('is free after a validation error of the first request', async () => {
    expect((await create('k1', { amount: '0', currency: 'usd' })).status).toBe(400);
    expect((await create('k1', { currency: 'usd' })).status).toBe(400);
    expect(await create('k1')).toMatchObject({ status: 200, replayed: null });
  });

  it('is used up by a request that was refused for the object’s status', async () => {
    const { id } = await rig.stripe.paymentIntents.create(AMOUNT);
    const confirm = () => post(`/v1/payment_intents/${id}/confirm`, 'k1', {});
    expect((await confirm()).status).toBe(400);
    await rig.stripe.paymentIntents.update(id, { payment_method: 'pm_card_visa' });
    expect(await confirm()).toMatchObject({ status: 400, replayed: 'true' });
  });

  it('is free after a rate limit or a server error that stopped the first request', async () => {
    for (const action of ['rate_limit', 'error_500'] as const) {
      await rig.control('POST', '/faults', { action, times: 1 });
      expect((await create(action)).status).toBe(action === 'rate_limit' ? 429 : 500);
      expect(await create(action)).toMatchObject({ status: 200, replayed: null });
    }
  });

  it('returns the stored response for 24 hours', async () => {
    await create('k1');
    await rig.clock.advance(24 * HOUR - 1);
    expect((await create('k1')).replayed).toBe('true');
    await rig.clock.advance(1);
    expect((await create('k1')).replayed).toBeNull();
    expect(await intents()).toHaveLength(2);
  });

  it('has no effect on a read', async () => {
    const { id } = await rig.stripe.paymentIntents.create(AMOUNT, { idempotencyKey: 'k1' });
    expect((await rig.stripe.paymentIntents.retrieve(id, {}, { idempotencyKey: 'k1' })).id).toBe(id);
  });
});

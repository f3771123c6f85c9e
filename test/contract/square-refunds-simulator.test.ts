import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '../../shared/core/time.ts';
import { targetOf } from '../builders/target-of.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { SQUARE } from './provider-subjects.ts';

/** Refunds and disputes of Square in the simulator beyond the adapter's calls. */
let rig: ProviderRig;
beforeEach(async () => {
  rig = await openRig(SQUARE);
});
afterEach(() => rig.close());

type Json = ReturnType<typeof JSON.parse>;

const call = async (target: string, body?: object) => {
  const { method, path } = targetOf(target);
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { authorization: 'Bearer local_token', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const notOffered = response.headers.get('x-simulator') === 'not-offered';
  return { status: response.status, body: (await response.json()) as Json, notOffered };
};

const money = (amount: unknown, currency = 'USD') => ({ amount, currency });
let payments = 0;
const pay = async (more: object = {}): Promise<string> => {
  payments += 1;
  const { body } = await call('POST /v2/payments', {
    idempotency_key: `p${payments}`,
    source_id: 'cnon:card-nonce-ok',
    amount_money: money(500),
    ...more,
  });
  return body.payment.id;
};
const refund = (key: string, paymentId: string, more: object = {}) =>
  call('POST /v2/refunds', { idempotency_key: key, payment_id: paymentId, amount_money: money(500), ...more });
const codes = ({ body }: { body: Json }): string[] => body.errors.map(({ code }: Json) => code);
const refunds = async (): Promise<number> =>
  (await rig.control<{ refunds: unknown[] }>('GET', '/ledger')).refunds.length;

describe('a refund at the simulated Square', () => {
  it.each<[string, object, string, string | undefined]>([
    ['lacks its key', { idempotency_key: undefined }, 'MISSING_REQUIRED_PARAMETER', 'idempotency_key'],
    ['has an empty key', { idempotency_key: '' }, 'VALUE_TOO_SHORT', 'idempotency_key'],
    ['has a key of 46 characters', { idempotency_key: 'x'.repeat(46) }, 'VALUE_TOO_LONG', 'idempotency_key'],
    ['lacks its amount', { amount_money: undefined }, 'MISSING_REQUIRED_PARAMETER', 'amount_money'],
    ['is of nothing', { amount_money: money(0) }, 'VALUE_TOO_SHORT', 'amount_money.amount'],
    ['is of less than nothing', { amount_money: money(-5) }, 'VALUE_TOO_SHORT', 'amount_money.amount'],
    ['is of an amount in text', { amount_money: money('5') }, 'INCORRECT_TYPE', 'amount_money.amount'],
    ['is in another currency', { amount_money: money(5, 'EUR') }, 'INVALID_VALUE', 'amount_money.currency'],
    ['lacks its payment', { payment_id: undefined }, 'MISSING_REQUIRED_PARAMETER', 'payment_id'],
    ['names a payment that is not there', { payment_id: 'absent' }, 'NOT_FOUND', 'payment_id'],
    ['has a reason of 193 characters', { reason: 'x'.repeat(193) }, 'VALUE_TOO_LONG', 'reason'],
    ['is of more than was paid', { amount_money: money(501) }, 'REFUND_AMOUNT_INVALID', 'amount_money.amount'],
    ['has a field that Square does not have', { metadata: {} }, 'UNKNOWN_BODY_PARAMETER', undefined],
  ])('is refused with Square’s error if it %s', async (...[_, fields, code, field]) => {
    const refused = await refund('k1', await pay(), fields);
    expect(refused.status).toBe(code === 'NOT_FOUND' ? 404 : 400);
    expect(refused.body).toEqual({
      errors: [{ category: expect.any(String), code, detail: expect.any(String), ...(field && { field }) }],
    });
    expect(refused.notOffered).toBe(code === 'UNKNOWN_BODY_PARAMETER');
    expect(await refunds()).toBe(0);
  });

  it('accepts a reason of 192 characters', async () => {
    const reason = 'x'.repeat(192);
    expect(await refund('k1', await pay(), { reason })).toMatchObject({ status: 200, body: { refund: { reason } } });
  });

  it('is refused with its own code for each status before completion', async () => {
    const approved = await pay({ autocomplete: false });
    expect(codes(await refund('k1', approved))).toEqual(['REFUND_ERROR_PAYMENT_NEEDS_COMPLETION']);
    const pending = await pay({ source_id: 'bnon:bank-nonce-ok' });
    expect(codes(await refund('k2', pending))).toEqual(['PAYMENT_NOT_REFUNDABLE']);
    await call(`POST /v2/payments/${approved}/cancel`);
    expect(codes(await refund('k3', approved))).toEqual(['PAYMENT_NOT_REFUNDABLE']);
    expect((await call(`GET /v2/payments/${approved}`)).body.payment).not.toHaveProperty('refunded_money');
    await rig.clock.advance(MINUTE);
    expect(await refund('k4', pending)).toMatchObject({
      status: 200,
      body: { refund: { status: 'PENDING', destination_type: 'BANK_ACCOUNT' } },
    });
  });

  it('is refused for a disputed payment until the seller has won the dispute', async () => {
    const paymentId = await pay({ source_id: 'cnon:sim-dispute' });
    expect(codes(await refund('k1', paymentId))).toEqual(['PAYMENT_NOT_REFUNDABLE_DUE_TO_DISPUTE']);
    const { body } = await call('GET /v2/disputes');
    await rig.control('POST', `/disputes/${body.disputes[0].id}`, { status: 'won' });
    expect(await refund('k1', paymentId)).toMatchObject({ status: 200 });
  });

  it('is the first refund again under a used key, which refuses any other refund', async () => {
    const paymentId = await pay();
    const first = await refund('k1', paymentId, { amount_money: money(200) });
    await rig.clock.advance(MINUTE);
    expect(await refund('k1', paymentId, { amount_money: money(200) })).toMatchObject({
      status: 200,
      body: first.body,
    });
    const other = await refund('k1', paymentId, { amount_money: money(201) });
    expect([other.status, codes(other)]).toEqual([400, ['IDEMPOTENCY_KEY_REUSED']]);
    expect(await refunds()).toBe(1);
  });

  it('does not use up its key if it is refused', async () => {
    const paymentId = await pay();
    expect(codes(await refund('k1', paymentId, { amount_money: money(501) }))).toEqual(['REFUND_AMOUNT_INVALID']);
    expect(await refund('k1', paymentId)).toMatchObject({ status: 200 });
  });

  it('is listed in its payment, which stays completed, and removed from it after a failure', async () => {
    const paymentId = await pay();
    expect((await call(`GET /v2/payments/${paymentId}`)).body.payment).not.toHaveProperty('refund_ids');
    const first = (await refund('k1', paymentId, { amount_money: money(200) })).body.refund;
    const second = (await refund('k2', paymentId, { amount_money: money(300) })).body.refund;
    const shown = async () => (await call(`GET /v2/payments/${paymentId}`)).body.payment;
    const refund_ids = [first.id, second.id];
    expect(await shown()).toMatchObject({ status: 'COMPLETED', refund_ids, refunded_money: money(500) });
    await rig.control('POST', `/refunds/${second.id}`, { status: 'failed' });
    expect(await shown()).toMatchObject({ status: 'COMPLETED', refund_ids, refunded_money: money(200) });
    expect((await call(`GET /v2/refunds/${second.id}`)).body.refund).toMatchObject({ status: 'FAILED' });
  });

  it('is not found if its id is unknown', async () => {
    expect(await call('GET /v2/refunds/absent')).toMatchObject({
      status: 404,
      body: { errors: [{ code: 'NOT_FOUND' }] },
    });
  });
});

describe('the list of refunds at the simulated Square', () => {
  const walk = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { status, body }: { status: number; body: Json } = await call(
        `GET /v2/refunds?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      found.push(...body.refunds.map(({ id }: Json) => id));
      cursor = body.cursor;
    }
    return found;
  };
  const make = async (count: number): Promise<string[]> => {
    const paymentId = await pay({ location_id: 'L' });
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      ids.push((await refund(`r${n}`, paymentId, { amount_money: money(100) })).body.refund.id);
      await rig.clock.advance(1_000);
    }
    return ids;
  };

  it('is paged, newest first by default', async () => {
    const ids = await make(3);
    expect(await walk('limit=2')).toEqual(ids.toReversed());
    expect(await walk('limit=2&sort_order=ASC')).toEqual(ids);
    expect(await walk('limit=1000')).toHaveLength(3);
  });

  it('is filtered by time, location, status and source', async () => {
    const ids = await make(3);
    const [first = '', second = '', third = ''] = ids;
    const at = (secondsAgo: number) => new Date(rig.clock.now() - secondsAgo * 1_000).toISOString();
    expect(await walk(`begin_time=${at(2)}&end_time=${at(2)}`)).toEqual([second]);
    expect(await walk('location_id=L')).toHaveLength(3);
    expect(await walk('location_id=elsewhere')).toEqual([]);
    expect(await walk('source_type=CARD')).toHaveLength(3);
    expect(await walk('source_type=BANK_ACCOUNT')).toEqual([]);
    await rig.control('POST', `/refunds/${first}`, { status: 'failed' });
    expect(await walk('status=FAILED')).toEqual([first]);
    expect(await walk('status=PENDING')).toEqual([third, second]);
    expect(await walk('sort_field=UPDATED_AT')).toEqual([first, third, second]);
    expect(await walk(`updated_at_begin_time=${at(0)}`)).toEqual([first]);
  });

  it.each([
    ['limit=0', 'VALUE_TOO_LOW'],
    ['limit=ten', 'INVALID_VALUE'],
    ['cursor=x', 'INVALID_CURSOR'],
    ['begin_time=yesterday', 'INVALID_VALUE'],
    ['sort_order=UP', 'INVALID_VALUE'],
    ['status=DONE', 'INVALID_VALUE'],
    ['payment_id=x', 'UNKNOWN_QUERY_PARAMETER'],
  ])('is refused for %s: %s', async (query, code) => {
    const refused = await call(`GET /v2/refunds?${query}`);
    expect([refused.status, codes(refused)]).toEqual([400, [code]]);
  });
});

describe('the list of disputes at the simulated Square', () => {
  it('is paged, newest first, and filtered by state and location', async () => {
    const paymentId = await pay({ location_id: 'L', reference_id: 'pay_1' });
    const ids: string[] = [];
    for (let n = 0; n < 21; n += 1) {
      ids.push((await rig.control<{ id: string }>('POST', '/payments/pay_1/disputes', { inquiry: n === 0 })).id);
    }
    const first = (await call('GET /v2/disputes')).body;
    const rest = (await call(`GET /v2/disputes?cursor=${first.cursor}`)).body;
    const listed = [...first.disputes, ...rest.disputes];
    expect(first.disputes).toHaveLength(20);
    expect(rest).not.toHaveProperty('cursor');
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(new Set(listed.map(({ disputed_payment: { payment_id } }) => payment_id))).toEqual(new Set([paymentId]));
    const some = async (query: string) => (await call(`GET /v2/disputes?${query}`)).body.disputes;
    expect(await some('states=INQUIRY_EVIDENCE_REQUIRED')).toMatchObject([{ id: ids[0] }]);
    expect(await some('states=INQUIRY_EVIDENCE_REQUIRED,WON')).toHaveLength(1);
    expect(await some('location_id=elsewhere')).toEqual([]);
    expect(await some('location_id=L')).toHaveLength(20);
  });

  it.each([
    ['/v2/disputes?states=OPEN', 400, 'INVALID_VALUE'],
    ['/v2/disputes?limit=5', 400, 'UNKNOWN_QUERY_PARAMETER'],
    ['/v2/disputes?cursor=x', 400, 'INVALID_CURSOR'],
    ['/v2/disputes/absent', 404, 'NOT_FOUND'],
  ])('refuses %s with %i %s', async (path, status, code) => {
    const refused = await call(`GET ${path}`);
    expect([refused.status, codes(refused)]).toEqual([status, [code]]);
  });

  it('shows a dispute as its event does, except for the event’s location', async () => {
    await pay({ source_id: 'cnon:sim-dispute', location_id: 'L' });
    const [dispute] = (await call('GET /v2/disputes')).body.disputes;
    const sent = (await rig.delivered()).map(({ body }) => JSON.parse(body));
    expect(sent.filter(({ type }) => type === 'dispute.created')).toMatchObject([
      { location_id: 'L', data: { type: 'dispute', id: dispute.id, object: { dispute } } },
    ]);
  });
});

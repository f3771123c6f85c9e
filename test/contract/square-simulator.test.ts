/** @module Tests behavior of the simulated Square that our adapter does not use. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../shared/core/time.ts';
import { targetOf } from '../builders/target-of.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { SQUARE } from './provider-subjects.ts';

let rig: ProviderRig;
beforeEach(async () => {
  rig = await openRig(SQUARE);
});
afterEach(() => rig.close());

type Json = ReturnType<typeof JSON.parse>;

const call = async (target: string, body?: object, token = 'local_token') => {
  const { method, path } = targetOf(target);
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Json, headers: response.headers };
};

const money = (amount: number) => ({ amount, currency: 'USD' });
const charge = (key: string, more: object = {}) =>
  call('POST /v2/payments', {
    idempotency_key: key,
    source_id: 'cnon:card-nonce-ok',
    amount_money: money(500),
    ...more,
  });
const order = async (key = 'o1'): Promise<Json> => {
  const line_items = [{ name: 'Book', quantity: '1', base_price_money: money(500) }];
  const made = await call('POST /v2/orders', { idempotency_key: key, order: { location_id: 'L', line_items } });
  return made.body.order;
};
const codes = ({ body }: { body: Json }): string[] => body.errors.map(({ code }: Json) => code);
const charges = async (): Promise<number> =>
  (await rig.control<{ charges: unknown[] }>('GET', '/ledger')).charges.length;

describe('an idempotency key of the simulated Square', () => {
  test('returns the first response again, for any order of the fields', async () => {
    const first = await charge('k1', { note: 'x', reference_id: 'r' });
    const again = await charge('k1', { reference_id: 'r', note: 'x' });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await charges()).toBe(1);
  });

  test('returns the first decline again', async () => {
    const declined = await charge('k1', { source_id: 'cnon:card-nonce-declined' });
    expect(declined).toMatchObject({ status: 402, body: { payment: { status: 'FAILED' } } });
    expect(await charge('k1', { source_id: 'cnon:card-nonce-declined' })).toMatchObject({
      status: 402,
      body: declined.body,
    });
    expect(await charges()).toBe(1);
  });

  test('is valid for one request only', async () => {
    await charge('k1');
    const other = await charge('k1', { amount_money: money(501) });
    expect([other.status, codes(other)]).toEqual([400, ['IDEMPOTENCY_KEY_REUSED']]);
    expect(await charges()).toBe(1);
  });

  test('charges only once for two concurrent requests', async () => {
    const both = await Promise.all([charge('k1'), charge('k1')]);
    expect(both.map(({ status }) => status).toSorted()).toSatisfy(
      (statuses: number[]) => statuses[0] === 200 && (statuses[1] === 200 || statuses[1] === 409),
    );
    expect(await charges()).toBe(1);
  });

  test('remains usable after a request that fails validation', async () => {
    expect(codes(await charge('k1', { amount_money: money(0) }))).toEqual(['VALUE_TOO_SHORT']);
    expect(await charge('k1')).toMatchObject({ status: 200 });
  });
});

describe('a request to the simulated Square', () => {
  test.each<[string, object, string, string | undefined]>([
    ['lacks a required field', { source_id: undefined }, 'MISSING_REQUIRED_PARAMETER', 'source_id'],
    [
      'has a value of the wrong type',
      { amount_money: { amount: '500', currency: 'USD' } },
      'INCORRECT_TYPE',
      'amount_money.amount',
    ],
    ['has a value that is too long', { idempotency_key: 'x'.repeat(46) }, 'VALUE_TOO_LONG', 'idempotency_key'],
    ['has a fake currency', { amount_money: { amount: 5, currency: 'XXQ' } }, 'INVALID_VALUE', 'amount_money.currency'],
    ['has a field that Square does not know', { colour: 'red' }, 'UNKNOWN_BODY_PARAMETER', undefined],
    ['names an order that does not exist', { order_id: 'absent' }, 'NOT_FOUND', 'order_id'],
    ['names a token that does not exist', { source_id: 'cnon:nothing' }, 'NOT_FOUND', 'source_id'],
    ['names a used token', { source_id: 'cnon:card-nonce-already-used' }, 'CARD_TOKEN_USED', 'source_id'],
  ])('is refused with Square’s error if it %s', async (...[_, fields, code, field]) => {
    const refused = await charge('k1', fields);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.body).toEqual({
      errors: [{ category: expect.any(String), code, detail: expect.any(String), ...(field && { field }) }],
    });
    expect(await charges()).toBe(0);
  });

  test('requires a token and a known route', async () => {
    expect(await call('GET /v2/orders/x', undefined, 'another')).toMatchObject({ status: 401 });
    expect(await call('GET /v2/nothing')).toMatchObject({ status: 404 });
    expect(await call('PATCH /v2/orders/x')).toMatchObject({ status: 404 });
  });
});

describe('an order at the simulated Square', () => {
  test('is paid once, with its whole amount', async () => {
    const { id } = await order();
    expect(codes(await charge('k1', { order_id: id, amount_money: money(499) }))).toEqual(['PAYMENT_AMOUNT_MISMATCH']);
    expect(await charge('k2', { order_id: id })).toMatchObject({ status: 200 });
    expect(codes(await charge('k3', { order_id: id }))).toEqual(['BAD_REQUEST']);
    const { body } = await call(`GET /v2/orders/${id}`);
    expect(body.order).toMatchObject({
      state: 'COMPLETED',
      tenders: [{ type: 'CARD' }],
      net_amount_due_money: money(0),
    });
  });

  test('changes only if the request names its current version', async () => {
    const { id, version } = await order();
    const cancel = (of: number, key: string) =>
      call(`PUT /v2/orders/${id}`, {
        idempotency_key: key,
        order: { location_id: 'L', version: of, state: 'CANCELED' },
      });
    expect([await cancel(version + 1, 'x1').then(codes)]).toEqual([['CONFLICT']]);
    expect(await cancel(version, 'x2')).toMatchObject({
      status: 200,
      body: { order: { state: 'CANCELED', version: version + 1 } },
    });
    expect(codes(await charge('k1', { order_id: id }))).toEqual(['BAD_REQUEST']);
  });

  test('is created for a payment without an order', async () => {
    const { body } = await charge('k1', { reference_id: 'pay_1' });
    expect(await call(`GET /v2/orders/${body.payment.order_id}`)).toMatchObject({
      body: { order: { state: 'COMPLETED', reference_id: 'pay_1' } },
    });
  });
});

describe('an authorized payment at the simulated Square', () => {
  const approved = async (more: object = {}): Promise<Json> =>
    (await charge('k1', { autocomplete: false, ...more })).body.payment;
  const reserve = async (more: object = {}): Promise<string> => (await approved(more)).id;
  const lower = (id: string, amount: number, version_token?: string) =>
    call(`PUT /v2/payments/${id}`, {
      idempotency_key: `lower-${amount}`,
      payment: { amount_money: money(amount), version_token },
    });

  test.each([
    ['complete', 'COMPLETED', 'DELAYED_TRANSACTION_CAPTURED'],
    ['cancel', 'CANCELED', 'DELAYED_TRANSACTION_CANCELED'],
  ])('stays approved until the call %s', async (action, status, code) => {
    const id = await reserve();
    expect(await call(`GET /v2/payments/${id}`)).toMatchObject({ body: { payment: { status: 'APPROVED' } } });
    expect(await call(`POST /v2/payments/${id}/${action}`)).toMatchObject({
      status: 200,
      body: { payment: { status } },
    });
    for (const after of ['complete', 'cancel']) {
      expect(codes(await call(`POST /v2/payments/${id}/${after}`))).toEqual([code]);
    }
    expect(codes(await lower(id, 400))).toEqual([code]);
  });

  test('is canceled after its delay, with an event', async () => {
    const { id, created_at, delay_duration, delayed_until } = await approved({ delay_duration: 'P1DT30M' });
    expect(delay_duration).toBe('PT24H30M');
    const delayMs = Date.parse(delayed_until) - Date.parse(created_at);
    expect(delayMs).toBe(24.5 * HOUR_MS);
    await rig.clock.advance(delayMs - 1);
    expect(await call(`GET /v2/payments/${id}`)).toMatchObject({ body: { payment: { status: 'APPROVED' } } });
    await rig.clock.advance(1);
    const { body } = await call(`GET /v2/payments/${id}`);
    expect(body.payment).toMatchObject({ status: 'CANCELED', updated_at: delayed_until });
    expect(codes(await call(`POST /v2/payments/${id}/complete`))).toEqual(['DELAYED_TRANSACTION_EXPIRED']);
    const events = (await rig.delivered()).map((sent) => JSON.parse(sent.body)).filter(({ data }) => data.id === id);
    expect(events.map(({ type }) => type)).toEqual(['payment.created', 'payment.updated']);
    expect(events.at(-1).data.object.payment).toEqual(body.payment);
  });

  test('can be lowered, and then completed, if the request names its current version', async () => {
    const { id, version_token, capabilities } = await approved();
    expect(capabilities).toEqual(['EDIT_AMOUNT_DOWN']);
    expect(codes(await lower(id, 501))).toEqual(['AMOUNT_TOO_HIGH']);
    const { body } = await lower(id, 400, version_token);
    const amounts = { amount_money: money(400), total_money: money(400), approved_money: money(500) };
    expect(body.payment).toMatchObject({ ...amounts, status: 'APPROVED' });
    expect(await lower(id, 300, version_token)).toMatchObject({ status: 409 });
    const complete = (of: string) => call(`POST /v2/payments/${id}/complete`, { version_token: of });
    expect(codes(await complete(version_token))).toEqual(['VERSION_MISMATCH']);
    const { body: after } = await complete(body.payment.version_token);
    expect(after.payment).toMatchObject({ ...amounts, status: 'COMPLETED' });
    const { body: of } = await call(`GET /v2/orders/${after.payment.order_id}`);
    expect(of.order).toMatchObject({ state: 'COMPLETED', total_money: money(400) });
  });

  test('must match the amount of its order', async () => {
    const { id: order_id } = await order();
    const id = await reserve({ order_id });
    expect(codes(await lower(id, 400))).toEqual(['PAYMENT_AMOUNT_MISMATCH']);
    expect(await call(`POST /v2/payments/${id}/complete`)).toMatchObject({ status: 200 });
  });

  test.each([
    [{ delay_duration: 'PT59S' }, 'INVALID_VALUE'],
    [{ delay_duration: 'P7DT1S' }, 'INVALID_VALUE'],
    [{ delay_duration: 'P' }, 'INVALID_VALUE'],
    [{ delay_duration: '7 days' }, 'INVALID_VALUE'],
    [{ delay_action: 'WAIT' }, 'INVALID_VALUE'],
    [{ autocomplete: true, delay_duration: 'P1D' }, 'CONFLICTING_PARAMETERS'],
    [{ source_id: 'bnon:bank-nonce-ok' }, 'UNSUPPORTED_SOURCE_TYPE'],
  ])('is refused for %j: %s', async (more, code) => {
    const refused = await charge('k1', { autocomplete: false, ...more });
    expect([refused.status, codes(refused)]).toEqual([400, [code]]);
    expect(await charges()).toBe(0);
  });

  test('is canceled by its request’s key, and an unknown key changes nothing', async () => {
    const cancel = (idempotency_key: string) => call('POST /v2/payments/cancel', { idempotency_key });
    expect(await cancel('k1')).toMatchObject({ status: 200, body: {} });
    const id = await reserve();
    expect(await cancel('k2')).toMatchObject({ status: 200, body: {} });
    expect(await call(`GET /v2/payments/${id}`)).toMatchObject({ body: { payment: { status: 'APPROVED' } } });
    expect(await cancel('k1')).toMatchObject({ status: 200, body: {} });
    expect(await call(`GET /v2/payments/${id}`)).toMatchObject({ body: { payment: { status: 'CANCELED' } } });
    expect(codes(await cancel('k1'))).toEqual(['DELAYED_TRANSACTION_CANCELED']);
  });
});

describe('a card at the simulated Square', () => {
  test('is created from a payment only once, and charged only for its customer', async () => {
    const customer = await call('POST /v2/customers', { given_name: 'Ana' });
    const { id: customerId } = customer.body.customer;
    const { body } = await charge('k1');
    const store = (key: string, source: string) =>
      call('POST /v2/cards', { idempotency_key: key, source_id: source, card: { customer_id: customerId } });
    const stored = await store('c1', body.payment.id);
    expect(stored).toMatchObject({ status: 200, body: { card: { customer_id: customerId, enabled: true } } });
    expect(codes(await store('c2', body.payment.id))).toEqual(['SOURCE_USED']);
    expect(codes(await store('c3', 'bnon:bank-nonce-ok'))).toEqual(['UNSUPPORTED_SOURCE_TYPE']);
    const source_id = stored.body.card.id;
    expect(codes(await charge('k2', { source_id }))).toEqual(['MISSING_REQUIRED_PARAMETER']);
    expect(await charge('k3', { source_id, customer_id: customerId })).toMatchObject({ status: 200 });
  });
});

describe('a customer at the simulated Square', () => {
  test.each([
    [{}, 'BAD_REQUEST'],
    [{ given_name: 'Ana', phone_number: '555-0100' }, 'INVALID_PHONE_NUMBER'],
    [{ given_name: 'Ana', phone_number: 'call me' }, 'INVALID_PHONE_NUMBER'],
    [{ email_address: 'not-an-email' }, 'INVALID_EMAIL_ADDRESS'],
  ])('is refused for %j: %s', async (fields, code) => {
    expect(codes(await call('POST /v2/customers', fields))).toEqual([code]);
  });
});

describe('the quantity of an order line', () => {
  const ordered = (quantity: string) => {
    const line_items = [{ name: 'Book', quantity, base_price_money: money(500) }];
    return call('POST /v2/orders', { idempotency_key: `q${quantity}`, order: { location_id: 'L', line_items } });
  };

  test('multiplies the price of its line', async () => {
    const { body } = await ordered('3');
    expect(body.order).toMatchObject({
      total_money: money(1_500),
      line_items: [{ quantity: '3', base_price_money: money(500), total_money: money(1_500) }],
    });
    const paid = await charge('k1', { order_id: body.order.id, amount_money: money(1_500) });
    expect(paid).toMatchObject({ status: 200, body: { payment: { status: 'COMPLETED' } } });
    expect((await ordered('0')).body.order.total_money).toEqual(money(0));
  });

  test.each([
    ['', 'VALUE_TOO_SHORT'],
    ['1234567890123', 'VALUE_TOO_LONG'],
    ['-1', 'INVALID_VALUE'],
    ['1.5', 'INVALID_VALUE'],
    ['one', 'INVALID_VALUE'],
    ['999999999999', 'VALUE_TOO_HIGH'],
  ])('is refused for %j: %s', async (quantity, code) => {
    const line_items = [{ name: 'Book', quantity, base_price_money: money(50_000_000) }];
    const refused = await call('POST /v2/orders', { idempotency_key: 'q', order: { location_id: 'L', line_items } });
    expect([refused.status, codes(refused)]).toEqual([400, [code]]);
  });
});

describe('a list at the simulated Square', () => {
  const walk = async (path: string, field: string): Promise<string[]> => {
    const found: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const join = path.includes('?') ? '&' : '?';
      const { status, body }: { status: number; body: Json } = await call(
        `GET ${path}${cursor === '' ? '' : `${join}cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      found.push(...body[field].map(({ id }: Json) => id));
      cursor = body.cursor;
    }
    return found;
  };
  const customers = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const made = await call('POST /v2/customers', { idempotency_key: `c${n}`, given_name: `N${n}` });
      ids.push(made.body.customer.id);
    }
    return ids;
  };

  test('pages through payments, newest first, within a time range', async () => {
    const ids: string[] = [];
    for (const key of ['a', 'b', 'c']) {
      ids.push((await charge(key)).body.payment.id);
      await rig.clock.advance(1_000);
    }
    expect(await walk('/v2/payments?limit=2', 'payments')).toEqual(ids.toReversed());
    expect(await walk('/v2/payments?limit=2&sort_order=ASC', 'payments')).toEqual(ids);
    expect(await walk('/v2/payments?limit=1000', 'payments')).toHaveLength(3);
    const second = new Date(rig.clock.now() - 2_000).toISOString();
    expect(await walk(`/v2/payments?begin_time=${second}&end_time=${second}`, 'payments')).toEqual([ids[1]]);
    const other = (await charge('d', { amount_money: money(700), location_id: 'L2' })).body.payment.id;
    expect(await walk('/v2/payments?total=700', 'payments')).toEqual([other]);
    expect(await walk('/v2/payments?location_id=L2&total=500', 'payments')).toEqual([]);
  });

  test('pages through customers and their cards, oldest first', async () => {
    const ids = await customers(3);
    expect(await walk('/v2/customers?limit=2', 'customers')).toEqual(ids);
    const cards: string[] = [];
    for (let n = 0; n < 26; n += 1) {
      const card = { customer_id: ids[0] };
      const made = await call('POST /v2/cards', { idempotency_key: `k${n}`, source_id: 'cnon:card-nonce-ok', card });
      cards.push(made.body.card.id);
    }
    expect((await call('GET /v2/cards')).body.cards).toHaveLength(25);
    expect(await walk('/v2/cards', 'cards')).toEqual(cards);
    expect(await walk(`/v2/cards?customer_id=${ids[1]}`, 'cards')).toEqual([]);
    await call(`POST /v2/cards/${cards[0]}/disable`);
    expect(await walk('/v2/cards', 'cards')).toEqual(cards.slice(1));
    expect(await walk('/v2/cards?include_disabled=true', 'cards')).toEqual(cards);
  });

  test.each([
    ['/v2/customers?limit=0', 'VALUE_TOO_LOW'],
    ['/v2/customers?limit=101', 'VALUE_TOO_HIGH'],
    ['/v2/customers?limit=ten', 'INVALID_VALUE'],
    ['/v2/customers?cursor=x', 'INVALID_CURSOR'],
    ['/v2/payments?limit=0', 'VALUE_TOO_LOW'],
    ['/v2/payments?begin_time=yesterday', 'INVALID_VALUE'],
    ['/v2/payments?sort_order=UP', 'INVALID_VALUE'],
    ['/v2/cards?limit=5', 'UNKNOWN_QUERY_PARAMETER'],
  ])('is refused for %s: %s', async (path, code) => {
    const refused = await call(`GET ${path}`);
    expect([refused.status, codes(refused)]).toEqual([400, [code]]);
  });
});

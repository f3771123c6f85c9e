import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY } from '../../shared/core/time.ts';
import { targetOf } from '../builders/target-of.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL } from './provider-subjects.ts';

/** The simulator's PayPal API for refunds and disputes, called directly. */

let rig: ProviderRig;
let token: string;
beforeEach(async () => {
  rig = await openRig(PAYPAL);
  token = await buyToken();
});
afterEach(() => rig.close());

const buyToken = async (): Promise<string> => {
  const response = await fetch(`${rig.url}/v1/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(PAYPAL.credentials.apiKey).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
};

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of a vendor, whose fields the assertions name
  readonly body: any;
}

const call = async (target: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answered> => {
  const { method, path } = targetOf(target);
  const response = await fetch(`${rig.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
};
const issuesOf = ({ body }: Answered): unknown => (body.details ?? []).map(({ issue }: { issue: string }) => issue);

const WHOLE = { prefer: 'return=representation' };

interface Paid {
  readonly order: string;
  readonly capture: string;
}

const pay = async (method = 'SIM-OK', amount = { currency_code: 'USD', value: '25.00' }): Promise<Paid> => {
  const unit = { amount, custom_id: 'pay_000000000000000000000001', invoice_id: 'order-1' };
  const source = { payment_source: { paypal: { vault_id: method } } };
  const order = await call('POST /v2/checkout/orders', { intent: 'CAPTURE', purchase_units: [unit], ...source }, WHOLE);
  return { order: order.body.id, capture: order.body.purchase_units[0].payments.captures[0].id };
};
const refund = ({ capture }: Paid, body?: unknown, headers: Record<string, string> = WHOLE) =>
  call(`POST /v2/payments/captures/${capture}/refund`, body, headers);
const usd = (value: string) => ({ amount: { currency_code: 'USD', value } });
const readCapture = async ({ capture }: Paid) => (await call(`GET /v2/payments/captures/${capture}`)).body;
const readOrder = async ({ order }: Paid) => (await call(`GET /v2/checkout/orders/${order}`)).body;
const dispute = ({ order }: Paid, wish: object = {}) =>
  rig.control<{ id: string }>('POST', `/payments/${order}/disputes`, wish);

describe('a refund at the simulated PayPal', () => {
  it('returns the remaining amount if it names none, and is shown in full only on request', async () => {
    const paid = await pay();
    const part = await refund(paid, usd('10.00'), {});
    expect(part).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^[0-9A-Z]{17}$/), status: 'COMPLETED' },
    });
    expect(Object.keys(part.body)).toEqual(['id', 'status', 'links']);
    const rest = await refund(paid, { custom_id: 'ref_1', invoice_id: 'refund-1', note_to_payer: 'Sorry' });
    expect(rest.body).toMatchObject({
      status: 'COMPLETED',
      amount: { currency_code: 'USD', value: '15.00' },
      custom_id: 'ref_1',
      invoice_id: 'refund-1',
      note_to_payer: 'Sorry',
      seller_payable_breakdown: { gross_amount: { value: '15.00' }, total_refunded_amount: { value: '25.00' } },
      links: [
        { rel: 'self', href: `https://api-m.paypal.com/v2/payments/refunds/${rest.body.id}` },
        { rel: 'up', href: `https://api-m.paypal.com/v2/payments/captures/${paid.capture}` },
      ],
    });
    expect((await call(`GET /v2/payments/refunds/${rest.body.id}`)).body).toEqual(rest.body);
    expect((await readOrder(paid)).purchase_units[0].payments.refunds[1]).toEqual(rest.body);
  });

  it("copies the capture's ids if the request names none", async () => {
    const { body } = await refund(await pay());
    expect(body).toMatchObject({ custom_id: 'pay_000000000000000000000001', invoice_id: 'order-1' });
  });

  it('changes its capture’s status after the money is returned, but not the order’s status', async () => {
    const paid = await pay();
    const statuses = async () => [(await readCapture(paid)).status, (await readOrder(paid)).status];
    expect(await statuses()).toEqual(['COMPLETED', 'COMPLETED']);
    const { id } = await rig.control<{ id: string }>('POST', `/payments/${paid.order}/refunds`, { status: 'pending' });
    expect(await statuses()).toEqual(['COMPLETED', 'COMPLETED']);
    expect((await call(`GET /v2/payments/refunds/${id}`)).body).toMatchObject({
      status: 'PENDING',
      status_details: { reason: 'ECHECK' },
    });
    await rig.control('POST', `/refunds/${id}`, { status: 'succeeded' });
    expect(await statuses()).toEqual(['REFUNDED', 'COMPLETED']);
    await rig.control('POST', `/refunds/${id}`, { status: 'failed' });
    expect(await statuses()).toEqual(['COMPLETED', 'COMPLETED']);
    await refund(paid, usd('0.01'));
    expect(await statuses()).toEqual(['PARTIALLY_REFUNDED', 'COMPLETED']);
  });

  it('is the first refund for 45 days under a used key, for any request', async () => {
    const paid = await pay();
    const keyed = { ...WHOLE, 'paypal-request-id': 'refund-1' };
    const first = await refund(paid, usd('1.00'), keyed);
    expect(await refund(paid, usd('2.00'), keyed)).toEqual(first);
    await rig.clock.advance(45 * DAY - 1);
    token = await buyToken();
    expect(await refund(paid, usd('1.00'), keyed)).toEqual(first);
    await rig.clock.advance(1);
    expect((await refund(paid, usd('1.00'), keyed)).body.id).not.toBe(first.body.id);
  });

  it.each([
    [usd('0.00'), 422, 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    [usd('-1.00'), 422, 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    [usd('1.001'), 422, 'DECIMAL_PRECISION'],
    [usd('25.01'), 422, 'REFUND_AMOUNT_EXCEEDED'],
    [{ amount: { currency_code: 'EUR', value: '1.00' } }, 422, 'REFUND_CAPTURE_CURRENCY_MISMATCH'],
    [{ amount: { currency_code: 'KWD', value: '1.00' } }, 422, 'INVALID_CURRENCY_CODE'],
    [{ amount: { currency_code: 'JPY', value: '1.50' } }, 422, 'DECIMALS_NOT_SUPPORTED'],
    [{ amount: { currency_code: 'USD', value: '1,00' } }, 400, 'INVALID_PARAMETER_SYNTAX'],
    [{ amount: { currency_code: 'USD', value: 1 } }, 400, 'MISSING_REQUIRED_PARAMETER'],
    [{ amount: { currency_code: 'USD' } }, 400, 'MISSING_REQUIRED_PARAMETER'],
    [{ amount: { currency_code: 'DOLLAR', value: '1.00' } }, 400, 'INVALID_STRING_LENGTH'],
    [{ custom_id: 'x'.repeat(128) }, 400, 'INVALID_STRING_LENGTH'],
    [{ invoice_id: '' }, 400, 'INVALID_STRING_LENGTH'],
    [{ note_to_payer: 'x'.repeat(256) }, 400, 'INVALID_STRING_LENGTH'],
    [{ metadata: {} }, 400, 'INVALID_PARAMETER_VALUE'],
    [{ payment_instruction: { platform_fees: [{}] } }, 422, 'PLATFORM_FEE_NOT_ENABLED'],
  ])('is refused for the body %j with %i %s, and moves no money', async (body, status, issue) => {
    const paid = await pay();
    const refused = await refund(paid, body);
    expect([refused.status, issuesOf(refused)]).toEqual([status, [issue]]);
    expect((await readOrder(paid)).purchase_units[0].payments).not.toHaveProperty('refunds');
  });

  it('is refused with decimals of a zero-decimal currency, and made in whole units', async () => {
    const paid = await pay('SIM-OK', { currency_code: 'HUF', value: '2500' });
    const huf = (value: string) => ({ amount: { currency_code: 'HUF', value } });
    expect(issuesOf(await refund(paid, huf('10.50')))).toEqual(['DECIMALS_NOT_SUPPORTED']);
    expect((await refund(paid, huf('10'))).body).toMatchObject({ amount: { currency_code: 'HUF', value: '10' } });
  });

  it('is refused for an unknown, refunded, pending or disputed capture', async () => {
    expect(await refund({ order: '', capture: 'ABSENT' })).toMatchObject({
      status: 404,
      body: { name: 'RESOURCE_NOT_FOUND' },
    });
    expect(await call('GET /v2/payments/refunds/ABSENT')).toMatchObject({ status: 404 });
    const paid = await pay();
    await refund(paid);
    for (const body of [usd('1.00'), undefined])
      expect(issuesOf(await refund(paid, body))).toEqual(['CAPTURE_FULLY_REFUNDED']);
    expect(issuesOf(await refund(await pay('SIM-PENDING-OK')))).toEqual(['PENDING_CAPTURE']);
    const disputed = await pay();
    const { id } = await dispute(disputed);
    expect(issuesOf(await refund(disputed, usd('1.00')))).toEqual(['TRANSACTION_DISPUTED']);
    await rig.control('POST', `/disputes/${id}`, { status: 'won' });
    expect(await refund(disputed, usd('1.00'))).toMatchObject({ status: 201 });
  });

  it('is refused under the invoice number of another refund', async () => {
    const paid = await pay();
    await refund(paid, { ...usd('1.00'), invoice_id: 'refund-1' });
    expect(issuesOf(await refund(paid, { ...usd('1.00'), invoice_id: 'refund-1' }))).toEqual(['DUPLICATE_INVOICE_ID']);
  });

  it('is refused if the header for negative tests requests it', async () => {
    const paid = await pay();
    const mock = (code: string) =>
      refund(paid, undefined, { 'paypal-mock-response': JSON.stringify({ mock_application_codes: code }) });
    expect(await mock('REFUND_FAILED_INSUFFICIENT_FUNDS')).toMatchObject({ status: 422 });
    expect(issuesOf(await mock('REFUND_FAILED_INSUFFICIENT_FUNDS'))).toEqual(['REFUND_FAILED_INSUFFICIENT_FUNDS']);
    expect(await mock('NOTHING_OF_THE_SORT')).toMatchObject({ status: 400 });
  });

  it('requires a valid access token', async () => {
    const paid = await pay();
    token = `${token}x`;
    expect(await refund(paid)).toMatchObject({ status: 401 });
  });
});

describe('the simulated PayPal disputes', () => {
  const list = (query: string) => call(`GET /v1/customer/disputes${query}`);
  const idsIn = ({ body }: Answered): string[] => body.items.map(({ dispute_id: id }: { dispute_id: string }) => id);

  it('omit outcome and transactions in the list, and include both in a lookup', async () => {
    const paid = await pay();
    const { id } = await dispute(paid, { reason: 'fraudulent', amount: 1_000 });
    const [listed] = (await list(`?disputed_transaction_id=${paid.capture}`)).body.items;
    expect(listed).toMatchObject({
      dispute_id: id,
      status: 'WAITING_FOR_SELLER_RESPONSE',
      dispute_state: 'REQUIRED_ACTION',
      reason: 'UNAUTHORISED',
      dispute_amount: { currency_code: 'USD', value: '10.00' },
      dispute_life_cycle_stage: 'CHARGEBACK',
      seller_response_due_date: expect.any(String),
    });
    expect(listed).not.toHaveProperty('disputed_transactions');
    await rig.control('POST', `/disputes/${id}`, { status: 'lost' });
    const [resolved] = (await list(`?disputed_transaction_id=${paid.capture}`)).body.items;
    expect(resolved).toMatchObject({ status: 'RESOLVED', dispute_state: 'RESOLVED' });
    expect(resolved).not.toHaveProperty('dispute_outcome');
    expect((await call(`GET /v1/customer/disputes/${id}`)).body).toMatchObject({
      dispute_id: id,
      status: 'RESOLVED',
      disputed_transactions: [{ seller_transaction_id: paid.capture, custom: 'pay_000000000000000000000001' }],
      dispute_outcome: { outcome_code: 'RESOLVED_BUYER_FAVOUR', amount_refunded: { value: '10.00' } },
    });
  });

  it('are filtered by transaction, state and time, newest first, page by page', async () => {
    const [one, other] = [await pay(), await pay()];
    const first = await dispute(one, { status: 'won' });
    await rig.clock.advance(DAY);
    token = await buyToken();
    const second = await dispute(one, { inquiry: true });
    const third = await dispute(other);
    expect(idsIn(await list(`?disputed_transaction_id=${one.capture}`))).toEqual([second.id, first.id]);
    expect(idsIn(await list('?disputed_transaction_id=ABSENT'))).toEqual([]);
    expect(idsIn(await list(''))).toEqual([third.id, second.id, first.id]);
    expect(idsIn(await list('?dispute_state=RESOLVED,OPEN_INQUIRIES'))).toEqual([second.id, first.id]);
    const noon = new Date(rig.clock.now() - DAY / 2).toISOString();
    expect(idsIn(await list(`?start_time=${noon}`))).toEqual([third.id, second.id]);
    expect(idsIn(await list(`?create_time_before=${noon}`))).toEqual([first.id]);
    expect(idsIn(await list(`?update_time_after=${noon}`))).toEqual([third.id, second.id]);
    const page = await list('?page_size=2');
    expect(idsIn(page)).toEqual([third.id, second.id]);
    const next = page.body.links.find(({ rel }: { rel: string }) => rel === 'next');
    const last = await list(new URL(next.href).search);
    expect(idsIn(last)).toEqual([first.id]);
    expect(last.body.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'first']);
  });

  it.each([
    '?start_time=2029-12-31T00:00:00Z&disputed_transaction_id=C1',
    '?start_time=2029-01-01T00:00:00Z',
    '?update_time_after=2029-01-01T00:00:00Z',
    '?start_time=yesterday',
    '?disputed_transaction_id=lower',
    '?disputed_transaction_id=',
    '?dispute_state=LOST',
    '?page_size=51',
    '?page_size=0',
    '?page=51',
    '?transaction=C1',
  ])('are refused for %s', async (query) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { name: 'INVALID_REQUEST' } });
  });

  it('are not found if their id is unknown', async () => {
    expect(await call('GET /v1/customer/disputes/PP-D-1')).toMatchObject({ status: 404 });
  });
});

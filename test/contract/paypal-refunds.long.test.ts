import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import {
  type ProviderRefund,
  REFUND_DISPUTED,
  type RefundedCharge,
  type RefundsPort,
} from '../../shared/providers/refund-port.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL } from './provider-subjects.ts';
import { testRefunds } from './refund-suite.ts';
import type { SimulatorDelivery } from './simulator-harness.ts';

testRefunds({
  subject: PAYPAL,
  begins: 'succeeded',
  path: '/refund',
  page: { size: 20, path: '/v2/checkout/orders/' },
  methods: { settlesLater: 'SIM-REFUND-PENDING', failsLater: 'SIM-REFUND-FAIL-LATER', disputed: 'SIM-DISPUTED' },
  currencies: [
    ['JPY', 5_000, 1_234],
    ['HUF', 500_000, 123_400],
    ['TWD', 500_000, 100],
    ['EUR', 5_000, 7],
  ],
  inexpressible: { currency: 'HUF', paidCents: 500_000, refundCents: 1_250 },
  refundEnds: ['succeeded', 'failed', 'canceled'],
  disputeStatuses: ['needs_response', 'under_review', 'won', 'lost', 'closed'],
});

const PAYMENT_ID = 'pay_000000000000000000000001';
const REFUND_ID = 'ref_000000000000000000000001';

let rig: ProviderRig;
beforeEach(async () => {
  rig = await openRig(PAYPAL);
});
afterEach(() => rig.close());

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

const refundsOf = ({ refunds }: PaymentProvider): RefundsPort => {
  if (!refunds) throw new Error('PayPal must have refunds; absence is a bug');
  return refunds;
};

interface Charge {
  readonly method?: string;
  readonly amountCents?: number;
  readonly currency?: string;
}

const pay = async ({
  method = 'SIM-OK',
  amountCents = 2_500,
  currency = 'USD',
}: Charge = {}): Promise<RefundedCharge> => {
  const money = { amountCents, currency, customerId: undefined, returnUrl: undefined };
  const { provider } = rig;
  const made = await provider.createIntent({
    ...money,
    idempotencyKey: 'create',
    paymentId: PAYMENT_ID,
    description: undefined,
    method,
    saveMethod: false,
  });
  const { intentId } = doneValue(made);
  const confirmation = { ...money, idempotencyKey: 'confirm', intentId, paymentId: PAYMENT_ID, method };
  const { paymentId } = doneValue(await provider.confirmIntent(confirmation));
  return { intentId, paymentId };
};

interface Wish {
  readonly amountCents?: number;
  readonly currency?: string;
  readonly refundId?: string;
  readonly key?: string;
  readonly by?: PaymentProvider;
}

const refund = (payment: RefundedCharge, wish: Wish = {}): Promise<Outcome<ProviderRefund>> => {
  const { amountCents = 2_500, currency = 'USD', refundId = REFUND_ID, key = refundId, by = rig.provider } = wish;
  return refundsOf(by).createRefund({
    idempotencyKey: key,
    refundId,
    payment,
    amountCents,
    currency,
    reason: 'requested_by_customer',
  });
};
const numbered = (n: number): string => `ref_${String(n).padStart(24, '0')}`;
const refunds = async (payment: RefundedCharge) => doneValue(await refundsOf(rig.provider).listRefunds(payment));
const disputes = async (payment: RefundedCharge) => doneValue(await refundsOf(rig.provider).listDisputes(payment));

interface LedgerRow {
  readonly id: string;
  readonly refund_id?: string | null;
  readonly amount: number;
  readonly status: string;
}
const ledger = () =>
  rig.control<{ refunds: LedgerRow[]; charges: { amount_refunded: number }[] }>(
    'GET',
    `/ledger?payment_id=${PAYMENT_ID}`,
  );
const atPayPal = (amount?: number, status?: string) =>
  rig.control<LedgerRow>('POST', `/payments/${PAYMENT_ID}/refunds`, { amount, status });
const dispute = (wish: object = {}) => rig.control<LedgerRow>('POST', `/payments/${PAYMENT_ID}/disputes`, wish);
const move = (kind: 'refunds' | 'disputes', id: string, status: string) =>
  rig.control('POST', `/${kind}/${id}`, { status });

const bodyOf = ({ body }: SimulatorDelivery) => JSON.parse(body);
const MONEY_BACK = /^(?:PAYMENT\.REFUND\.|PAYMENT\.CAPTURE\.RE|CUSTOMER\.DISPUTE\.)/;
const sentEvents = async () => (await rig.delivered()).filter((event) => MONEY_BACK.test(bodyOf(event).event_type));
const read = (event: unknown) => rig.provider.readEvent(event);

describe('a refund', () => {
  test('is completed immediately for the whole amount, and carries our id', async () => {
    const payment = await pay();
    const made = doneValue(await refund(payment));
    expect(made).toEqual({
      refundId: expect.stringMatching(/^[0-9A-Z]{17}$/),
      status: 'succeeded',
      amountCents: 2_500,
      currency: 'USD',
      ourRefundId: REFUND_ID,
      captureId: payment.paymentId,
      reason: undefined,
      failureCode: undefined,
      createdAt: Math.floor(rig.clock.now() / 1_000),
      settlement: { feeCents: 0, netCents: -2_500, currency: 'USD' },
    });
    expect(await refunds(payment)).toEqual([made]);
    expect((await ledger()).refunds).toMatchObject([{ id: made.refundId, refund_id: REFUND_ID, amount: 2_500 }]);
  });

  test('sends PayPal only the amount and our id, because the payer would read a note', async () => {
    const payment = await pay();
    await refund(payment, { amountCents: 1_005 });
    const { sent, path } = rig.exchanges.find((exchange) => exchange.path.endsWith('/refund')) ?? {
      sent: '{}',
      path: '',
    };
    expect(path).toBe(`/paypal/v2/payments/captures/${payment.paymentId}/refund`);
    expect(JSON.parse(sent)).toEqual({ amount: { currency_code: 'USD', value: '10.05' }, custom_id: REFUND_ID });
  });

  test('is made once under its key, even if it is sent again', async () => {
    const payment = await pay();
    const first = doneValue(await refund(payment, { amountCents: 1_000 }));
    for (const _ of [1, 2]) expect(doneValue(await refund(payment, { amountCents: 1_000 }))).toEqual(first);
    await rig.clock.advance(44 * DAY_MS);
    expect(doneValue(await refund(payment, { amountCents: 1_000 }))).toEqual(first);
    expect((await ledger()).charges).toMatchObject([{ amount_refunded: 1_000 }]);
  });

  test('can be made in parts until nothing is left, and the order lists every part', async () => {
    const payment = await pay();
    const found = async () =>
      doneValue(
        await rig.provider.findPayment({ ...payment, attemptRef: undefined, method: undefined, status: 'succeeded' }),
      );
    const statuses: string[] = [];
    for (const [n, amountCents] of [1_000, 700, 800].entries()) {
      expect(doneValue(await refund(payment, { amountCents, refundId: numbered(n) }))).toMatchObject({ amountCents });
      expect(await found()).toMatchObject({ status: 'succeeded', isRefunded: true });
      statuses.push(JSON.parse(rig.exchanges.at(-1)?.answered ?? '').purchase_units[0].payments.captures[0].status);
    }
    expect(statuses).toEqual(['PARTIALLY_REFUNDED', 'PARTIALLY_REFUNDED', 'REFUNDED']);
    expect((await refunds(payment)).map(({ ourRefundId }) => ourRefundId)).toEqual([0, 1, 2].map(numbered));
    expect(await refund(payment, { amountCents: 1, refundId: numbered(9) })).toMatchObject({
      kind: 'refused',
      reason: 'refund_exceeds',
    });
  });

  test('never exceeds the capture among fifty concurrent requests', async () => {
    const payment = await pay();
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, n) => refund(payment, { amountCents: 100, refundId: numbered(n) })),
    );
    expect(all.filter(({ kind }) => kind === 'done')).toHaveLength(25);
    expect(all.filter((one) => one.kind === 'refused' && one.reason === 'refund_exceeds')).toHaveLength(25);
    expect((await ledger()).charges).toMatchObject([{ amount_refunded: 2_500 }]);
  });

  test.each([
    ['JPY', { amountCents: 2_500, value: '2500' }, { amountCents: 1_200, value: '1200' }],
    ['HUF', { amountCents: 250_000, value: '2500' }, { amountCents: 120_000, value: '1200' }],
    ['TWD', { amountCents: 250_000, value: '2500' }, { amountCents: 100, value: '1' }],
    ['EUR', { amountCents: 2_500, value: '25.00' }, { amountCents: 7, value: '0.07' }],
  ])("uses PayPal's digits for %s when it is sent and read", async (currency, paid, part) => {
    const { amountCents } = paid;
    const payment = await pay({ currency, amountCents });
    expect(doneValue(await refund(payment, { currency, amountCents: part.amountCents }))).toMatchObject({
      amountCents: part.amountCents,
      currency,
    });
    const left = amountCents - part.amountCents;
    doneValue(await refund(payment, { currency, amountCents: left, refundId: numbered(2) }));
    expect((await refunds(payment)).map((one) => one.amountCents)).toEqual([part.amountCents, left]);
    const values = rig.exchanges
      .filter(({ path }) => path.endsWith('/refund'))
      .map((one) => JSON.parse(one.sent).amount.value);
    expect(values[0]).toBe(part.value);
    expect(
      JSON.parse(rig.exchanges.find(({ path }) => path.endsWith('/orders'))?.sent ?? '').purchase_units[0].amount.value,
    ).toBe(paid.value);
  });

  test('is refused without a call in a currency that PayPal does not accept', async () => {
    const payment = await pay();
    const before = rig.exchanges.length;
    const refused = { kind: 'refused', reason: 'currency_not_taken' };
    expect(await refund(payment, { currency: 'KWD' })).toMatchObject(refused);
    expect(rig.exchanges).toHaveLength(before);
  });

  test.each([
    ['SIM-REFUND-PENDING', ['pending', 'succeeded'], undefined],
    ['SIM-REFUND-PENDING-FAIL', ['pending', 'failed'], 'ECHECK'],
    ['SIM-REFUND-FAIL-LATER', ['succeeded', 'failed'], 'ECHECK'],
  ])(
    'to a payer with the method %s passes through the statuses %j within a minute',
    async (method, [now = '', later = ''], failureCode) => {
      const payment = await pay({ method });
      const made = doneValue(await refund(payment, { amountCents: 2_000 }));
      expect(made).toMatchObject({ status: now, failureCode: undefined });
      expect(await refunds(payment)).toEqual([made]);
      await rig.clock.advance(MINUTE_MS);
      const settlement = later === 'succeeded' ? { feeCents: 0, netCents: -2_000, currency: 'USD' } : undefined;
      expect(await refunds(payment)).toEqual([{ ...made, status: later, failureCode, settlement }]);
      // The amount of a failed refund becomes refundable again.
      const again = await refund(payment, { amountCents: 2_500, refundId: numbered(2) });
      expect(again.kind).toBe(later === 'failed' ? 'done' : 'refused');
    },
  );

  test('reads as canceled after a cancellation at PayPal', async () => {
    const payment = await pay({ method: 'SIM-REFUND-PENDING' });
    const { refundId } = doneValue(await refund(payment));
    await move('refunds', refundId, 'canceled');
    expect(await refunds(payment)).toMatchObject([{ refundId, status: 'canceled', failureCode: undefined }]);
  });

  test('of a disputed payment is refused in part and accepted in full', async () => {
    const payment = await pay();
    await dispute();
    const part = await refund(payment, { amountCents: 100 });
    expect(part).toMatchObject({ kind: 'refused', reason: REFUND_DISPUTED });
    expect(await refund(payment, { refundId: numbered(2) })).toMatchObject({ kind: 'done' });
  });

  test('is refused while PayPal has not settled the payment', async () => {
    const pending = await pay({ method: 'SIM-PENDING-OK' });
    expect(await refund(pending)).toMatchObject({ kind: 'refused', reason: 'PENDING_CAPTURE' });
  });

  test('is refused if the payer’s account is closed, although a charge is declined for the same issue', async () => {
    const closed = await mocked(await pay(), 'PAYER_ACCOUNT_LOCKED_OR_CLOSED');
    expect(closed).toEqual({ kind: 'refused', reason: 'PAYER_ACCOUNT_LOCKED_OR_CLOSED' });
  });

  test('is refused after 180 days', async () => {
    const payment = await pay();
    await rig.clock.advance(181 * DAY_MS);
    expect(await refund(payment)).toMatchObject({ kind: 'refused', reason: 'REFUND_TIME_LIMIT_EXCEEDED' });
  });

  test('is refused for a capture that PayPal does not have', async () => {
    const absent = { intentId: 'ABSENT', paymentId: 'ABSENT' };
    expect(await refund(absent)).toMatchObject({ kind: 'refused', reason: 'RESOURCE_NOT_FOUND' });
    expect(await refundsOf(rig.provider).listRefunds(absent)).toMatchObject({ kind: 'refused' });
    expect(await disputes(absent)).toEqual([]);
  });

  test('is read by id if the list lacks its fields, and is unknown if its own response lacks them', async () => {
    const payment = await pay();
    const made = doneValue(await refund(payment, { amountCents: 1_000 }));
    const bare = (path: string, body: { id?: string; purchase_units?: [{ payments: { refunds: object[] } }] }) => {
      const [unit] = body.purchase_units ?? [];
      if (unit) unit.payments.refunds = [{ id: made.refundId, status: 'COMPLETED' }];
      return path.endsWith('/refund') ? { id: body.id, status: 'COMPLETED' } : body;
    };
    const provider = changed(bare);
    expect(doneValue(await refundsOf(provider).listRefunds(payment))).toEqual([made]);
    expect(await refund(payment, { amountCents: 1_000, by: provider })).toEqual({ kind: 'unknown', reason: 'error' });
  });
});

describe('the outcome of a refund call', () => {
  test('is done or unknown for each of two concurrent calls under one key, which refund once', async () => {
    const payment = await pay();
    const both = await Promise.all([refund(payment), refund(payment)]);
    expect(both.filter(({ kind }) => kind === 'done').length).toBeGreaterThan(0);
    for (const one of both) expect(['done', 'unknown']).toContain(one.kind);
    expect(await refunds(payment)).toHaveLength(1);
  });

  test('is not_done if the call cannot connect', async () => {
    const closed = rig.reopen({ ...PAYPAL.settings, BASE_URL: 'http://127.0.0.1:1' });
    if (!closed) throw new Error('PayPal stays closed');
    const payment = { intentId: 'O1', paymentId: 'C1' };
    expect(await refund(payment, { by: closed })).toEqual({ kind: 'not_done', reason: 'unreachable' });
  });

  test.each(['listRefunds', 'listDisputes'] as const)('is unknown if the lookup fails: %s', async (list) => {
    const payment = await pay();
    await refund(payment, { amountCents: 1_000 });
    await dispute({ status: 'won' });
    for (const path of list === 'listRefunds' ? ['/orders/'] : ['disputes', 'disputes/']) {
      await rig.control('POST', '/faults', { action: 'error_500', path, times: 1 });
      expect(await refundsOf(rig.provider)[list](payment)).toEqual({ kind: 'unknown', reason: 'error' });
    }
  });
});

describe('the disputes of a PayPal payment', () => {
  test.each([
    [{}, 'needs_response', 'WAITING_FOR_SELLER_RESPONSE'],
    [{ inquiry: true }, 'needs_response', 'OPEN'],
    [{ status: 'under_review' }, 'under_review', 'UNDER_REVIEW'],
    [{ status: 'won' }, 'won', 'RESOLVED'],
    [{ status: 'lost' }, 'lost', 'RESOLVED'],
    [{ status: 'closed' }, 'closed', 'RESOLVED'],
  ])('raised as %j have our status %s and PayPal’s status %s', async (wish, status, atPayPalStatus) => {
    const payment = await pay();
    expect(await disputes(payment)).toEqual([]);
    const raised = await dispute({ ...wish, amount: 1_900, reason: 'product_not_received' });
    const isOpen = atPayPalStatus !== 'RESOLVED';
    expect(await disputes(payment)).toEqual([
      {
        disputeId: raised.id,
        status,
        amountCents: 1_900,
        currency: 'USD',
        reason: 'merchandise_or_service_not_received',
        evidenceDueBy: isOpen ? Math.floor(rig.clock.now() / 1_000) + 7 * DAY_SECONDS : undefined,
        createdAt: Math.floor(rig.clock.now() / 1_000),
        // Two changes of one dispute never have the same time.
        reportedAt: rig.clock.now() + ('status' in wish ? 1 : 0),
        captureId: payment.paymentId,
      },
    ]);
    expect((await sentEvents()).map((event) => bodyOf(event).resource.status)).toContain(atPayPalStatus);
  });

  test('include every dispute of the capture from all pages, oldest first, and no dispute of another capture', async () => {
    const payment = await pay();
    const raised: string[] = [];
    for (let count = 0; count < 53; count += 1) {
      raised.push((await dispute({ amount: 1 })).id);
      await rig.clock.advance(1_000);
    }
    rig.exchanges.length = 0;
    expect((await disputes(payment)).map(({ disputeId }) => disputeId)).toEqual(raised);
    expect(rig.exchanges.map(({ path }) => path)).toEqual([
      '/paypal/v1/customer/disputes',
      '/paypal/v1/customer/disputes',
    ]);
    expect(await disputes({ ...payment, paymentId: 'C2' })).toEqual([]);
  });

  test.each([
    ['RESOLVED_SELLER_FAVOUR', 'won'],
    ['DENIED', 'won'],
    ['RESOLVED_BUYER_FAVOUR', 'lost'],
    ['ACCEPTED', 'lost'],
    ['CANCELED_BY_BUYER', 'closed'],
    ['RESOLVED_WITH_PAYOUT', 'closed'],
    ['NONE', 'closed'],
    [undefined, 'closed'],
  ])('have, after the outcome %s, the status %s', async (outcome_code, status) => {
    const payment = await pay();
    await dispute({ status: 'won' });
    const provider = changed((path, body: { dispute_outcome?: object }) =>
      /disputes\/./.test(path) ? { ...body, dispute_outcome: { outcome_code } } : body,
    );
    expect(doneValue(await refundsOf(provider).listDisputes(payment))).toMatchObject([{ status }]);
  });

  test.each([
    ['WAITING_FOR_BUYER_RESPONSE', 'under_review'],
    ['UNDER_REVIEW', 'under_review'],
    ['OTHER', 'under_review'],
    ['OPEN', 'needs_response'],
  ])('have, for PayPal’s status %s, our status %s', async (sent, status) => {
    const payment = await pay();
    await dispute();
    const provider = changed((_, body: { items?: object[] }) =>
      body.items ? { ...body, items: body.items.map((item) => ({ ...item, status: sent })) } : body,
    );
    expect(doneValue(await refundsOf(provider).listDisputes(payment))).toMatchObject([{ status }]);
  });

  test('are read by id if the list shows no due date', async () => {
    const payment = await pay();
    await dispute();
    const [whole] = await disputes(payment);
    const provider = changed((_, body: { items?: object[] }) =>
      body.items
        ? { ...body, items: body.items.map((item) => ({ ...item, seller_response_due_date: undefined })) }
        : body,
    );
    expect(whole?.evidenceDueBy).toBeGreaterThan(0);
    expect(doneValue(await refundsOf(provider).listDisputes(payment))).toEqual([whole]);
  });

  test('are unknown if their pages never end', async () => {
    const payment = await pay();
    const next = { rel: 'next', href: 'https://api.paypal.com/v1/customer/disputes?page_size=50' };
    const provider = changed((path, body) => (path.endsWith('/disputes') ? { links: [next] } : body));
    expect(await refundsOf(provider).listDisputes(payment)).toEqual({ kind: 'unknown', reason: 'error' });
  });

  test('cannot be listed if PayPal does not show them to this client', async () => {
    const payment = await pay();
    const provider = changed((path, body) => (path.endsWith('/disputes') ? { name: 'NOT_AUTHORIZED' } : body), 403);
    expect(await refundsOf(provider).listDisputes(payment)).toMatchObject({
      kind: 'refused',
      reason: 'NOT_AUTHORIZED',
    });
  });
});

describe('a PayPal event', () => {
  test.each([
    ['SIM-OK', ['PAYMENT.CAPTURE.REFUNDED succeeded']],
    ['SIM-REFUND-PENDING', ['PAYMENT.REFUND.PENDING pending', 'PAYMENT.CAPTURE.REFUNDED succeeded']],
    ['SIM-REFUND-PENDING-FAIL', ['PAYMENT.REFUND.PENDING pending', 'PAYMENT.REFUND.FAILED failed']],
    ['SIM-REFUND-FAIL-LATER', ['PAYMENT.CAPTURE.REFUNDED succeeded', 'PAYMENT.REFUND.FAILED failed']],
  ])('reports each step of a refund to a payer with %s, as the lookup does', async (method, expected) => {
    const payment = await pay({ method });
    const made = doneValue(await refund(payment, { amountCents: 1_000 }));
    await rig.clock.advance(MINUTE_MS);
    const sent = await sentEvents();
    for (const { headers, body } of sent) {
      const webhook = { raw: Buffer.from(body), headers, now: rig.clock.now() };
      expect(await rig.receiver?.verifyWebhook(webhook)).toBe('valid');
    }
    const events = sent.map((event) => read(bodyOf(event)));
    expect(events.map((event) => `${event?.rawType} ${event?.object.refund?.status}`)).toEqual(expected);
    for (const event of events) {
      expect(event).toMatchObject({ type: 'refund.updated', object: { id: made.refundId } });
      expect(event?.object.chargedAs).toEqual([payment.paymentId]);
    }
    expect([events.at(-1)?.object.refund]).toEqual(await refunds(payment));
  });

  test('of a reversal contains the refund, as the list does, and names the capture', async () => {
    const payment = await pay();
    await rig.control('POST', `/payments/${PAYMENT_ID}/refunds`, { reversed: true });
    const events = (await sentEvents()).map((event) => read(bodyOf(event)));
    expect(events).toMatchObject([
      { rawType: 'PAYMENT.CAPTURE.REVERSED', type: 'refund.updated', object: { chargedAs: [payment.paymentId] } },
    ]);
    expect([events[0]?.object.refund]).toEqual(await refunds(payment));
  });

  test('of a reversal names the charge if it contains the capture, or only the capture’s id', async () => {
    const { paymentId } = await pay();
    const links = [{ rel: 'self', href: `https://api.paypal.com/v2/payments/captures/${paymentId}` }];
    const amount = { currency_code: 'USD', value: '25.00' };
    const create_time = '2030-01-01T00:00:00Z';
    const send = (object: unknown) =>
      rig.control('POST', '/events', { provider: PAYPAL.slot, type: 'PAYMENT.CAPTURE.REVERSED', object });
    await send({ id: paymentId, status: 'COMPLETED', amount, create_time, links });
    await send({ id: 'R1', supplementary_data: { related_ids: { capture_id: paymentId, order_id: 'O1' } } });
    const events = (await sentEvents()).map((event) => read(bodyOf(event)));
    expect(events.map((event) => [event?.type, event?.object.id, event?.object.chargedAs])).toEqual([
      ['charge.refunded', paymentId, [paymentId]],
      ['charge.refunded', paymentId, [paymentId, 'O1']],
    ]);
  });

  test('reports each step of a dispute', async () => {
    const payment = await pay({ method: 'SIM-DISPUTED' });
    const [open] = await disputes(payment);
    const id = open?.disputeId ?? '';
    await move('disputes', id, 'under_review');
    await move('disputes', id, 'lost');
    const events = (await sentEvents()).map((event) => read(bodyOf(event)));
    expect(events.map((event) => [event?.rawType, event?.type, event?.object.dispute?.status])).toEqual([
      ['CUSTOMER.DISPUTE.CREATED', 'dispute.updated', 'needs_response'],
      ['CUSTOMER.DISPUTE.UPDATED', 'dispute.updated', 'under_review'],
      ['CUSTOMER.DISPUTE.RESOLVED', 'dispute.updated', 'lost'],
    ]);
    for (const event of events) expect(event?.object).toMatchObject({ id, chargedAs: [payment.paymentId] });
    expect(events[0]?.object.dispute).toEqual(open);
    expect([events[2]?.object.dispute]).toEqual(await disputes(payment));
  });

  test('is refused if it cannot be read', async () => {
    await pay();
    await atPayPal();
    await dispute();
    const [refunded, disputed] = (await sentEvents()).map(bodyOf);
    expect([refunded.event_type, disputed.event_type]).toEqual([
      'PAYMENT.CAPTURE.REFUNDED',
      'CUSTOMER.DISPUTE.CREATED',
    ]);
    const broken = (event: { resource: object }, field: string, value?: unknown) =>
      read({ ...event, resource: { ...event.resource, [field]: value } });
    expect(broken(refunded, 'links', [])).toBeUndefined();
    expect(read({ ...refunded, resource: undefined })).toBeUndefined();
    for (const field of ['dispute_id', 'dispute_amount', 'status', 'create_time', 'disputed_transactions'])
      expect(broken(disputed, field)).toBeUndefined();
    expect(broken(disputed, 'dispute_amount', { currency_code: 'USD', value: '0.005' })).toBeUndefined();
    expect(broken(disputed, 'dispute_amount', { currency_code: 'dollar', value: '5.00' })).toBeUndefined();
  });

  test('triggers a read of the refunds if it names the capture of an unreadable refund', async () => {
    const { paymentId } = await pay();
    await atPayPal();
    const [refunded] = (await sentEvents()).map(bodyOf);
    for (const field of ['amount', 'status', 'create_time']) {
      const event = read({ ...refunded, resource: { ...refunded.resource, [field]: undefined } });
      expect(event).toMatchObject({ type: 'charge.refunded', object: { id: paymentId, chargedAs: [paymentId] } });
    }
    const strange = read({ ...refunded, resource: { ...refunded.resource, status: 'NEW_WORD' } });
    expect(strange?.object.refund).toMatchObject({ status: 'pending' });
  });
});

type Change = (path: string, body: never) => unknown;

/** The adapter with modified responses from PayPal. */
const changed = (change: Change, status?: number): PaymentProvider =>
  opened(async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(String(input));
    const body = change(pathname.replace('/paypal', ''), (await response.json()) as never);
    const isDispute = pathname.endsWith('/disputes');
    return Response.json(body, { status: isDispute && status !== undefined ? status : response.status });
  });

/** A refund that PayPal refuses with this issue. */
const mocked = (payment: RefundedCharge, issue: string): Promise<Outcome<ProviderRefund>> => {
  const mock = JSON.stringify({ mock_application_codes: issue });
  const by = opened((input, init) =>
    fetch(input, { ...init, headers: { ...init?.headers, 'paypal-mock-response': mock } }),
  );
  return refund(payment, { refundId: numbered(8), by });
};

const opened = (through: typeof fetch): PaymentProvider => {
  const provider = rig.reopen(PAYPAL.settings, through);
  if (!provider) throw new Error('PayPal stays closed');
  return provider;
};

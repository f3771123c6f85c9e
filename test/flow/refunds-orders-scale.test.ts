import { describe, expect, inject, test } from 'vitest';
import { DAY } from '../../shared/core/time.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { eventsOf, read, signIn, storedPayment } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';
import { PAYING_METHODS, type Paying, paidPayment } from './refunders.ts';
import { everyNth } from './ways.ts';

/** Events of one refund and one dispute, each sent once or twice, lead to the same final state in every order. */
const service = withHost({ frozen: true });

interface Sent {
  readonly type: string;
  readonly object: object;
}

interface Forms {
  /** The events of a refund that is pending, succeeds, and is sent back by the bank. */
  refund(payment: ParsedJson): readonly Sent[];
  /** The events of a dispute that is opened, is reviewed, and is won. */
  dispute(payment: ParsedJson): readonly Sent[];
}

const created = (): number => Math.floor(service.now() / 1_000);
const createdText = (): string => new Date(service.now()).toISOString();
const dueBy = (): string => new Date(service.now() + 10 * DAY).toISOString();

const FORMS: Readonly<Record<string, Forms>> = {
  provider_a: {
    refund: ({ provider_payment_id: payment_intent }) =>
      [
        ['refund.created', 'pending'],
        ['refund.updated', 'succeeded'],
        ['refund.failed', 'failed'],
      ].map(([type = '', status]) => ({
        type,
        object: {
          ...{ id: `re_${payment_intent}`, object: 'refund', amount: 900, currency: 'usd', status, payment_intent },
          ...{ created: created(), metadata: {}, reason: null },
        },
      })),
    dispute: ({ provider_payment_id: payment_intent }) =>
      [
        ['charge.dispute.created', 'needs_response'],
        ['charge.dispute.updated', 'under_review'],
        ['charge.dispute.closed', 'won'],
      ].map(([type = '', status]) => ({
        type,
        object: {
          ...{ id: `dp_${payment_intent}`, object: 'dispute', amount: 2_500, currency: 'usd', status, payment_intent },
          ...{ created: created(), reason: 'fraudulent', evidence_details: { due_by: created() + 864_000 } },
        },
      })),
  },
  provider_b: {
    refund: ({ provider_payment_id: capture }) =>
      [
        ['PAYMENT.REFUND.PENDING', 'PENDING'],
        ['PAYMENT.CAPTURE.REFUNDED', 'COMPLETED'],
        ['PAYMENT.REFUND.FAILED', 'FAILED'],
      ].map(([type = '', status]) => ({
        type,
        object: {
          ...{ id: `R${capture}`, status, amount: { currency_code: 'USD', value: '9.00' } },
          create_time: createdText(),
          links: [{ rel: 'up', href: `https://api.paypal.com/v2/payments/captures/${capture}`, method: 'GET' }],
        },
      })),
    dispute: ({ provider_payment_id: capture }) =>
      [
        ['CUSTOMER.DISPUTE.CREATED', { status: 'WAITING_FOR_SELLER_RESPONSE' }],
        ['CUSTOMER.DISPUTE.UPDATED', { status: 'UNDER_REVIEW' }],
        [
          'CUSTOMER.DISPUTE.RESOLVED',
          { status: 'RESOLVED', dispute_outcome: { outcome_code: 'RESOLVED_SELLER_FAVOUR' } },
        ],
      ].map(([type, state]) => ({
        type: String(type),
        object: {
          ...{ dispute_id: `PP-D-${capture}`, reason: 'UNAUTHORISED', ...Object(state) },
          dispute_amount: { currency_code: 'USD', value: '25.00' },
          ...{ create_time: createdText(), seller_response_due_date: dueBy() },
          disputed_transactions: [{ seller_transaction_id: capture }],
        },
      })),
  },
  provider_c: {
    refund: ({ provider_payment_id: payment_id }) =>
      [
        ['refund.created', 'PENDING'],
        ['refund.updated', 'COMPLETED'],
        ['refund.updated', 'FAILED'],
      ].map(([type = '', status]) => ({
        type,
        object: {
          ...{ id: `${payment_id}_R`, status, payment_id, amount_money: { amount: 900, currency: 'USD' } },
          created_at: createdText(),
        },
      })),
    dispute: ({ provider_payment_id: payment_id }) =>
      [
        ['dispute.created', 'EVIDENCE_REQUIRED'],
        ['dispute.state.updated', 'PROCESSING'],
        ['dispute.state.updated', 'WON'],
      ].map(([type = '', state]) => ({
        type,
        object: {
          ...{ id: `${payment_id}_D`, state, reason: 'NO_KNOWLEDGE', due_at: dueBy(), created_at: createdText() },
          amount_money: { amount: 2_500, currency: 'USD' },
          disputed_payment: { payment_id },
        },
      })),
  },
};

const permutations = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.length < 2
    ? [items]
    : items.flatMap((item, index) =>
        permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
      );

/** `npm run test:long`: every order of all six events; `npm test`: every order of three events, some of all six. */
const ORDERS: readonly (readonly number[])[] =
  inject('scale') > 1
    ? permutations([0, 1, 2, 3, 4, 5])
    : [...permutations([0, 1, 2]), ...permutations([3, 4, 5]), ...everyNth(103, permutations([0, 1, 2, 3, 4, 5]))];

const sendAll = async (provider: string, events: readonly Sent[], twice: boolean): Promise<void> => {
  for (const { type, object } of events) {
    const sent = await service.control('POST', '/simulator/events', {
      ...{ provider, type, object, vocabulary: 'native', times: twice ? 2 : 1 },
      id: `evt_${Math.random().toString(36).slice(2)}`,
    });
    expect(sent).toMatchObject({ status: 200 });
    await service.settle();
  }
};

const outcomeOf = async (payment: ParsedJson, options: { readonly session?: string }) => {
  const [refunds, disputes] = await Promise.all(
    ['refunds', 'disputes'].map((kind) => service.get(`/payments/${payment.id}/${kind}`, options)),
  );
  const after = await read(service, payment.id, options);
  return {
    refunds: refunds?.body.map(({ status, amount_cents }: ParsedJson) => `${status} ${amount_cents}`),
    disputes: disputes?.body.map(({ status, amount_cents }: ParsedJson) => `${status} ${amount_cents}`),
    refunded: after.refunded_cents,
    refundable: after.refundable_cents,
    disputed: after.disputed,
  };
};

describe.each(PAYING_METHODS)('events about returned money at %s', (...paying: Paying) => {
  test('lead to the same state in every order, once or twice', async () => {
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const [provider] = paying;
    const forms = FORMS[provider];
    if (!forms) throw new Error('no forms');
    for (const [index, order] of ORDERS.entries()) {
      const payment = await paidPayment(service, user, { paying });
      const all = [...forms.refund(payment), ...forms.dispute(payment)];
      const events = order.flatMap((at) => all[at] ?? []);
      await sendAll(provider, events, index % 2 === 0);
      const has = { refund: order.some((at) => at < 3), dispute: order.some((at) => at > 2) };
      expect({ order, ...(await outcomeOf(payment, user.options)) }).toEqual({
        order,
        refunds: has.refund ? ['failed 900'] : [],
        disputes: has.dispute ? ['won 2500'] : [],
        ...{ refunded: 0, refundable: 2_500, disputed: false },
      });
      expectEvents(await eventsOf(service, payment.id), order);
      expect(await storedPayment(service, payment.id)).not.toHaveProperty('openDisputes');
    }
  });
});

/** Each outcome is published once. A dispute that is closed in its first event is not published as opened. */
const expectEvents = (published: readonly string[], order: readonly number[]): void => {
  const count = (name: string): number => published.filter((one) => one === name).length;
  const before = (first: number, later: number): boolean => order.indexOf(first) < order.indexOf(later);
  if (order.includes(0)) {
    expect({ order, failed: count('payment.refund_failed') }).toEqual({ order, failed: 1 });
    expect({ order, refunded: count('payment.refunded') }).toEqual({ order, refunded: before(1, 2) ? 1 : 0 });
  }
  if (order.includes(3)) {
    const opened = before(3, 5) || before(4, 5);
    expect({ order, closed: count('payment.dispute_closed') }).toEqual({ order, closed: 1 });
    expect({ order, opened: count('payment.dispute_opened') }).toEqual({ order, opened: opened ? 1 : 0 });
  }
};

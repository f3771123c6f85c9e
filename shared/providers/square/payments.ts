/**
 * @module Payments at Square. Square has no payment before the charge, so the intent is an order, and each attempt is a
 * payment of that order. Square charges an order only once, and a canceled order can no longer be paid. A hold is not a
 * payment of the order, because an order accepts only its whole amount. The hold names the order in its note and has
 * our reference.
 */

import { createHmac } from 'node:crypto';
import * as z from 'zod';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { cutText } from '../../core/text.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type {
  CallOptions,
  ConfirmIntent,
  CreateIntent,
  KnownPayment,
  ProviderPayment,
  ReportedStatus,
  UpdateIntent,
} from '../payment-port.ts';
import { type SquareMoney, squareAmounts, squareMoney } from './currencies.ts';
import { type SquareCall, squareKey } from './outcome.ts';
import { decisive, holdNote, readSquareOrder, readSquarePayment } from './report.ts';
import { type SquareOrder, type SquarePayment, squareOrderSchema, squarePaymentSchema } from './schemas.ts';

const orderAnswer = z.looseObject({ order: squareOrderSchema });
export const squarePaymentAnswer = z.looseObject({ payment: squarePaymentSchema });
const paymentsAnswer = z.looseObject({
  payments: z.nullish(z.array(z.looseObject({ reference_id: z.nullish(z.string()) }))),
  cursor: z.nullish(z.string()),
});

export interface SquareAccount {
  readonly call: SquareCall;
  readonly locationId: string;
  readonly accessToken: string;
  /** The text on the payer's statement; if empty, the seller's default applies. */
  readonly descriptor: string;
  readonly fingerprintOf: FingerprintOf;
}

type OrderDetails = Pick<CreateIntent, 'description' | 'customerId'>;

export const squarePayments = (account: SquareAccount) => {
  const { call, locationId } = account;
  const orders = squareOrders(account);

  return {
    createIntent: async (input: CreateIntent): Promise<Outcome<ProviderPayment>> => {
      const money = squareMoney(input);
      if (!money) return squareAmounts.refused(input);
      const created = await call({
        method: 'POST',
        path: '/v2/orders',
        body: {
          idempotency_key: squareKey(input.idempotencyKey),
          order: { location_id: locationId, reference_id: input.paymentId, ...contentsOf(input, money) },
        },
        answer: orderAnswer,
      });
      return mapOutcome(created, ({ order }) => ({
        ...readSquareOrder(order, input),
        clientSecret: clientSecret(account, input.paymentId),
      }));
    },

    updateIntent: (input: UpdateIntent): Promise<Outcome<ProviderPayment>> => updateOrder(orders, input),

    confirmIntent: async (input: ConfirmIntent): Promise<Outcome<ProviderPayment>> => {
      const { method, customerId, verificationToken } = input;
      if (method === undefined) {
        return { kind: 'refused', reason: 'MISSING_REQUIRED_PARAMETER', parameter: 'payment_method' };
      }
      const money = squareMoney(input);
      if (!money) return squareAmounts.refused(input);
      const charged = await call({
        method: 'POST',
        path: '/v2/payments',
        body: {
          idempotency_key: squareKey(input.idempotencyKey),
          source_id: method,
          amount_money: money,
          location_id: locationId,
          reference_id: input.paymentId,
          ...(isManual(input)
            ? { ...HELD, note: holdNote(input.intentId) }
            : { order_id: input.intentId, autocomplete: true }),
          ...(account.descriptor !== '' && { statement_description_identifier: account.descriptor }),
          ...(customerId && { customer_id: customerId }),
          ...(verificationToken && { verification_token: verificationToken }),
          ...(input.offSession && { customer_details: { customer_initiated: false } }),
        },
        answer: squarePaymentAnswer,
      });
      return mapOutcome(charged, ({ payment }) => readSquarePayment(payment, account.fingerprintOf, heldFor(input)));
    },

    cancelIntent: (input: KnownPayment & CallOptions): Promise<Outcome<ProviderPayment>> => cancelOrder(orders, input),

    findPayment: (known: KnownPayment): Promise<Outcome<ProviderPayment>> => findSquarePayment(orders, known),
  };
};

/** The client secret in our own API. Square's browser SDK needs the application id and the location instead. */
const clientSecret = ({ accessToken }: SquareAccount, paymentId: string): string =>
  `${paymentId}_secret_${createHmac('sha256', accessToken).update(`client_secret:${paymentId}`).digest('hex').slice(0, 32)}`;

export type SquareOrders = ReturnType<typeof squareOrders>;

export const squareOrders = ({ call, locationId, fingerprintOf }: SquareAccount) => ({
  find: async (orderId: string): Promise<Outcome<SquareOrder>> =>
    mapOutcome(
      await call({ method: 'GET', path: `/v2/orders/${encodeURIComponent(orderId)}`, answer: orderAnswer }),
      ({ order }) => order,
    ),

  /**
   * Updates exactly the version that was read, so no concurrent change is overwritten. The idempotency key contains the
   * version, so no other body uses the same key.
   */
  put: async (order: SquareOrder, changes: object, { idempotencyKey }: CallOptions): Promise<Outcome<SquareOrder>> => {
    const version = order.version ?? 1;
    const put = await call({
      method: 'PUT',
      path: `/v2/orders/${encodeURIComponent(order.id)}`,
      body: {
        idempotency_key: squareKey(idempotencyKey, String(version)),
        order: { location_id: locationId, version, ...changes },
      },
      answer: orderAnswer,
    });
    return mapOutcome(put, (answer) => answer.order);
  },

  findPayment: async (paymentId: string, known: KnownPayment): Promise<Outcome<ProviderPayment>> =>
    mapOutcome(
      await call({ method: 'GET', path: `/v2/payments/${encodeURIComponent(paymentId)}`, answer: squarePaymentAnswer }),
      ({ payment }) => readSquarePayment(payment, fingerprintOf, heldFor(known)),
    ),

  /** The holds of the order's amount, oldest first, including declined holds. */
  findHolds: async (order: SquareOrder): Promise<Outcome<readonly ProviderPayment[]>> => {
    const holds: SquarePayment[] = [];
    let cursor: string | null | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const path = `/v2/payments?${holdsQuery(order, locationId, cursor)}`;
      const page = await call({ method: 'GET', path, answer: paymentsAnswer });
      if (page.kind !== 'done') return page;
      const read = paymentsOf(order, page.value.payments ?? []);
      if (!read) return UNREADABLE;
      holds.push(...read);
      cursor = page.value.cursor;
      if (!cursor) break;
    }
    if (cursor) return UNREADABLE;
    return { kind: 'done', value: holds.map((payment) => readSquarePayment(payment, fingerprintOf, order.id)) };
  },
});

const holdsQuery = (order: SquareOrder, locationId: string, cursor: string | null | undefined): URLSearchParams =>
  new URLSearchParams({
    location_id: locationId,
    total: String(order.total_money.amount),
    sort_order: 'ASC',
    ...(order.created_at && { begin_time: order.created_at }),
    ...(cursor && { cursor }),
  });

interface ListedPayment {
  readonly reference_id?: string | null | undefined;
}

/** @returns undefined if a payment with the order's reference is unreadable; other payments are ignored */
const paymentsOf = (order: SquareOrder, listed: readonly ListedPayment[]): readonly SquarePayment[] | undefined => {
  const read = listed
    .filter(({ reference_id }) => reference_id && reference_id === order.reference_id)
    .map((one) => squarePaymentSchema.safeParse(one).data);
  return read.every((payment) => payment !== undefined) ? read : undefined;
};

/** Maximum number of pages. Each page has 100 payments of the same amount, made after the order. */
const MAX_PAGES = 20;
const UNREADABLE = { kind: 'unknown', reason: 'error' } as const;

/** Square itself cancels the payment after seven days, which is Square's longest possible delay. */
const HELD = { autocomplete: false, delay_duration: 'P7D', delay_action: 'CANCEL' } as const;

const isManual = ({ captureMethod }: Pick<KnownPayment, 'captureMethod'>): boolean => captureMethod === 'manual';

/** The id of our order, if its payments are holds. */
const heldFor = (known: Pick<KnownPayment, 'captureMethod' | 'intentId'>): string | undefined =>
  isManual(known) ? known.intentId : undefined;

const LINE = 'payment';
const MAX_NAME_LENGTH = 512;

/** One line item with the whole amount, because the service computes prices, taxes and discounts. */
const contentsOf = ({ description, customerId }: OrderDetails, money: SquareMoney) => ({
  line_items: [
    {
      uid: LINE,
      name: lineName(description),
      quantity: '1',
      base_price_money: money,
    },
  ],
  ...(customerId && { customer_id: customerId }),
});

const lineName = (description: string | undefined): string => cutText(description || 'Payment', MAX_NAME_LENGTH);

const NOT_OPEN = { kind: 'refused', reason: 'order_not_open' } as const;

/** True if the order is neither paid nor canceled, and no payment of it is in progress. */
const isOpen = ({ state, tenders }: SquareOrder): boolean =>
  state === 'OPEN' &&
  (tenders ?? []).every(({ card_details: card, bank_account_details: bank }) =>
    FAILED_TENDERS.includes(card?.status ?? bank?.status ?? ''),
  );

const FAILED_TENDERS: readonly string[] = ['FAILED', 'VOIDED'];

/** Repeating the update after a lost response changes nothing more. */
const updateOrder = async (orders: SquareOrders, input: UpdateIntent): Promise<Outcome<ProviderPayment>> => {
  const money = squareMoney(input);
  if (!money) return squareAmounts.refused(input);
  const found = await orders.find(input.intentId);
  if (found.kind !== 'done') return found;
  const order = found.value;
  if (!isOpen(order)) return NOT_OPEN;
  return mapOutcome(await orders.put(order, contentsOf(input, money), input), (updated) =>
    readSquareOrder(updated, { method: input.method }),
  );
};

/** An order does not show its holds, so the hold is looked up first. */
const cancelOrder = async (
  orders: SquareOrders,
  input: KnownPayment & CallOptions,
): Promise<Outcome<ProviderPayment>> => {
  const held = isManual(input) ? await findSquarePayment(orders, input) : undefined;
  if (held && (held.kind !== 'done' || held.value.status === 'canceled')) return held;
  if (held && !UNPAID.includes(held.value.status)) return NOT_OPEN;
  const found = await orders.find(input.intentId);
  if (found.kind !== 'done') return found;
  const order = found.value;
  if (order.state === 'CANCELED') return { kind: 'done', value: readSquareOrder(order, input) };
  if (!isOpen(order)) return NOT_OPEN;
  return mapOutcome(await orders.put(order, { state: 'CANCELED' }, input), (canceled) =>
    readSquareOrder(canceled, input),
  );
};

const UNPAID: readonly ReportedStatus[] = ['created', 'requires_payment_method', 'failed'];

const MAX_ATTEMPTS_READ = 5;

/** Final order states, in which a failed attempt does not determine the outcome. */
const ENDED: readonly string[] = ['CANCELED', 'COMPLETED'];

/**
 * The state of the payment, from the deciding attempt, else from the order. The order is read first, because it leads
 * to unrecorded attempts. Only a recorded hold is read without its order.
 */
export const findSquarePayment = async (
  orders: SquareOrders,
  known: KnownPayment,
): Promise<Outcome<ProviderPayment>> => {
  const { attemptRef } = known;
  if (isManual(known) && attemptRef !== undefined) {
    const held = await orders.findPayment(attemptRef, known);
    if (held.kind === 'unknown' || held.kind === 'not_done') return held;
    if (held.kind === 'done' && held.value.status !== 'failed') return held;
  }
  const found = await orders.find(known.intentId);
  if (found.kind !== 'done') return found;
  const order = found.value;
  const attempts = isManual(known) ? await orders.findHolds(order) : await findAttempts(orders, order, known);
  return mapOutcome(attempts, (read) => {
    const payment = decisive(read);
    const isOver = ENDED.includes(order.state ?? '') && payment?.status === 'failed';
    return payment && !isOver ? payment : readSquareOrder(orderOf(order, known), known);
  });
};

/**
 * A canceled order counts as open while a claimed hold is in progress. A hold does not pay the order, so a cancellation
 * of the order after the claim does not prevent the hold.
 */
const orderOf = (order: SquareOrder, known: KnownPayment): SquareOrder =>
  isManual(known) && known.status === 'processing' && order.state === 'CANCELED' ? { ...order, state: 'OPEN' } : order;

/** The recorded attempt, and the order's tenders. */
const findAttempts = async (
  orders: SquareOrders,
  order: SquareOrder,
  known: KnownPayment,
): Promise<Outcome<readonly ProviderPayment[]>> => {
  const tenders = (order.tenders ?? []).map(({ id, payment_id }) => payment_id ?? id ?? undefined);
  const ids = [...new Set([known.attemptRef, ...tenders].filter((id) => id !== undefined))];
  const attempts: ProviderPayment[] = [];
  for (const id of ids.slice(-MAX_ATTEMPTS_READ)) {
    const attempt = await orders.findPayment(id, known);
    if (attempt.kind === 'unknown' || attempt.kind === 'not_done') return attempt;
    if (attempt.kind === 'done') attempts.push(attempt.value);
  }
  return { kind: 'done', value: attempts };
};

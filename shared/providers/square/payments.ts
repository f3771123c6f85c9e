/**
 * @module Payments at Square. Square has no payment before the charge, so the intent is an order, and each attempt is
 * a payment of that order. Square charges an order only once, and a canceled order can no longer be paid.
 */

import { createHmac } from 'node:crypto';
import * as z from 'zod/mini';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { cutText } from '../../core/text.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type {
  CallOptions,
  ConfirmIntent,
  CreateIntent,
  KnownPayment,
  ProviderPayment,
  UpdateIntent,
} from '../payment-port.ts';
import { type SquareMoney, squareAmounts, squareMoney } from './currencies.ts';
import { type SquareCall, squareKey } from './outcome.ts';
import { decisive, readSquareOrder, readSquarePayment } from './report.ts';
import { type SquareOrder, squareOrderSchema, squarePaymentSchema } from './schemas.ts';

const orderAnswer = z.looseObject({ order: squareOrderSchema });
const paymentAnswer = z.looseObject({ payment: squarePaymentSchema });

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
          order_id: input.intentId,
          location_id: locationId,
          reference_id: input.paymentId,
          autocomplete: true,
          ...(account.descriptor !== '' && { statement_description_identifier: account.descriptor }),
          ...(customerId && { customer_id: customerId }),
          ...(verificationToken && { verification_token: verificationToken }),
          ...(input.offSession && { customer_details: { customer_initiated: false } }),
        },
        answer: paymentAnswer,
      });
      return mapOutcome(charged, ({ payment }) => readSquarePayment(payment, account.fingerprintOf));
    },

    cancelIntent: async (input: KnownPayment & CallOptions): Promise<Outcome<ProviderPayment>> => {
      const found = await orders.find(input.intentId);
      if (found.kind !== 'done') return found;
      const order = found.value;
      if (order.state === 'CANCELED') return { kind: 'done', value: readSquareOrder(order, input) };
      if (!isOpen(order)) return NOT_OPEN;
      return mapOutcome(await orders.put(order, { state: 'CANCELED' }, input), (canceled) =>
        readSquareOrder(canceled, input),
      );
    },

    findPayment: async (known: KnownPayment): Promise<Outcome<ProviderPayment>> =>
      mapOutcome(await locate(orders, known), ({ order, payment }) => payment ?? readSquareOrder(order, known)),
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
   * Updates exactly the version that was read. This neither reuses an idempotency key for another body nor overwrites a
   * concurrent change.
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

  findPayment: async (paymentId: string): Promise<Outcome<ProviderPayment>> =>
    mapOutcome(
      await call({ method: 'GET', path: `/v2/payments/${encodeURIComponent(paymentId)}`, answer: paymentAnswer }),
      ({ payment }) => readSquarePayment(payment, fingerprintOf),
    ),
});

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

/** A retry after a lost response changes nothing. */
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

const MAX_ATTEMPTS_READ = 5;

/** Final order states, in which a failed attempt does not determine the outcome. */
const ENDED: readonly string[] = ['CANCELED', 'COMPLETED'];

interface Located {
  readonly order: SquareOrder;
  /** Undefined if the order alone determines the status. */
  readonly payment: ProviderPayment | undefined;
}

/** The payment that decides the status. The order comes first, because its tenders may name attempts unknown to us. */
export const locate = async (
  orders: SquareOrders,
  { intentId, attemptRef }: KnownPayment,
): Promise<Outcome<Located>> => {
  const found = await orders.find(intentId);
  if (found.kind !== 'done') return found;
  const order = found.value;
  const named = [attemptRef, ...(order.tenders ?? []).map(({ id, payment_id }) => payment_id ?? id ?? undefined)];
  const ids = [...new Set(named.filter((id) => id !== undefined))];
  const attempts: ProviderPayment[] = [];
  for (const id of ids.slice(-MAX_ATTEMPTS_READ)) {
    const attempt = await orders.findPayment(id);
    if (attempt.kind === 'unknown' || attempt.kind === 'not_done') return attempt;
    if (attempt.kind === 'done') attempts.push(attempt.value);
  }
  const payment = decisive(attempts);
  const isOver = ENDED.includes(order.state ?? '') && payment?.status === 'failed';
  return { kind: 'done', value: { order, payment: isOver ? undefined : payment } };
};

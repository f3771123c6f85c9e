/** @module A customer's lifetime revenue, from its payments and refunds. */

import { answerOf, api } from '../api/client.ts';
import type { Customer, Payment, Refund } from '../api/types.ts';
import { readPayments } from './customer-records.ts';

/** Minor units by currency. */
type Sums = Map<string, number>;

export interface LifetimeSums {
  readonly paid: ReadonlyMap<string, number>;
  readonly refunded: ReadonlyMap<string, number>;
  readonly lost: ReadonlyMap<string, number>;
  /** After fees, refunds and lost disputes, by settlement currency. */
  readonly net: ReadonlyMap<string, number>;
  readonly payments: number;
  /** True if some of the customer's payments were not read. */
  readonly isPartial: boolean;
}

const MOST_PAGES = 5;

const readPaid = async (customer: Customer) => {
  const paid: Payment[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { rows, next } = await readPayments(customer, cursor);
    paid.push(...rows.filter(({ status }) => status === 'succeeded'));
    cursor = next;
    if (cursor === undefined) break;
  }
  return { paid, isPartial: cursor !== undefined };
};

const readRefunds = async ({ id }: Payment): Promise<readonly Refund[]> =>
  (await answerOf(api.GET('/payments/{id}/refunds', { params: { path: { id } } }))).data;

const add = (sums: Sums, currency: string, cents: number): void => {
  if (cents !== 0) sums.set(currency, (sums.get(currency) ?? 0) + cents);
};

/** Adds the settled net amount, or the plain amount while the settlement is unknown. */
const addNet = (net: Sums, { settlement, currency }: Pick<Payment, 'settlement' | 'currency'>, cents: number): void => {
  if (settlement) add(net, settlement.currency, settlement.net_cents);
  else add(net, currency, cents);
};

/** Deducts a lost dispute in the settlement currency, at the rate of its payment. */
const addLoss = (net: Sums, { settlement, currency, lost_cents: lost, amount_cents: amount }: Payment): void => {
  const isConverted = settlement && settlement.currency !== currency && amount > 0;
  const rate = isConverted ? (settlement.fee_cents + settlement.net_cents) / amount : 1;
  add(net, settlement?.currency ?? currency, -Math.round(lost * rate));
};

export const readLifetime = async (customer: Customer): Promise<LifetimeSums> => {
  const { paid: payments, isPartial } = await readPaid(customer);
  const [paid, refunded, lost, net]: [Sums, Sums, Sums, Sums] = [new Map(), new Map(), new Map(), new Map()];
  for (const payment of payments) {
    add(paid, payment.currency, payment.amount_cents);
    add(refunded, payment.currency, payment.refunded_cents);
    add(lost, payment.currency, payment.lost_cents);
    addNet(net, payment, payment.amount_cents);
    addLoss(net, payment);
  }
  const refunds = await Promise.all(payments.filter(({ refunded_cents }) => refunded_cents > 0).map(readRefunds));
  for (const refund of refunds.flat()) {
    if (refund.status === 'succeeded') addNet(net, refund, -refund.amount_cents);
  }
  return { paid, refunded, lost, net, payments: payments.length, isPartial };
};

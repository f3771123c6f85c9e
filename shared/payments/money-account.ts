/**
 * @module The account of a payment: its held, captured, refunded and lost amounts. All readers of amounts use this
 * account.
 */

import type { Payment } from './payment.ts';

/** Amounts in minor units of the payment's currency. None is negative. */
export interface MoneyAccount {
  /** The amount that the provider held for a capture; 0 for a payment without a hold. */
  readonly authorized: number;
  /** The amount that the provider took. */
  readonly captured: number;
  /** The sum of the refunds that succeeded. */
  readonly refunded: number;
  /** The sum of the pending refunds. */
  readonly refunding: number;
  /** The sum of the open disputes. */
  readonly disputed: number;
  /** The sum of the lost disputes. */
  readonly lost: number;
  /** The amount that can be refunded now. */
  readonly refundable: number;
}

export type AccountFields = Pick<
  Payment,
  'status' | 'totalCents' | 'authorizedCents' | 'refundedCents' | 'refundingCents' | 'disputes'
>;

/** @param options.despiteDispute true to allow refunds despite open disputes; lost amounts are never refundable */
export const moneyAccount = (
  payment: AccountFields,
  { despiteDispute = false }: { readonly despiteDispute?: boolean | undefined } = {},
): MoneyAccount => {
  const { authorizedCents: authorized = 0, refundedCents: refunded = 0, refundingCents: refunding = 0 } = payment;
  const { disputes = [] } = payment;
  const captured = payment.status === 'succeeded' ? payment.totalCents : 0;
  const lost = sumOf(disputes.filter(({ lostAt }) => lostAt !== undefined));
  const disputed = sumOf(disputes.filter(({ lostAt }) => lostAt === undefined));
  const left = captured - refunded - refunding - lost - (despiteDispute ? 0 : disputed);
  return { authorized, captured, refunded, refunding, disputed, lost, refundable: Math.max(0, left) };
};

const sumOf = (disputes: NonNullable<AccountFields['disputes']>): number =>
  disputes.reduce((sum, { amountCents }) => sum + amountCents, 0);

/** The ids of the open disputes. */
export const openDisputesOf = ({ disputes = [] }: Pick<Payment, 'disputes'>): readonly string[] =>
  disputes.filter(({ lostAt }) => lostAt === undefined).map(({ id }) => id);

/** The sums of a payment's refunds and disputes, for views and CSV. */
export const accountView = (payment: AccountFields) => {
  const { refunded, refundable, disputed, lost } = moneyAccount(payment);
  return { refunded_cents: refunded, refundable_cents: refundable, disputed_cents: disputed, lost_cents: lost };
};

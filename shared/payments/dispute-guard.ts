/** @module Prevents accidental refunds during an open dispute, because the payer could get the money twice. */

import { DomainError } from '../core/errors.ts';
import { isClosedDispute } from '../core/money-back.ts';
import type { Table } from '../platform/table.ts';
import { type Dispute, disputeKey, disputeOf } from './dispute.ts';
import { openDisputesOf } from './money-account.ts';
import type { VisiblePayment } from './payment.ts';

type Named = Pick<VisiblePayment, 'id' | 'disputes'>;

/** @throws DomainError PAYMENT_DISPUTED during an open dispute, unless the caller sends `despite_dispute` */
export const requireUndisputed = async (
  table: Table,
  payment: Named,
  despiteDispute: boolean | null | undefined,
): Promise<void> => {
  if (despiteDispute || openDisputesOf(payment).length === 0) return;
  throw new DomainError('PAYMENT_DISPUTED', { details: await describeDispute(table, payment) });
};

/**
 * The error of a refund that the provider refuses because of a dispute. After a lost dispute the bank has already given
 * the money back.
 */
export const refusedAsDisputed = async (
  table: Table,
  payment: Named,
  details: Readonly<Record<string, unknown>>,
): Promise<DomainError> =>
  new DomainError('PAYMENT_DISPUTED', {
    message: 'The provider refuses this refund because the payment is disputed',
    details: { ...details, ...(await describeDispute(table, payment)) },
  });

/** The error of a refund of an amount that a lost dispute has taken. */
export const takenByLostDispute = async (table: Table, payment: Named): Promise<DomainError> => {
  const dispute = await lostDispute(table, payment);
  return new DomainError('PAYMENT_DISPUTED', {
    message: 'A lost dispute has already given this amount back to the payer',
    details: { dispute_id: dispute?.id ?? null, status: 'lost' },
  });
};

const describeDispute = async (table: Table, payment: Named) => {
  const dispute = await openDispute(table, payment);
  const named = dispute ?? (await lostDispute(table, payment));
  return { dispute_id: named?.id ?? null, status: named?.status ?? null };
};

/** The first open dispute that waits for evidence, or else the first open dispute. */
const openDispute = async (table: Table, payment: Named): Promise<Dispute | undefined> => {
  const items = await table.getMany(openDisputesOf(payment).map(disputeKey), { consistent: true });
  const open = items
    .flatMap((item) => (item ? [disputeOf(item)] : []))
    .filter(({ status }) => !isClosedDispute(status));
  return open.find(({ status }) => status === 'needs_response') ?? open[0];
};

const lostDispute = async (table: Table, { disputes = [] }: Named): Promise<Dispute | undefined> => {
  const lost = disputes.filter(({ lostAt }) => lostAt !== undefined);
  const items = await table.getMany(
    lost.map(({ id }) => disputeKey(id)),
    { consistent: true },
  );
  return items.flatMap((item) => (item ? [disputeOf(item)] : [])).findLast(({ status }) => status === 'lost');
};

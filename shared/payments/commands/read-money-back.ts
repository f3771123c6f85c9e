import type { NotDone, Outcome, Unknown } from '../../core/outcome.ts';
import type { RefundsPort } from '../../providers/port/refunds.ts';
import { recordDispute } from '../disputes/record.ts';
import type { VisiblePayment } from '../record/payment.ts';
import { chargedAs } from '../refunds/attempt.ts';
import { recordReportedRefunds } from '../refunds/reports.ts';
import type { RefundStoreDeps } from '../refunds/store.ts';

export interface MoneyBackParts {
  readonly deps: RefundStoreDeps;
  readonly port: RefundsPort;
  readonly payment: VisiblePayment;
}

/** The answer of a read that did not succeed; undefined where everything was read and stored. */
type Unread = NotDone | Unknown | { readonly kind: 'refused' } | undefined;

const unreadOf = (read: Exclude<Outcome<unknown>, { kind: 'done' }>): Unread =>
  read.kind === 'not_done' || read.kind === 'unknown' ? read : { kind: 'refused' };

/** Reads and stores the refunds that the provider has of a payment. */
export const readRefundsOf = async ({ deps, port, payment }: MoneyBackParts): Promise<Unread> => {
  const read = await port.listRefunds(chargedAs(payment));
  if (read.kind !== 'done') return unreadOf(read);
  await recordReportedRefunds(deps, payment, read.value);
  return undefined;
};

/** Reads and stores refunds and disputes: whatever was made at the provider appears here. */
export const readMoneyBack = async (parts: MoneyBackParts): Promise<Unread> => {
  const unread = await readRefundsOf(parts);
  if (unread) return unread;
  const { deps, port, payment } = parts;
  const read = await port.listDisputes(chargedAs(payment));
  if (read.kind !== 'done') return unreadOf(read);
  for (const report of read.value) await recordDispute(deps, { payment, report });
  return undefined;
};

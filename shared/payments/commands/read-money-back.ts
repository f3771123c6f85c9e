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

/** Why not everything was read; undefined where it was, or where the provider refuses to tell. */
type Unread = NotDone | Unknown | undefined;

/** An account may lack the right to read disputes, or the provider an old order: that stops nothing else. */
const unreadOf = ({ deps, payment }: MoneyBackParts, read: Exclude<Outcome<unknown>, { kind: 'done' }>): Unread => {
  if (read.kind === 'not_done' || read.kind === 'unknown') return read;
  const reason = read.kind === 'refused' ? read.reason : read.code;
  deps.log.warn('money back not read', { payment_id: payment.id, provider: payment.providerId, reason });
  return undefined;
};

/** Reads and stores the refunds that the provider has of a payment. */
export const readRefundsOf = async (parts: MoneyBackParts): Promise<Unread> => {
  const { deps, port, payment } = parts;
  const read = await port.listRefunds(chargedAs(payment));
  if (read.kind !== 'done') return unreadOf(parts, read);
  await recordReportedRefunds(deps, payment, read.value);
  return undefined;
};

/** Reads and stores refunds and disputes: whatever was made at the provider appears here. */
export const readMoneyBack = async (parts: MoneyBackParts): Promise<Unread> => {
  const unread = await readRefundsOf(parts);
  if (unread) return unread;
  const { deps, port, payment } = parts;
  const read = await port.listDisputes(chargedAs(payment));
  if (read.kind !== 'done') return unreadOf(parts, read);
  for (const report of read.value) await recordDispute(deps, { payment, report });
  return undefined;
};

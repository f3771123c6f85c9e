import type { NotDone, Outcome, Unknown } from '../core/outcome.ts';
import type { RefundsPort } from '../providers/refund-port.ts';
import { type RecordedDispute, recordDispute } from './dispute-store.ts';
import type { VisiblePayment } from './payment.ts';
import { chargedAs } from './refunds/refund-attempt.ts';
import { recordReportedRefunds } from './refunds/refund-reports.ts';
import type { RefundStoreDeps } from './refunds/refund-store.ts';

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

/** What a read of disputes has shown, or why it showed nothing. */
export interface DisputesRead {
  readonly unread: Unread;
  /** What became of each dispute, by the provider's id. */
  readonly recorded: ReadonlyMap<string, RecordedDispute>;
}

/** Another read settles what is unclear after one; more are not needed unless the provider moves the dispute meanwhile. */
const MOST_READS = 3;

/** Reads and stores the disputes of a payment. Reports whose order nothing tells are settled by reading once more. */
export const readDisputesOf = async (parts: MoneyBackParts): Promise<DisputesRead> => {
  const all = new Map<string, RecordedDispute>();
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const { unread, recorded } = await readDisputesOnce(parts);
    if (unread) return { unread, recorded: all };
    for (const [id, one] of recorded) if (all.get(id)?.kind !== 'applied') all.set(id, one);
    if (![...recorded.values()].some(({ isUnclear }) => isUnclear)) break;
  }
  return { unread: undefined, recorded: all };
};

const readDisputesOnce = async (parts: MoneyBackParts): Promise<DisputesRead> => {
  const { deps, port, payment } = parts;
  const at = deps.now();
  const recorded = new Map<string, RecordedDispute>();
  const read = await port.listDisputes(chargedAs(payment));
  if (read.kind !== 'done') return { unread: unreadOf(parts, read), recorded };
  for (const report of read.value) {
    recorded.set(report.disputeId, await recordDispute(deps, { payment, report, by: 'read', at }));
  }
  return { unread: undefined, recorded };
};

/** Reads and stores refunds and disputes: whatever was made at the provider appears here. */
export const readMoneyBack = async (parts: MoneyBackParts): Promise<Unread> =>
  (await readRefundsOf(parts)) ?? (await readDisputesOf(parts)).unread;

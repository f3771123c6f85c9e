/**
 * @module The transition table of a refund. Reports of the provider (responses, events, reads) move a refund only
 * forward in ORDER. A bank may return a succeeded refund, so `failed` comes last.
 */

import type { RefundStatus } from '../../core/money-back.ts';
import type { Transitions } from '../../core/states.ts';
import type { ProviderRefund } from '../../providers/refund-port.ts';
import type { Refund } from './refund.ts';

const ORDER: Readonly<Record<RefundStatus, number>> = { pending: 0, canceled: 1, succeeded: 2, failed: 3 };

/**
 * `report` is a status that the provider reports, and `refusal` is the provider's refusal. `limit` means the refund did
 * not reach the provider in time, `duplicate` that another record has the same refund. `erasure` removes personal data
 * and keeps the status.
 */
export type RefundCause = 'report' | 'refusal' | 'limit' | 'duplicate' | 'erasure';

export const REFUND_TRANSITIONS: Transitions<RefundStatus, RefundCause> = {
  pending: {
    report: ['canceled', 'succeeded', 'failed'],
    refusal: ['failed'],
    limit: ['failed'],
    duplicate: ['canceled'],
  },
  canceled: { report: ['succeeded', 'failed'] },
  succeeded: { report: ['failed'], duplicate: ['canceled'] },
  // A refund that failed here without a provider's report may still appear at the provider.
  failed: { report: ['pending', 'canceled', 'succeeded'], duplicate: ['canceled'] },
};

/** True if the refund failed here before the provider reported anything about it. */
const failedUnreported = ({ status, providerRefundId }: Refund): boolean =>
  status === 'failed' && providerRefundId === undefined;

/** True if the reported status is later in ORDER, or if the refund failed here before any report. */
export const isLaterRefund = (refund: Refund, reported: RefundStatus): boolean =>
  failedUnreported(refund) || ORDER[reported] > ORDER[refund.status];

/** How a provider's report contradicts the record; undefined if they agree. */
export const refundMismatch = (
  refund: Pick<Refund, 'amountCents' | 'currency'>,
  report: Pick<ProviderRefund, 'amountCents' | 'currency'>,
): 'amount differs' | 'currency differs' | undefined => {
  if (report.amountCents !== refund.amountCents) return 'amount differs';
  return report.currency === refund.currency ? undefined : 'currency differs';
};

/** @module Only the merchant captures or releases a hold, never the payer. */

import { requireOthersPayment } from '../../access/own-payment.ts';
import { type CallerRight, underRight } from '../../access/right.ts';
import { DomainError } from '../../core/errors.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { Changed } from '../../platform/change.ts';
import type { Table } from '../../platform/table.ts';
import type { VisiblePayment } from '../payment.ts';
import type { PaymentStore } from '../payment-store.ts';

/** @throws DomainError INSUFFICIENT_PERMISSIONS for the payer, and for staff and keys without the scope */
export const requireMerchantOfHold = (
  table: Pick<Table, 'get'>,
  payment: VisiblePayment,
  { caller }: Pick<ApiRequest, 'caller'>,
): Promise<CallerRight> => requireOthersPayment(table, { caller, record: payment, scope: 'payments:capture' });

interface HoldClaim {
  readonly right: CallerRight;
  /** Returns the next version; undefined if nothing is left to do. */
  readonly decide: (current: VisiblePayment) => VisiblePayment | undefined;
}

/** Claims a capture or a release. @throws the refusal of `decide`, or if the caller has lost the right */
export const claimByMerchant = (
  store: PaymentStore,
  payment: VisiblePayment,
  { right, decide }: HoldClaim,
): Promise<Changed<VisiblePayment>> =>
  underRight(right, async () => {
    const claimed = await store.change(payment, (current) => {
      const next = decide(current);
      return next && { next, onlyIf: right.onlyIf };
    });
    if (claimed.unmet) throw new DomainError('VERSION_CONFLICT');
    return claimed;
  });

/** The refusal of a capture or a release. The details say how an earlier hold ended. */
export const isNotHeld = ({ status, holdEnd, totalCents }: VisiblePayment): DomainError =>
  new DomainError('INVALID_STATE', {
    message: `The payment is ${status}, so nothing is held`,
    details: {
      status,
      ...(status === 'canceled' && holdEnd && { reason: holdEnd === 'expired' ? 'expired' : 'released' }),
      ...(status === 'succeeded' && { reason: 'captured', captured_cents: totalCents }),
    },
  });

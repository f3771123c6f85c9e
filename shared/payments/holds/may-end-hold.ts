/** @module Only the merchant captures or releases a hold, never the payer. */

import { scopeMissing } from '../../access/access.ts';
import { type Caller, mayAsMerchant } from '../../access/caller.ts';
import { DomainError } from '../../core/errors.ts';
import type { VisiblePayment } from '../payment.ts';

const SCOPE = 'payments:capture';

/** @throws DomainError INSUFFICIENT_PERMISSIONS for the payer, and for staff and keys without the scope */
export const requireMerchantOfHold = (caller: Caller, { userId }: VisiblePayment): void => {
  if (!mayAsMerchant(caller, SCOPE)) throw scopeMissing(SCOPE);
  if (caller.kind !== 'session' || caller.userId !== userId) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'You made this payment, so another person of the merchant must capture or release it',
  });
};

/** The refusal of a capture or a release, with the end of the hold if the payment was held. */
export const isNotHeld = ({ status, holdEnd, totalCents }: VisiblePayment): DomainError =>
  new DomainError('INVALID_STATE', {
    message: `The payment is ${status}, so nothing is held`,
    details: {
      status,
      ...(status === 'canceled' && holdEnd && { reason: holdEnd === 'expired' ? 'expired' : 'released' }),
      ...(status === 'succeeded' && { reason: 'captured', captured_cents: totalCents }),
    },
  });

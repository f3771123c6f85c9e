/**
 * @module Checks that the provider can charge a total, before anything is written or sent. A total of 0 needs no check,
 * because a total of 0 is never charged.
 */

import { assertNever, DomainError, invalid } from '../core/errors.ts';
import type { Prices } from '../core/money.ts';
import type { AmountRefusal } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';

type Total = Pick<Prices, 'totalCents'> & { readonly currency: string };

/**
 * @param isRepeat resolves to true if the request was accepted before; a refusal is then ignored
 * @throws DomainError UNSUPPORTED_CURRENCY, AMOUNT_TOO_SMALL, VALIDATION_ERROR if the provider cannot express the total
 * or the total is too large, PROVIDER_ERROR if the provider refuses the check, or PROVIDER_UNAVAILABLE if the check
 * needs the provider and the provider is unreachable
 */
export const requireAcceptedAmount = async (
  provider: PaymentProvider,
  total: Total,
  isRepeat: () => Promise<boolean> = async () => false,
): Promise<void> => {
  if (total.totalCents === 0) return;
  const refusal = await provider.checkAmount({ amountCents: total.totalCents, currency: total.currency });
  if (refusal && !(await isRepeat())) throw errorOf(provider.slot, total, refusal);
};

/**
 * The unit to which the provider needs this total rounded, in minor units of its currency; 1 if the provider can
 * express the total.
 */
export const unitOfAmount = async (provider: PaymentProvider, { totalCents, currency }: Total): Promise<number> => {
  const refusal = totalCents <= 0 ? undefined : await provider.checkAmount({ amountCents: totalCents, currency });
  return refusal?.kind === 'not expressible' ? refusal.multipleOf : 1;
};

const errorOf = (slot: string, { totalCents, currency }: Total, refusal: AmountRefusal): DomainError => {
  switch (refusal.kind) {
    case 'currency': {
      const message = refusal.only ? `${slot} accepts only ${refusal.only}` : `${slot} does not accept ${currency}`;
      return new DomainError('UNSUPPORTED_CURRENCY', {
        message,
        details: [{ path: 'currency', rule: 'provider', message }],
      });
    }
    case 'not expressible': {
      const message = `must be a multiple of ${refusal.multipleOf} in ${currency} at ${slot}`;
      return invalid([{ path: 'total_cents', rule: 'multiple_of', message }]);
    }
    case 'too large': {
      const message = `must not exceed ${refusal.maximumCents} in ${currency} at ${slot}`;
      return invalid([{ path: 'total_cents', rule: 'max', message }]);
    }
    case 'too small':
      return new DomainError('AMOUNT_TOO_SMALL', {
        message: `The total must be at least ${refusal.minimumCents} in ${currency} at ${slot}, not ${totalCents}`,
        details: { minimum_cents: refusal.minimumCents, currency },
      });
    case 'not known':
      return refusal.outcome.kind === 'refused'
        ? new DomainError('PROVIDER_ERROR', { details: { provider_code: refusal.outcome.reason } })
        : new DomainError('PROVIDER_UNAVAILABLE');
    default:
      return assertNever(refusal);
  }
};

/** @module The amount due for a plan change, rounded to an amount chargeable at the provider. */

import { DomainError, invalid } from '../../core/errors.ts';
import { requireAcceptedAmount, unitOfAmount } from '../../payments/accepted-amount.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import type { SubscriptionDeps } from '../billing/biller.ts';
import type { Subscription } from '../record/subscription.ts';
import type { ChangePlanBody } from '../record/subscription-requests.ts';
import { inUnits, linesOfChange } from './plan-change-price.ts';
import type { PricedChange } from './plan-change-steps.ts';
import type { TimedChange } from './plan-change-time.ts';

export interface PayableChange extends PricedChange, Pick<TimedChange, 'kind'> {}

interface ChangeRequest {
  readonly record: Subscription;
  readonly body: ChangePlanBody;
}

/**
 * Rounds the amount due to the provider's unit, and checks that the provider can charge it.
 * @throws DomainError PRICE_CHANGED, or the reason why the provider cannot charge the amount due
 */
export const payableChange = async (
  { providers }: Pick<SubscriptionDeps, 'providers'>,
  { record, body }: ChangeRequest,
  exact: TimedChange,
): Promise<PayableChange> => {
  const provider = await providers.require(record.providerId, 'payments');
  const { currency } = record;
  const unit = await unitOfAmount(provider, { totalCents: exact.price.due.totalCents, currency });
  const price = unit === 1 ? exact.price : inUnits(exact.price, unit);
  const { totalCents } = price.due;
  if (body.expected_cents !== undefined && body.expected_cents !== totalCents) {
    throw new DomainError('PRICE_CHANGED', { details: { due_now_cents: totalCents } });
  }
  if (price.isRoundedAway) throw await roundedAwayError(provider, { unit, currency });
  try {
    await requireAcceptedAmount(provider, { totalCents, currency });
  } catch (error) {
    throw error instanceof DomainError ? dueError(error, `${totalCents} in ${currency}`) : error;
  }
  return { ...exact, price, lines: exact.lineTerms ? linesOfChange(price, exact.lineTerms) : [] };
};

const roundedAwayError = async (
  provider: PaymentProvider,
  { unit, currency }: { readonly unit: number; readonly currency: string },
): Promise<DomainError> => {
  const refusal = await provider.checkAmount({ amountCents: unit, currency });
  const minimum = refusal?.kind === 'too small' ? refusal.minimumCents : unit;
  const details = { minimum_cents: minimum, currency };
  return dueError(new DomainError('AMOUNT_TOO_SMALL', { details }), `Less than ${unit} in ${currency}`);
};

/** Rewords the error about the amount due, and says what the payer can do. */
const dueError = (error: DomainError, amount: string): DomainError => {
  const message = `${amount} is due now, which the provider cannot charge; use period_end`;
  if (error.code === 'AMOUNT_TOO_SMALL') return new DomainError(error.code, { message, details: error.details ?? [] });
  return error.code === 'VALIDATION_ERROR' ? invalid([{ path: 'when', rule: 'provider', message }]) : error;
};

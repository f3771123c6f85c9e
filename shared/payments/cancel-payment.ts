import { scopeMissing } from '../access/access.ts';
import { audienceOf } from '../access/audience.ts';
import { mayAsMerchant } from '../access/caller.ts';
import { requireFree } from '../calls/exclusions.ts';
import { DomainError } from '../core/errors.ts';
import { replayedFor } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { cancelIntent } from './cancel-intent.ts';
import { isNotHeld } from './holds/may-end-hold.ts';
import { releaseHold } from './holds/release-hold.ts';
import { isOfSubscription, type VisiblePayment } from './payment.ts';
import { openCallsOfPayment } from './payment-decisions.ts';
import { paymentStore } from './payment-store.ts';
import { paymentView } from './payment-view.ts';

/**
 * Cancels an unconfirmed or pending payment, first at the provider and then in its record. Releases a held payment,
 * which only the merchant may do.
 */
export const cancelPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ id: string }, unknown, unknown, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = request.record;
  const audience = audienceOf(request.caller);
  if (payment.status === 'canceled')
    return { data: paymentView(payment, audience), ...replayedFor(request.idempotency) };
  if (isOfSubscription(payment)) {
    throw new DomainError('INVALID_STATE', {
      message: 'Cancel the subscription instead',
      details: { subscription_id: payment.subscriptionId },
    });
  }
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const parts = { deps, store, provider };
  if (payment.status === 'requires_capture') return releaseHold(parts, payment, request);
  requireFree('cancellation', openCallsOfPayment(payment));
  if (payment.status === 'succeeded' && payment.captureMethod === 'manual') throw isNotHeld(payment);
  if (payment.status === 'failed' || payment.status === 'succeeded') {
    throw new DomainError('INVALID_STATE', { message: `A ${payment.status} payment cannot be canceled` });
  }
  requireMayCancel(request);
  const canceled = await cancelIntent(parts, payment, 'cancel');
  if (canceled.status === 'requires_capture') return releaseHold(parts, canceled, request);
  if (canceled.status !== 'canceled') {
    throw new DomainError('INVALID_STATE', { message: `The payment is ${canceled.status}` });
  }
  return { data: paymentView(canceled, audience) };
};

/**
 * Requires `payments:operate` of a merchant. The scope `payments:capture` also permits the route, but only for a held
 * payment.
 */
const requireMayCancel = ({ asAdmin, caller }: Pick<ApiRequest, 'asAdmin' | 'caller'>): void => {
  if (asAdmin && !mayAsMerchant(caller, 'payments:operate')) throw scopeMissing('payments:operate');
};

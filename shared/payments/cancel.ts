import { DomainError } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { unanswered } from '../providers/done.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { knownOf, reported } from './changes.ts';
import type { MoneyDeps } from './deps.ts';
import { moveOn } from './move-on.ts';
import { type ChangeCause, isOfSubscription, type VisiblePayment } from './payment.ts';
import { abandonDraft } from './settle-draft.ts';
import { type PaymentStore, paymentStore } from './store.ts';
import { isSettled, mayChange } from './transitions.ts';
import { paymentView } from './view.ts';

/** Cancels an unconfirmed payment; here only once the provider has. */
export const cancelPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ id: string }, unknown, unknown, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = request.record;
  if (payment.status === 'canceled') return { data: paymentView(payment) };
  if (isOfSubscription(payment)) {
    throw new DomainError('INVALID_STATE', {
      message: 'It is collected by its subscription: cancel that',
      details: { subscription_id: payment.subscriptionId },
    });
  }
  if (payment.status === 'processing') throw new DomainError('PAYMENT_IN_PROGRESS');
  if (!mayChange(payment.status, 'canceled', 'cancel')) {
    throw new DomainError('INVALID_STATE', { message: `A ${payment.status} payment cannot be canceled` });
  }
  const provider = await deps.providers.forPayments(payment.providerId);
  const canceled = await cancelAtProvider(deps, store, provider, payment, 'cancel');
  if (canceled.status !== 'canceled') {
    throw new DomainError('INVALID_STATE', { message: `The payment is ${canceled.status}` });
  }
  return { data: paymentView(canceled) };
};

/**
 * Cancels at the provider, then here. Where the provider refuses, what it has instead is stored. An unclear update that
 * the provider has not taken is dropped first.
 */
export const cancelAtProvider = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  provider: PaymentProvider,
  record: VisiblePayment,
  cause: ChangeCause,
): Promise<VisiblePayment> => {
  const payment = await abandonDraft({ deps, store, provider }, record);
  if (payment !== record && isSettled(payment.status)) return payment;
  const known = knownOf(payment);
  let outcome = await provider.cancelIntent({ ...known, idempotencyKey: `${payment.id}:cancel` });
  if (outcome.kind === 'refused') outcome = await provider.findPayment(known);
  const details = { payment_id: payment.id };
  if (outcome.kind === 'unknown' || outcome.kind === 'not_done') throw unanswered(outcome, details);
  if (outcome.kind !== 'done') throw new DomainError('PROVIDER_ERROR', { details });
  const report = outcome.value;
  if (report.status === payment.status) return payment;
  return moveOn({ store, now: deps.now(), payment, status: report.status, cause, facts: reported(report) });
};

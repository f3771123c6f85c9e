/** @module Changes a subscription's plan (product, quantity, price or interval), now or when the next period opens. */

import { underRight } from '../../access/right.ts';
import { DomainError } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { keyMark, replayedFor } from '../../http/idempotency.ts';
import type { Reply } from '../../http/request.ts';
import { requireHeld, type UsableMethod } from '../../payment-methods/usable-method.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import { paymentKey } from '../../platform/keys.ts';
import type { TransactionStep } from '../../platform/table.ts';
import { declinedError } from '../../providers/unwrap.ts';
import { finishPriceUpdate } from '../at-provider/price-at-provider.ts';
import { invalidStateError } from '../at-provider/provider-biller.ts';
import { openPaymentView } from '../billing/open-payment.ts';
import { pendingChangeView } from '../record/plan-change-view.ts';
import { isLive, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { commandView } from '../record/subscription-view.ts';
import { type ChargedChange, chargeChange, continueChange } from './finish-change.ts';
import { requirePeriodLeft, requirePeriodPaid, requirePlanChangeable, requireRenewal } from './plan-change-states.ts';
import { changeUnderKey, claimChange, scheduleChange } from './plan-change-steps.ts';
import {
  isSamePlan,
  isScheduled,
  type PlanChangeDeps,
  type PlanChangeRequest,
  readWantedChange,
  type WantedChange,
} from './plan-change-terms.ts';

/**
 * A plan change with an amount due now creates one payment; its id derives from subscription and change. Once that
 * payment is paid, the change is always applied, even if a later step fails and due work must retry.
 */
export const changePlan = async (deps: PlanChangeDeps, request: PlanChangeRequest): Promise<Reply> => {
  const repeated = repeatedReply(request, deps.now());
  if (repeated) return repeated;
  const wanted = await readWantedChange(deps, request, { isClaiming: true });
  return underRight(wanted.merchantRight, () =>
    wanted.when === 'now' ? changeNow(deps, request, wanted) : changeLater(deps, request, wanted),
  );
};

/** Shows the change already claimed under the request's key. @returns undefined if no change was claimed */
const repeatedReply = ({ record, idempotency }: PlanChangeRequest, now: Instant): Reply | undefined => {
  const found = changeUnderKey(record, idempotency, now);
  if (found === undefined) return undefined;
  const reply = found === 'open' ? openReply(record) : { data: commandView(record) };
  return { ...reply, ...replayedFor(idempotency) };
};

const changeNow = async (deps: PlanChangeDeps, request: PlanChangeRequest, wanted: WantedChange): Promise<Reply> => {
  const { record, right } = request;
  const id = deps.newId('change');
  const claimed = await subscriptionStore(deps.table).change(
    record,
    (current) => {
      requireChangeable(record, current);
      requirePeriodLeft(current, deps.now());
      requirePeriodPaid(current);
      return claimChange(current, wanted, { id, now: deps.now(), key: keyMark(request.idempotency) });
    },
    [...right.onlyIf, ...wanted.merchantRight.onlyIf, ...creditConditions(wanted)],
  );
  if (wanted.method === undefined) return replyOf(deps, record, { subscription: await continueChange(deps, claimed) });
  const { subscription, payment } = await charge(deps, request, claimed, wanted.method);
  if (subscription.change === undefined || subscription.change.step === 'dropped') requirePaid(payment);
  return replyOf(deps, record, { subscription, payment });
};

/** Fails the write if a payment behind the credit has changed since it was read. */
const creditConditions = ({ paying, price }: WantedChange): readonly TransactionStep[] =>
  paying === undefined || price.unused.totalCents === 0
    ? []
    : [...paying.payments].map(([id, { version }]) => ({
        check: paymentKey(id),
        if: [{ equals: ['version', version] }],
      }));

/** @throws DomainError why nothing was charged, such as a method no longer usable */
const charge = async (
  deps: PlanChangeDeps,
  { caller, right, record }: PlanChangeRequest,
  claimed: Subscription,
  method: UsableMethod,
): Promise<ChargedChange> => {
  try {
    return await chargeChange(deps, claimed, { method, right: right.onlyIf });
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VERSION_CONFLICT') {
      await requireHeld({ table: deps.table, caller }, record, record);
    }
    throw error;
  }
};

const requirePaid = ({ status, failureCode }: VisiblePayment): void => {
  if (status === 'failed') throw declinedError({ code: failureCode ?? 'processing_error' });
};

/** Requires the plan used to price the request. @throws DomainError VERSION_CONFLICT if it has changed */
const requireChangeable = (record: VisibleSubscription, current: Subscription): void => {
  requirePlanChangeable(current);
  const isSame =
    isSamePlan(record, current) &&
    PRICED_BY.every((field) => record[field] === current[field]) &&
    record.scheduledChange?.id === current.scheduledChange?.id;
  if (!isSame) throw new DomainError('VERSION_CONFLICT');
};

/** Fields other than the plan that affect the price of a change. */
const PRICED_BY = ['status', 'paymentMethodId', 'currentPeriodStart', 'currentPeriodEnd'] as const;

const changeLater = async (deps: PlanChangeDeps, request: PlanChangeRequest, wanted: WantedChange): Promise<Reply> => {
  const { record, right } = request;
  const id = deps.newId('change');
  const scheduled = await subscriptionStore(deps.table).change(
    record,
    (current) => {
      requireChangeable(record, current);
      requireRenewal(current);
      return isScheduled(current, wanted.plan)
        ? current
        : scheduleChange(current, wanted.plan, { id, now: deps.now() });
    },
    [...right.onlyIf, ...wanted.merchantRight.onlyIf],
  );
  const sent = await finishPriceUpdate(deps, scheduled);
  // The provider may have renewed meanwhile. The scheduled plan then applies already.
  if (!isScheduled(sent, wanted.plan) && !isSamePlan(sent, wanted.plan)) throw refusedError(sent);
  return { data: commandView(sent) };
};

/** The error after the billing provider refused the price. */
const refusedError = (subscription: Subscription): DomainError =>
  subscription.status === 'active' || subscription.status === 'trialing'
    ? new DomainError('PROVIDER_ERROR', { details: { subscription_id: subscription.id } })
    : invalidStateError(subscription);

const replyOf = (
  deps: PlanChangeDeps,
  record: VisibleSubscription,
  { subscription, payment }: { readonly subscription: Subscription; readonly payment?: VisiblePayment },
): Reply => {
  const { change, version } = subscription;
  if (change === undefined && (version === record.version || !isLive(subscription))) throw refusedError(subscription);
  if (change === undefined || change.step === 'dropped') return { data: commandView(subscription) };
  const reply = openReply(subscription);
  if (reply.status === 202 || !payment) return reply;
  const pending_change = pendingChangeView(subscription, openPaymentView(payment, deps.now()));
  return { ...reply, data: { ...commandView(subscription), pending_change } };
};

/** The pending change without its client secret. The status is 202 unless the payer has to authenticate. */
const openReply = (subscription: Subscription): Reply => ({
  data: commandView(subscription),
  status: subscription.change?.step === 'awaiting_payment' ? 200 : 202,
  isOpen: true,
});

/** @module Reactivates subscriptions that are canceled or scheduled to cancel. */

import type { Caller } from '../../access/caller.ts';
import { requireOnSale } from '../../catalog/price.ts';
import { DomainError } from '../../core/errors.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { requireHeld } from '../../payment-methods/usable-method.ts';
import type { TransactionStep } from '../../platform/table.ts';
import { requireStartable, startPeriod } from '../at-provider/billers.ts';
import { carryOutAtProvider, withdrawCancelCommand } from '../at-provider/provider-commands.ts';
import { syncBeforeReturn } from '../at-provider/store-report.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { reactivateInPaidPeriod } from '../billing/lifecycle.ts';
import { isPaidFor } from '../billing/periods.ts';
import { readLinkedRecords } from '../record/linked-records.ts';
import { isLive, isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { commandView, standingReply } from '../record/subscription-view.ts';

/**
 * Reactivates a subscription. Withdraws a scheduled cancellation. If the subscription is already canceled, continues
 * the current period for free if that is paid, and otherwise starts and charges a new period now. A billing provider
 * creates a new subscription, first charged when the paid time ends. Only a new period requires the product to be on
 * sale.
 */
export const reactivateSubscription = async (
  deps: BillingDeps,
  { record, caller, right: { onlyIf }, idempotency }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  if (idempotency?.isRepeat && isLive(record) && !record.cancelAtPeriodEnd) return standingReply(record, idempotency);
  if (isLive(record)) return { data: commandView(await withdrawCancel(deps, record, { caller, onlyIf })) };
  const canceled = await withoutDeletedRecords(deps, record);
  const isPaid = isPaidFor(canceled, deps.now()) && !isProviderBilled(canceled);
  const method = await requireStartable(deps, canceled, { caller, needsMethod: !isPaid });
  if (isPaid) return { data: commandView(await continuePeriod(deps, canceled, onlyIf)) };
  const synced = isProviderBilled(canceled) ? await syncBeforeReturn(deps, canceled) : canceled;
  if (!isPaidFor(synced, deps.now())) await requireOnSale(deps.table, synced.productId);
  const former = { ...synced, customerId: canceled.customerId };
  return standingReply(await startPeriod(deps, former, { cause: 'reactivate', method, right: onlyIf }));
};

/**
 * Removes links to deleted records, because deleting a customer or method does not change canceled subscriptions. The
 * method's customer replaces a deleted customer.
 * @throws DomainError INVALID_STATE if a personal subscription has neither customer nor method
 */
const withoutDeletedRecords = async ({ table }: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { hasCustomer, method } = await readLinkedRecords(table, subscription);
  const { customerId, organizationId } = subscription;
  if (method) return { ...subscription, customerId: hasCustomer ? customerId : (method.customerId ?? customerId) };
  if (hasCustomer || organizationId) return { ...subscription, paymentMethodId: undefined, methodRef: undefined };
  throw new DomainError('INVALID_STATE', { message: 'The customer of the subscription has been deleted' });
};

/**
 * Withdraws a scheduled cancellation.
 * @throws DomainError SUBSCRIPTION_NOT_CANCELED if no cancellation is scheduled, or why the caller is refused
 */
const withdrawCancel = async (
  deps: BillingDeps,
  subscription: Subscription,
  { caller, onlyIf }: { readonly caller: Caller; readonly onlyIf: readonly TransactionStep[] },
): Promise<Subscription> => {
  if (!subscription.cancelAtPeriodEnd) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
  await requireHeld({ table: deps.table, caller }, subscription, subscription);
  if (isProviderBilled(subscription))
    return carryOutAtProvider(deps, subscription, { ...withdrawCancelCommand, onlyIf });
  return subscriptionStore(deps.table).change(
    subscription,
    (current) => {
      if (!isLive(current) || !current.cancelAtPeriodEnd) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
      return edit(current, { reason: 'reactivated', now: deps.now() }, { cancelAtPeriodEnd: false });
    },
    onlyIf,
  );
};

const continuePeriod = (
  deps: BillingDeps,
  subscription: Subscription,
  onlyIf: readonly TransactionStep[],
): Promise<Subscription> =>
  subscriptionStore(deps.table).change(
    subscription,
    (current) => {
      if (isLive(current)) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
      return reactivateInPaidPeriod(current, deps.now());
    },
    onlyIf,
  );

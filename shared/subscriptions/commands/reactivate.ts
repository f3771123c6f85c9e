import type { Caller } from '../../access/caller.ts';
import { DomainError } from '../../core/errors.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import { requireHeld } from '../../payment-methods/use.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { reactivateInPaidPeriod } from '../billing/lifecycle.ts';
import { isPaidFor } from '../billing/periods.ts';
import { carryOutAtProvider, withdrawCancelCommand } from '../provider-billed/commands.ts';
import { syncIfKnown } from '../provider-billed/sync.ts';
import { subscriptionStore } from '../record/store.ts';
import { isLive, isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { edit } from '../record/versions.ts';
import { commandView } from '../record/view.ts';
import { findRemaining } from './remaining.ts';
import { requireStartable, startPeriod } from './start-period.ts';

/**
 * Takes back a scheduled cancelation; runs a canceled subscription on in its period, for nothing; or, where the period is
 * over, starts a new one now and charges it. A provider has it made once more, and charges when the period is over.
 */
export const reactivateSubscription = async (
  deps: BillingDeps,
  { record, caller }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  if (isLive(record)) return { data: commandView(await keepOn(deps, record, caller)) };
  const former = await withWhatIsLeft(deps, record);
  const isFree = isPaidFor(former, deps.now()) && !isProviderBilled(former);
  const method = await requireStartable(deps, former, { caller, needsMethod: !isFree });
  if (isFree) return { data: commandView(await runOn(deps, former)) };
  // A renewal that nobody has told of yet is not charged once more.
  const ended =
    (isProviderBilled(former) && (await syncIfKnown(deps, subscriptionStore(deps.table), former))) || former;
  const { customerId } = former;
  return { data: commandView(await startPeriod(deps, { ...ended, customerId }, { cause: 'reactivate', method })) };
};

/**
 * Nobody looks after a canceled subscription when its customer or its method goes. The customer of its method will do; an
 * organization may have lost a member's own customer, and names a method of another one.
 * @throws DomainError INVALID_STATE where a person's subscription has lost its customer
 */
const withWhatIsLeft = async ({ table }: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { customer, method } = await findRemaining(table, subscription);
  const { customerId, organizationId } = subscription;
  if (method) return { ...subscription, customerId: customer ? customerId : (method.customerId ?? customerId) };
  if (customer || organizationId) return { ...subscription, paymentMethodId: undefined, methodRef: undefined };
  throw new DomainError('INVALID_STATE', { message: 'Its customer has been deleted' });
};

/** @throws DomainError SUBSCRIPTION_NOT_CANCELED where no cancelation is scheduled, or why the caller may not clear it. */
const keepOn = async (deps: BillingDeps, subscription: Subscription, caller: Caller): Promise<Subscription> => {
  if (!subscription.cancelAtPeriodEnd) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
  await requireHeld({ table: deps.table, caller }, subscription, subscription);
  if (isProviderBilled(subscription)) return carryOutAtProvider(deps, subscription, withdrawCancelCommand);
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (!isLive(current) || !current.cancelAtPeriodEnd) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
    return edit(current, 'reactivated', deps.now(), { cancelAtPeriodEnd: false });
  });
};

const runOn = (deps: BillingDeps, subscription: Subscription): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) => {
    if (isLive(current)) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
    return reactivateInPaidPeriod(current, deps.now());
  });

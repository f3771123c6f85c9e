import { DomainError } from '../../core/errors.ts';
import { methodDefaultSlotOf } from '../../payment-methods/defaults.ts';
import { type PaymentMethod, paymentMethodShape } from '../../payment-methods/payment-method.ts';
import { paysFor } from '../../payment-methods/use.ts';
import { readDefault } from '../../table/defaults.ts';
import { recordStore } from '../../table/record-store.ts';
import type { BillingDeps } from '../billing/biller.ts';
import type { Subscription } from '../record/subscription.ts';
import { subscriptionsUsing } from '../record/used-by.ts';
import { endLending, replaceMethodOf } from './change-method.ts';

/**
 * Before a method goes: the subscriptions that use it go on with its owner's default, where that is another one of the
 * same provider. @param isGone the provider has it no more, and nobody can be asked: they wait for another method.
 * @throws DomainError PAYMENT_METHOD_IN_USE where nothing can take over.
 */
export const replaceMethodEverywhere = async (
  deps: BillingDeps,
  method: PaymentMethod,
  { isGone }: { readonly isGone: boolean },
): Promise<void> => {
  const users = await stillLent(deps, method);
  if (users.length === 0) return;
  const heir = await heirOf(deps, method);
  if (!heir && !isGone) throw inUse(users);
  for (const subscription of users) await replaceMethodOf(deps, subscription, method.id, heir);
};

/** The subscriptions that the method still pays for. Those of an organization that its user has left lose it at once. */
const stillLent = async (deps: BillingDeps, method: PaymentMethod): Promise<readonly Subscription[]> => {
  const lent: Subscription[] = [];
  for (const subscription of await subscriptionsUsing(deps.table, 'PM', method.id)) {
    if (await paysFor(deps.table, subscription, method)) lent.push(subscription);
    else await endLending(deps, subscription, method.id);
  }
  return lent;
};

/**
 * Before a customer goes with its methods and subscriptions: every other subscription that uses one of the methods has
 * another customer's method to go on with. @throws DomainError PAYMENT_METHOD_IN_USE
 */
export const requireReplacedElsewhere = async (
  deps: BillingDeps,
  method: PaymentMethod,
  customerId: string,
): Promise<void> => {
  const users = await subscriptionsUsing(deps.table, 'PM', method.id);
  const others: Subscription[] = [];
  for (const subscription of users) {
    const isOthers = subscription.customerId !== customerId;
    if (isOthers && (await paysFor(deps.table, subscription, method))) others.push(subscription);
  }
  if (others.length === 0) return;
  const heir = await heirOf(deps, method);
  if (!heir || heir.customerId === customerId) throw inUse(others);
};

const inUse = (users: readonly Subscription[]): DomainError =>
  new DomainError('PAYMENT_METHOD_IN_USE', { details: { subscription_ids: users.map(({ id }) => id) } });

/** Who takes over from a method that goes, where the subscription may still be charged to its user at all. */
export const lentHeirOf = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: PaymentMethod,
): Promise<PaymentMethod | undefined> =>
  (await paysFor(deps.table, subscription, method)) ? heirOf(deps, method) : undefined;

const heirOf = async (deps: BillingDeps, method: PaymentMethod): Promise<PaymentMethod | undefined> => {
  const id = await readDefault(deps.table, methodDefaultSlotOf(method));
  if (id === undefined || id === method.id) return undefined;
  const heir = await recordStore(deps.table, deps.now, paymentMethodShape).load(id);
  return heir?.providerId === method.providerId ? heir : undefined;
};

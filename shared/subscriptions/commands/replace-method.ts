/**
 * @module Keeps subscriptions payable when a method or customer is deleted. They get a successor, wait for another
 * method, or are canceled with their customer.
 */

import { ownerOfRecord } from '../../access/record-kind.ts';
import { DomainError } from '../../core/errors.ts';
import type { Customer } from '../../customers/customer.ts';
import { methodDefaultSlotOf, type PaymentMethod, paymentMethodShape } from '../../payment-methods/payment-method.ts';
import { paysFor } from '../../payment-methods/usable-method.ts';
import type { Owner } from '../../platform/keys.ts';
import { ownerKeyOf, readDefault } from '../../platform/table-defaults.ts';
import { versionedRecord } from '../../platform/versioned-record.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { readLinkedRecords, subscriptionsUsing } from '../record/linked-records.ts';
import { isLive, isProviderBilled, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { cancelNow } from './cancel-subscription.ts';
import { removeMethodFrom, replaceMethodOf } from './change-method.ts';

/**
 * Before a method is deleted, moves its subscriptions to the successor (the owner's default method at the same
 * provider).
 * @param isGone true if the provider has already deleted the method; without a successor, the subscriptions then wait
 * for another method
 * @throws DomainError PAYMENT_METHOD_IN_USE without a successor
 */
export const replaceMethodEverywhere = async (
  deps: BillingDeps,
  method: PaymentMethod,
  { isGone }: { readonly isGone: boolean },
): Promise<void> => {
  const users = await detachUnchargeable(deps, method);
  if (users.length === 0) return;
  const successor = await findSuccessor(deps, method);
  if (!successor && !isGone) throw inUseError(users);
  for (const subscription of users) await replaceMethodOf(deps, subscription, { removedId: method.id, successor });
};

/**
 * Removes the method from the subscriptions of an organization that the method's user has left.
 * @returns the method's remaining subscriptions
 */
const detachUnchargeable = async (deps: BillingDeps, method: PaymentMethod): Promise<readonly Subscription[]> => {
  const chargeable: Subscription[] = [];
  for (const subscription of await subscriptionsUsing(deps.table, 'PM', method.id)) {
    if (await paysFor(deps.table, subscription, method)) chargeable.push(subscription);
    else await removeMethodFrom(deps, subscription, method.id);
  }
  return chargeable;
};

/**
 * Before a customer is deleted with its methods and subscriptions, checks that subscriptions of other customers that
 * use this method have a successor method of another customer.
 * @throws DomainError PAYMENT_METHOD_IN_USE if a successor is missing
 */
export const requireSuccessorElsewhere = async (
  deps: BillingDeps,
  method: PaymentMethod,
  customerId: string,
): Promise<void> => {
  const users = await subscriptionsUsing(deps.table, 'PM', method.id);
  const others: Subscription[] = [];
  for (const subscription of users) {
    const isOfOther = subscription.customerId !== customerId;
    if (isOfOther && (await paysFor(deps.table, subscription, method))) others.push(subscription);
  }
  if (others.length === 0) return;
  const successor = await findSuccessor(deps, method);
  if (!successor || successor.customerId === customerId) throw inUseError(others);
};

const inUseError = (users: readonly Subscription[]): DomainError =>
  new DomainError('PAYMENT_METHOD_IN_USE', { details: { subscription_ids: users.map(({ id }) => id) } });

/** The successor of a method. Undefined if the method's user may no longer pay for the subscription. */
const findChargeableSuccessor = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: PaymentMethod,
): Promise<PaymentMethod | undefined> =>
  (await paysFor(deps.table, subscription, method)) ? findSuccessor(deps, method) : undefined;

const findSuccessor = async (deps: BillingDeps, method: PaymentMethod): Promise<PaymentMethod | undefined> => {
  const id = await readDefault(deps.table, methodDefaultSlotOf(method));
  if (id === undefined || id === method.id) return undefined;
  const successor = await versionedRecord(deps, paymentMethodShape).load(id);
  return successor?.providerId === method.providerId ? successor : undefined;
};

/**
 * Detaches a live subscription from a customer being deleted. Cancels it if the customer's owner owns it. An
 * organization's subscription instead continues with a method of another customer, or waits for one.
 */
export const detachCustomer = async (
  deps: BillingDeps,
  subscription: Subscription,
  customer: Customer,
): Promise<Subscription> => {
  if (isSameOwner(ownerOfRecord(subscription), ownerOfRecord(customer))) return cancelNow(deps, subscription);
  return continueWithout(deps, subscription, customer.id);
};

/**
 * Detaches deleted customers and methods from a subscription that became live after the deletion had listed live
 * subscriptions.
 * @param customer as it was before the deletion, if the caller knows it
 */
export const detachDeletedRecords = async (
  deps: BillingDeps,
  subscription: Subscription,
  customer?: Customer,
): Promise<Subscription> => {
  if (!isLive(subscription)) return subscription;
  const { hasCustomer, hasPayer, method } = await readLinkedRecords(deps.table, subscription);
  if (!hasCustomer && customer) return detachCustomer(deps, subscription, customer);
  if (!hasPayer) return cancelNow(deps, subscription);
  const removedId = subscription.paymentMethodId;
  if (removedId === undefined || (hasCustomer && method) || isSought(subscription)) return subscription;
  return hasCustomer
    ? removeMethodFrom(deps, subscription, removedId)
    : continueWithout(deps, subscription, subscription.customerId);
};

/** True while the creation at the provider has an unknown outcome. Its lookup checks the method itself. */
const isSought = (subscription: Subscription): boolean =>
  isProviderBilled(subscription) && subscription.providerSubscriptionId === undefined;

/**
 * Removes the method of a live subscription if the method's user has left the organization. The due work of an ended
 * membership does this for subscriptions that became live before that work ended. This call covers subscriptions that
 * were found at the provider later.
 */
export const detachFormerMember = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { paymentMethodId, organizationId } = subscription;
  if (!isLive(subscription) || organizationId === undefined || paymentMethodId === undefined) return subscription;
  if (isSought(subscription)) return subscription;
  const method = await versionedRecord(deps, paymentMethodShape).load(paymentMethodId);
  return !method || (await paysFor(deps.table, subscription, method))
    ? subscription
    : removeMethodFrom(deps, subscription, paymentMethodId);
};

/** Continues with another customer's method, or waits for one. */
const continueWithout = async (
  deps: BillingDeps,
  subscription: Subscription,
  customerId: string,
): Promise<Subscription> => {
  const { paymentMethodId } = subscription;
  if (paymentMethodId === undefined) return subscription;
  const method = await versionedRecord(deps, paymentMethodShape).load(paymentMethodId);
  if (method && method.customerId !== customerId) return setCustomerOf(deps, subscription, method);
  const successor = method && (await findChargeableSuccessor(deps, subscription, method));
  const isOfOther = successor !== undefined && successor.customerId !== customerId;
  return replaceMethodOf(deps, subscription, {
    removedId: paymentMethodId,
    successor: isOfOther ? successor : undefined,
  });
};

const isSameOwner = (a: Owner | undefined, b: Owner | undefined): boolean =>
  a === undefined || b === undefined || ownerKeyOf(a) === ownerKeyOf(b);

const setCustomerOf = (
  deps: BillingDeps,
  subscription: Subscription,
  { id: methodId, customerId }: PaymentMethod,
): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) =>
    customerId === undefined || current.customerId === customerId || current.paymentMethodId !== methodId
      ? current
      : edit(current, { reason: 'updated', now: deps.now() }, { customerId }),
  );

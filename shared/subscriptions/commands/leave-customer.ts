import { ownerOfRecord } from '../../access/owner.ts';
import type { Customer } from '../../customers/customer.ts';
import { type PaymentMethod, paymentMethodShape } from '../../payment-methods/payment-method.ts';
import { ownerKeyOf } from '../../table/defaults.ts';
import type { Owner } from '../../table/keys.ts';
import { recordStore } from '../../table/record-store.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { subscriptionStore } from '../record/store.ts';
import type { Subscription } from '../record/subscription.ts';
import { edit } from '../record/versions.ts';
import { cancelNow } from './cancel.ts';
import { endLending, replaceMethodOf } from './change-method.ts';
import { lentHeirOf } from './replace-method.ts';

/**
 * A customer goes, or has gone: what becomes of a live subscription that names it. The subscriptions of the customer's
 * owner are canceled. An organization's subscription that names a member's own customer is not the member's to cancel: it
 * goes on with a method of another customer, or waits for one.
 */
export const leaveCustomer = async (
  deps: BillingDeps,
  subscription: Subscription,
  customer: Customer,
): Promise<Subscription> => {
  if (isSameOwner(ownerOfRecord(subscription), ownerOfRecord(customer))) return cancelNow(deps, subscription);
  const { paymentMethodId } = subscription;
  if (paymentMethodId === undefined) return subscription;
  const method = await recordStore(deps.table, deps.now, paymentMethodShape).load(paymentMethodId);
  if (method && method.customerId !== customer.id) return nameCustomerOf(deps, subscription, method);
  const heir = method && (await lentHeirOf(deps, subscription, method));
  return heir && heir.customerId !== customer.id
    ? replaceMethodOf(deps, subscription, paymentMethodId, heir)
    : endLending(deps, subscription, paymentMethodId);
};

const isSameOwner = (one: Owner | undefined, other: Owner | undefined): boolean =>
  one === undefined || other === undefined || ownerKeyOf(one) === ownerKeyOf(other);

const nameCustomerOf = (
  deps: BillingDeps,
  subscription: Subscription,
  { id: methodId, customerId }: PaymentMethod,
): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) =>
    customerId === undefined || current.customerId === customerId || current.paymentMethodId !== methodId
      ? current
      : edit(current, 'updated', deps.now(), { customerId }),
  );

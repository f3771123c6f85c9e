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
import { removeMethodFrom, replaceMethodOf } from './change-method.ts';
import { findChargeableSuccessor } from './replace-method.ts';

/**
 * Detaches a live subscription from a customer that is being deleted. A subscription of the customer's owner
 * is canceled. An organization's subscription that names a member's own customer continues with a method of another
 * customer, or waits for one.
 */
export const detachCustomer = async (
  deps: BillingDeps,
  subscription: Subscription,
  customer: Customer,
): Promise<Subscription> => {
  if (isSameOwner(ownerOfRecord(subscription), ownerOfRecord(customer))) return cancelNow(deps, subscription);
  const { paymentMethodId } = subscription;
  if (paymentMethodId === undefined) return subscription;
  const method = await recordStore(deps, paymentMethodShape).load(paymentMethodId);
  if (method && method.customerId !== customer.id) return setCustomerOf(deps, subscription, method);
  const successor = method && (await findChargeableSuccessor(deps, subscription, method));
  return successor && successor.customerId !== customer.id
    ? replaceMethodOf(deps, subscription, { removedId: paymentMethodId, successor })
    : removeMethodFrom(deps, subscription, paymentMethodId);
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

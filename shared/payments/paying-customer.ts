/**
 * @module The customer at the provider whose method a payment charges. If a member lends a saved method to an
 * organization, the payment stores the lender's customer next to its own customer. A method that a payment saves is
 * always attached to the payment's own customer.
 */

import type * as z from 'zod';
import type { HeldMethod, UsableMethod } from '../payment-methods/usable-method.ts';
import type { Payment } from './payment.ts';
import type { methodGroup } from './payment-fields.ts';

type Held = Pick<Payment, keyof z.infer<typeof methodGroup>>;

/** The fields that set a payment's method; undefined clears the method. */
export const methodFields = (
  method: UsableMethod | undefined,
  own: Pick<Held, 'providerCustomerId'>,
): Omit<Held, 'customerId' | 'providerCustomerId'> & Partial<Pick<Held, 'customerId' | 'providerCustomerId'>> => {
  const { methodRef, paymentMethodId, methodKind, isLent, providerCustomerId: customer, customerId } = method ?? {};
  const isLenders = isLent && customer !== own.providerCustomerId;
  return {
    methodRef,
    paymentMethodId,
    methodKind,
    lenderCustomerId: isLenders ? customer : undefined,
    lenderCustomerRecordId: isLenders ? customerId : undefined,
    ...(customer && !isLent && { providerCustomerId: customer, ...(customerId && { customerId }) }),
  };
};

/** The customer of the lender, while the payment holds the lender's method. */
const lenderOf = ({ paymentMethodId, lenderCustomerId }: Held): string | undefined =>
  paymentMethodId === undefined ? undefined : lenderCustomerId;

/** The payment's method, with the customer to charge. */
export const heldBy = (payment: Held): HeldMethod => ({
  methodRef: payment.methodRef,
  paymentMethodId: payment.paymentMethodId,
  methodKind: payment.methodKind,
  providerCustomerId: payingCustomerOf(payment),
  customerId: payingCustomerIdOf(payment),
  isLent: lenderOf(payment) !== undefined,
});

export const payingCustomerOf = (payment: Held): string | undefined => lenderOf(payment) ?? payment.providerCustomerId;

/** The id of our record of the charged customer; `customer_id` in views. */
export const payingCustomerIdOf = (payment: Held): string | undefined =>
  lenderOf(payment) === undefined ? payment.customerId : (payment.lenderCustomerRecordId ?? payment.customerId);

/** True if the method of this attempt is to be saved. */
export const savesMethod = ({ setupFutureUsage, paymentMethodId }: Payment): boolean =>
  setupFutureUsage === 'off_session' && paymentMethodId === undefined;

/** True if this attempt or an earlier attempt may set a lender's customer on the provider's intent. */
export const mayNameOtherCustomer = (payment: Payment): boolean =>
  lenderOf(payment) !== undefined || (savesMethod(payment) && (payment.attempt > 1 || payment.released !== undefined));

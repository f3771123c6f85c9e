import type { HeldMethod, UsableMethod } from '../../payment-methods/use.ts';
import type { Payment } from './payment.ts';

/**
 * For which customer at the provider a payment is charged. A saved method is charged for its own customer. Where that is
 * a member's, who lends the method to an organization, it stands beside the payment's own customer, and goes with the
 * method: what the payment saves is kept for its own customer.
 */
type Held = Pick<Payment, 'methodRef' | 'paymentMethodId' | 'providerCustomerId' | 'lenderCustomerId'>;

/** A method on a payment; undefined: none. */
export const methodFields = (
  method: UsableMethod | undefined,
  own: Pick<Held, 'providerCustomerId'>,
): Pick<Held, 'methodRef' | 'paymentMethodId' | 'lenderCustomerId'> & Partial<Pick<Held, 'providerCustomerId'>> => {
  const { methodRef, paymentMethodId, providerCustomerId: customer } = method ?? {};
  const isLenders = method?.isLent && customer !== own.providerCustomerId;
  return {
    methodRef,
    paymentMethodId,
    lenderCustomerId: isLenders ? customer : undefined,
    ...(customer && !method?.isLent && { providerCustomerId: customer }),
  };
};

/** The customer of the lender, as long as the payment holds the lender's method. */
const lenderOf = ({ paymentMethodId, lenderCustomerId }: Held): string | undefined =>
  paymentMethodId === undefined ? undefined : lenderCustomerId;

/** The method that a payment holds, with the customer that it is charged for. */
export const heldBy = (payment: Held): HeldMethod => ({
  methodRef: payment.methodRef,
  paymentMethodId: payment.paymentMethodId,
  providerCustomerId: payingCustomerOf(payment),
  isLent: lenderOf(payment) !== undefined,
});

export const payingCustomerOf = (payment: Held): string | undefined => lenderOf(payment) ?? payment.providerCustomerId;

/** Is the method to be saved that this attempt is made with? */
export const savesMethod = ({ setupFutureUsage, paymentMethodId }: Payment): boolean =>
  setupFutureUsage === 'off_session' && paymentMethodId === undefined;

/**
 * May the provider's intent name another customer than the one that is charged? A lender's is never told before; an
 * earlier attempt may have told it.
 */
export const mayNameOtherCustomer = (payment: Payment): boolean =>
  lenderOf(payment) !== undefined || (savesMethod(payment) && (payment.attempt > 1 || payment.released !== undefined));

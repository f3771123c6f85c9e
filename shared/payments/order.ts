import { assertNever } from '../core/errors.ts';
import { derivedId } from '../core/ids.ts';
import type { PaymentStatus, VisiblePayment } from './payment.ts';

/** The order of a payment that names a product: one each, read-only, and wholly what its payment says. */
export type OrderStatus = 'pending' | 'paid' | 'failed' | 'canceled';

const orderStatusOf = (status: PaymentStatus): OrderStatus => {
  switch (status) {
    case 'succeeded':
      return 'paid';
    case 'failed':
    case 'canceled':
      return status;
    case 'created':
    case 'requires_payment_method':
    case 'pending':
    case 'processing':
      return 'pending';
    default:
      return assertNever(status);
  }
};

export const orderView = (payment: VisiblePayment) =>
  payment.productId === undefined
    ? null
    : {
        id: derivedId('order', payment.id),
        payment_id: payment.id,
        customer_id: payment.customerId ?? null,
        product_id: payment.productId,
        status: orderStatusOf(payment.status),
        total_cents: payment.totalCents,
        currency: payment.currency,
        reference_code: payment.referenceCode ?? null,
        created_at: payment.createdAt,
      };

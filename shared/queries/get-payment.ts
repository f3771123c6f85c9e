/** @module Reads one payment with the records that the caller asks to include. */

import { audienceOf } from '../access/audience.ts';
import type { Caller } from '../access/caller.ts';
import { type Include, showBeside } from '../access/included-records.ts';
import { productBeside, projectBeside } from '../catalog/catalog-view.ts';
import { assertNever, notFound } from '../core/errors.ts';
import { plainId } from '../core/ids.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { organizationBeside } from '../organizations/organization.ts';
import { methodBeside } from '../payment-methods/payment-method.ts';
import { payingCustomerIdOf } from '../payments/paying-customer.ts';
import type { PaymentStatus, VisiblePayment } from '../payments/payment.ts';
import { paymentView, paymentWithSecret } from '../payments/payment-view.ts';
import type { StoreDeps } from '../platform/table.ts';
import { subscriptionBeside } from '../subscriptions/record/subscription-view.ts';
import { type GetPaymentQuery, includesOf, type PaymentInclude } from './includes.ts';

/** Returns one payment. If the query names an organization, project or product, the payment must match. */
export const getPayment = async (
  deps: StoreDeps,
  { record: payment, canWrite, query, caller }: ApiRequest<unknown, GetPaymentQuery, unknown, VisiblePayment>,
): Promise<Reply> => {
  if (!passesGuards(payment, query)) throw notFound('payment');
  const [beside] = await includedRecords(deps, caller, { payments: [payment], includes: includesOf(query) });
  const audience = audienceOf(caller);
  const view = canWrite ? paymentWithSecret(payment, audience, deps.now()) : paymentView(payment, audience);
  return { data: { ...view, ...beside } };
};

const passesGuards = (payment: VisiblePayment, query: GetPaymentQuery): boolean =>
  (query.organization_id === undefined || query.organization_id === payment.organizationId) &&
  (query.project_id === undefined || query.project_id === payment.projectId) &&
  (query.product_id === undefined || query.product_id === payment.productId);

/** All includes except the order are separate records. */
const BESIDE: Readonly<Record<Exclude<PaymentInclude, 'order'>, Include<VisiblePayment>>> = {
  payment_method: { showing: methodBeside, idOf: ({ paymentMethodId }) => paymentMethodId },
  project: { showing: projectBeside, idOf: ({ projectId }) => projectId },
  organization: { showing: organizationBeside, idOf: ({ organizationId }) => organizationId },
  subscription: { showing: subscriptionBeside, idOf: ({ subscriptionId }) => subscriptionId },
  product: { showing: productBeside, idOf: ({ productId }) => productId },
};

/** The includes of each payment. An include missing or hidden from the caller is null. */
export const includedRecords = async (
  { table }: Pick<StoreDeps, 'table'>,
  caller: Caller,
  {
    payments,
    includes,
  }: { readonly payments: readonly VisiblePayment[]; readonly includes: readonly PaymentInclude[] },
): Promise<readonly Readonly<Partial<Record<PaymentInclude, unknown>>>[]> => {
  const beside = Object.fromEntries(includes.flatMap((name) => (name === 'order' ? [] : [[name, BESIDE[name]]])));
  const shown = await showBeside({ table, caller }, payments, beside);
  const withOrder = includes.includes('order');
  return payments.map((payment, index) => ({
    ...shown[index],
    ...(withOrder && { order: orderView(payment) }),
  }));
};

/** The status of an order. A payment for a product has one read-only order, derived from the payment. */
type OrderStatus = 'pending' | 'paid' | 'failed' | 'canceled';

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
    case 'requires_capture':
      return 'pending';
    default:
      return assertNever(status);
  }
};

const orderView = (payment: VisiblePayment) =>
  payment.productId === undefined
    ? null
    : {
        id: plainId('order', payment.id),
        payment_id: payment.id,
        customer_id: payingCustomerIdOf(payment) ?? null,
        product_id: payment.productId,
        quantity: payment.quantity ?? 1,
        status: orderStatusOf(payment.status),
        total_cents: payment.totalCents,
        currency: payment.currency,
        reference_code: payment.referenceCode ?? null,
        created_at: payment.createdAt,
      };

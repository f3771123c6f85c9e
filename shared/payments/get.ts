import { notFound } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { ReadDeps } from './deps.ts';
import { includedRecords } from './includes.ts';
import type { VisiblePayment } from './payment.ts';
import { type GetPaymentQuery, includesOf } from './queries.ts';
import { paymentView, paymentWithSecret } from './view.ts';

/** One payment, for its user, its guest by token, or a member of its organization; scope guards must match. */
export const getPayment = async (
  deps: ReadDeps,
  { record: payment, mayChange, query, caller }: ApiRequest<unknown, GetPaymentQuery, unknown, VisiblePayment>,
): Promise<Reply> => {
  if (!passesGuards(payment, query)) throw notFound('payment');
  const [beside] = await includedRecords(deps, caller, { payments: [payment], includes: includesOf(query) });
  const view = mayChange ? paymentWithSecret(payment, deps.now()) : paymentView(payment);
  return { data: { ...view, ...beside } };
};

const passesGuards = (payment: VisiblePayment, query: GetPaymentQuery): boolean =>
  (query.organization_id === undefined || query.organization_id === payment.organizationId) &&
  (query.project_id === undefined || query.project_id === payment.projectId) &&
  (query.product_id === undefined || query.product_id === payment.productId);

import { type Include as Beside, showBeside } from '../access/beside.ts';
import type { Caller } from '../access/caller.ts';
import { productBeside, projectBeside } from '../catalog/view.ts';
import { organizationBeside } from '../organizations/organization.ts';
import { methodBeside } from '../payment-methods/payment-method.ts';
import { subscriptionBeside } from '../subscriptions/view.ts';
import type { ReadDeps } from './deps.ts';
import { orderView } from './order.ts';
import type { VisiblePayment } from './payment.ts';
import type { Include } from './queries.ts';

/** The order is a view of the payment itself; all others are records of their own. */
const BESIDE: Readonly<Record<Exclude<Include, 'order'>, Beside<VisiblePayment>>> = {
  payment_method: { showing: methodBeside, idOf: ({ paymentMethodId }) => paymentMethodId },
  project: { showing: projectBeside, idOf: ({ projectId }) => projectId },
  organization: { showing: organizationBeside, idOf: ({ organizationId }) => organizationId },
  subscription: { showing: subscriptionBeside, idOf: ({ subscriptionId }) => subscriptionId },
  product: { showing: productBeside, idOf: ({ productId }) => productId },
};

/** What was asked for beside each payment, as far as this caller may see it; null where there is none. */
export const includedRecords = async (
  { table }: Pick<ReadDeps, 'table'>,
  caller: Caller,
  { payments, includes }: { readonly payments: readonly VisiblePayment[]; readonly includes: readonly Include[] },
): Promise<readonly Readonly<Partial<Record<Include, unknown>>>[]> => {
  const beside = Object.fromEntries(includes.flatMap((name) => (name === 'order' ? [] : [[name, BESIDE[name]]])));
  const shown = await showBeside({ table, caller }, payments, beside);
  const withOrder = includes.includes('order');
  return payments.map((payment, index) => ({
    ...shown[index],
    ...(withOrder && { order: orderView(payment) }),
  }));
};

/** @module The state of the hosted page of a payment link. */

import { productRecord } from '../catalog/catalog-records.ts';
import { type LinkCounts, readLinkCounts } from '../payment-links/link-places.ts';
import { type PaymentLink, statusOfLink } from '../payment-links/payment-link.ts';
import { openSlots } from '../queries/browser-config.ts';
import type { PaymentPageDeps } from './page-of-payment.ts';
import { type PageState, pageState } from './page-state.ts';

export const linkPage = async (deps: PaymentPageDeps, link: PaymentLink): Promise<PageState> => {
  const [item, counts] = await Promise.all([
    link.productId === undefined ? undefined : deps.table.get(productRecord.key(link.productId)),
    link.maxPayments === undefined ? NO_COUNTS : readLinkCounts(deps.table, link.id),
  ]);
  const product = item && productRecord.parse(item);
  return pageState(deps.pages, {
    kind: 'link',
    status: statusOfLink(link, counts, deps.now()),
    slots: slotsOf(deps, link),
    returnUrl: link.returnUrl,
    amount_cents: product?.total_cents ?? link.prices?.totalCents ?? null,
    currency: product?.currency ?? link.prices?.currency ?? null,
    description: link.description ?? null,
    product: product ? { name: product.name } : null,
    quantity: quantityOfLink(link),
  });
};

const NO_COUNTS: LinkCounts = { made: 0, taken: 0, succeeded: 0 };

/** The range of quantities open to the payer; null without a product. */
export const quantityOfLink = ({ productId, quantity }: PaymentLink): { min: number; max: number } | null =>
  productId === undefined ? null : (quantity ?? { min: 1, max: 1 });

export const slotsOf = ({ pages }: Pick<PaymentPageDeps, 'pages'>, { providers }: PaymentLink): readonly string[] =>
  openSlots(pages)
    .map(({ provider_id: slot }) => slot)
    .filter((slot) => providers.length === 0 || providers.includes(slot));

/** @module The columns of the tables of subscriptions. */

import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Subscription } from '../api/types.ts';
import { OrganizationInShort, PayerInShort, payerInShort } from '../pages/payment-parts.tsx';
import type { Column } from '../view/table.tsx';
import { NextCharge, nameOf, planOf, SubscriptionStatus } from './subscription-parts.tsx';

const SUBSCRIPTION: Column<Subscription> = {
  title: 'Subscription',
  cell: (subscription) => (
    <>
      <span class="clip">{nameOf(subscription)}</span>
      <span class="second-line quiet">{planOf(subscription)}</span>
      {may('subscriptions:read') && <span class="narrow-only clip quiet">{payerInShort(subscription)}</span>}
    </>
  ),
};

const COLUMNS: readonly Column<Subscription>[] = [
  SUBSCRIPTION,
  { title: 'Status', cell: (subscription) => <SubscriptionStatus subscription={subscription} /> },
  { title: 'Next charge', isTime: true, cell: (subscription) => <NextCharge subscription={subscription} /> },
  { title: 'Provider', isExtra: true, cell: ({ provider_id }) => providerName(provider_id) },
];

/** For the subscriptions of one owner. */
export const OWN_SUBSCRIPTION_COLUMNS: readonly Column<Subscription>[] = [
  ...COLUMNS,
  { title: 'Customer', isExtra: true, cell: ({ customer_id: id }) => <span class="clip quiet">{id}</span> },
];

/** For the list of all subscriptions, which shows each payer. */
export const SUBSCRIPTION_COLUMNS: readonly Column<Subscription>[] = [
  ...COLUMNS,
  { title: 'Payer', isExtra: true, cell: (subscription) => <PayerInShort record={subscription} /> },
  { title: 'Organization', isExtra: true, cell: (subscription) => <OrganizationInShort record={subscription} /> },
];

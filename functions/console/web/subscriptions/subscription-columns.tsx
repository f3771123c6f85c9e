/** @module The columns of the tables of subscriptions. */

import { providerName } from '../api/providers.ts';
import { isAdmin } from '../api/session.ts';
import type { Subscription } from '../api/types.ts';
import { OwningOrganization, Payer, payerInShort } from '../pages/payment-parts.tsx';
import type { Column } from '../view/table.tsx';
import { NextCharge, nameOf, planOf, SubscriptionStatus } from './subscription-parts.tsx';

const PAYER: readonly Column<Subscription>[] = [
  { title: 'Payer', isExtra: true, cell: (subscription) => <Payer record={subscription} /> },
  { title: 'Organization', isExtra: true, cell: (subscription) => <OwningOrganization record={subscription} /> },
];

/** Platform admins see the subscriptions of several payers, so they see each payer. */
export const subscriptionColumns = (): readonly Column<Subscription>[] => [
  {
    title: 'Subscription',
    cell: (subscription) => (
      <>
        <span class="clip">{nameOf(subscription)}</span>
        <span class="second-line quiet">{planOf(subscription)}</span>
        {isAdmin.value && <span class="narrow-only clip quiet">{payerInShort(subscription)}</span>}
      </>
    ),
  },
  { title: 'Status', cell: (subscription) => <SubscriptionStatus subscription={subscription} /> },
  { title: 'Next charge (UTC)', cell: (subscription) => <NextCharge subscription={subscription} /> },
  { title: 'Provider', isExtra: true, cell: ({ provider_id }) => providerName(provider_id) },
  ...(isAdmin.value
    ? PAYER
    : [
        {
          title: 'Customer',
          isExtra: true,
          cell: ({ customer_id }: Subscription) => <span class="clip quiet">{customer_id}</span>,
        },
      ]),
];

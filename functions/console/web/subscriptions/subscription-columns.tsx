/** @module The columns of the tables of subscriptions. */

import { providerName } from '../api/providers.ts';
import type { Subscription } from '../api/types.ts';
import { organizationInShort, PayerInShort } from '../pages/payment-parts.tsx';
import type { Column } from '../view/columns.ts';
import { Cut, Time } from '../view/parts.tsx';
import { nameOf, planOf, SubscriptionStatus } from './subscription-parts.tsx';

const NEXT_CHARGE: Column<Subscription> = {
  title: 'Next charge',
  isTime: true,
  cell: ({ next_billing_date: next }) => next && <Time at={next} />,
};

const columnsWith = (next: Column<Subscription>): readonly Column<Subscription>[] => [
  { title: 'Subscription', cell: (subscription) => <Cut>{nameOf(subscription)}</Cut>, phone: 'name' },
  { title: 'Plan', cell: planOf, below: 'Subscription', phone: 'figure' },
  { title: 'Status', cell: (subscription) => <SubscriptionStatus subscription={subscription} />, phone: 'state' },
  next,
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id) },
];

/** The columns for the subscriptions of one customer. */
export const CUSTOMER_SUBSCRIPTION_COLUMNS: readonly Column<Subscription>[] = columnsWith({
  ...NEXT_CHARGE,
  phone: 'note',
});

/** The columns for the subscriptions of one owner. */
export const OWN_SUBSCRIPTION_COLUMNS: readonly Column<Subscription>[] = [
  ...CUSTOMER_SUBSCRIPTION_COLUMNS,
  { title: 'Customer', cell: ({ customer_id: id }) => <Cut title={id}>{id}</Cut> },
];

/** The columns for the list of all subscriptions, which shows each payer. */
export const SUBSCRIPTION_COLUMNS: readonly Column<Subscription>[] = [
  ...columnsWith(NEXT_CHARGE),
  { title: 'Payer', cell: (subscription) => <PayerInShort record={subscription} />, phone: 'note' },
  { title: 'Organization', cell: (subscription) => organizationInShort(subscription), below: 'Payer' },
];

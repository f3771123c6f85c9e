/**
 * @module The page with the list of subscriptions. Staff and platform admins see all owners. Other users see their own
 * subscriptions and those of their organizations.
 */

import { answerOf, api, nextCursor, nextOffset } from '../api/client.ts';
import { may } from '../api/session.ts';
import type { SubscriptionStatus as Stage, Subscription } from '../api/types.ts';
import {
  anyOwnerFilter,
  CREATED_RANGE,
  type FilterField,
  ownersFilter,
  providerFilter,
  statusFilter,
  userFilter,
} from '../lists/filter-fields.tsx';
import { filterChoice, filterText, ownersChoice, providerChoice } from '../lists/filter-values.ts';
import { type CsvRequest, ListPage } from '../lists/list-page.tsx';
import type { PageOf } from '../view/load.ts';
import { OWN_SUBSCRIPTION_COLUMNS, SUBSCRIPTION_COLUMNS } from './subscription-columns.tsx';

const STAGES: readonly Stage[] = ['active', 'trialing', 'past_due', 'paused', 'canceled'];

const ownQuery = () => ({ status: filterChoice('status', STAGES), organization_id: ownersChoice() });

const adminQuery = () => ({
  status: filterChoice('status', STAGES),
  provider_id: providerChoice(),
  organization_id: filterText('organization'),
  user_id: filterText('user'),
  from: filterText('from'),
  to: filterText('to'),
});

const readEvery = async (cursor: string | undefined): Promise<PageOf<Subscription>> => {
  const query = { ...adminQuery(), cursor };
  const { data } = await answerOf(api.GET('/admin/subscriptions', { params: { query } }));
  return { rows: data.data, next: nextCursor(data.meta) };
};

const readOwn = async (cursor = '0'): Promise<PageOf<Subscription>> => {
  const query = { ...ownQuery(), offset: Number(cursor) };
  const { data, response } = await answerOf(api.GET('/subscriptions', { params: { query } }));
  return { rows: data, next: nextOffset(response) };
};

const askCsv: CsvRequest = ({ cursor, headers }) =>
  may('subscriptions:read')
    ? api.GET('/admin/subscriptions', { headers, parseAs: 'text', params: { query: { ...adminQuery(), cursor } } })
    : api.GET('/subscriptions', { headers, parseAs: 'text', params: { query: { ...ownQuery(), cursor } } });

const adminFilters = (): readonly FilterField[] => [
  ...CREATED_RANGE,
  statusFilter(STAGES),
  providerFilter(),
  anyOwnerFilter(),
  userFilter(),
];

export const SubscriptionsPage = () => (
  <ListPage
    title="Subscriptions"
    one="subscription"
    filters={may('subscriptions:read') ? adminFilters() : [statusFilter(STAGES), ...ownersFilter('None (my own)')]}
    columns={may('subscriptions:read') ? SUBSCRIPTION_COLUMNS : OWN_SUBSCRIPTION_COLUMNS}
    read={may('subscriptions:read') ? readEvery : readOwn}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/subscriptions/${id}`}
    csv={{ file: 'subscriptions.csv', ask: askCsv }}
    empty={<NoSubscriptions />}
  />
);

const NoSubscriptions = () => (
  <>
    <strong>No subscriptions</strong>
    <p>Subscriptions appear here as soon as they are created through the API.</p>
  </>
);

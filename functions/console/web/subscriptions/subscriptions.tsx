/**
 * @module The page with the subscriptions of the caller or of an organization. The API lists no other subscriptions,
 * even for platform admins.
 */

import { useState } from 'preact/hooks';
import { answerOf, api, nextOffset } from '../api/client.ts';
import { organizations } from '../api/organizations.ts';
import { providerName } from '../api/providers.ts';
import { isAdmin } from '../api/session.ts';
import type { SubscriptionStatus as Stage, Subscription } from '../api/types.ts';
import { CsvButton } from '../view/csv-button.tsx';
import { ClearFilters, SelectFilter } from '../view/filters.tsx';
import { inWords } from '../view/format.ts';
import { type PageOf, usePages } from '../view/load.ts';
import { PageHead } from '../view/parts.tsx';
import { go, place } from '../view/route.tsx';
import { type Column, Table } from '../view/table.tsx';
import { NextCharge, nameOf, planOf, SubscriptionStatus } from './subscription-parts.tsx';

const STAGES: readonly Stage[] = ['active', 'trialing', 'past_due', 'paused', 'canceled'];
const FILTERS = ['status', 'organization'] as const;

const filter = (name: (typeof FILTERS)[number]): string | undefined => place.value.query.get(name) || undefined;

const query = () => ({
  status: STAGES.find((stage) => stage === filter('status')),
  // An empty name requests the caller's own subscriptions, regardless of the organization of the session.
  organization_id: filter('organization') ?? '',
});

const readPage = async (cursor = '0'): Promise<PageOf<Subscription>> => {
  const asked = { ...query(), offset: Number(cursor) };
  const { data, response } = await answerOf(api.GET('/subscriptions', { params: { query: asked } }));
  return { rows: data, next: nextOffset(response) };
};

const askCsv: Parameters<typeof CsvButton>[0]['ask'] = ({ cursor, headers }) => {
  const asked = { ...query(), cursor };
  return api.GET('/subscriptions', { headers, parseAs: 'text', params: { query: asked } });
};

const COLUMNS: readonly Column<Subscription>[] = [
  {
    title: 'Subscription',
    cell: (subscription) => (
      <>
        <span class="clip">{nameOf(subscription)}</span>
        <span class="second-line quiet">{planOf(subscription)}</span>
      </>
    ),
  },
  { title: 'Status', cell: (subscription) => <SubscriptionStatus subscription={subscription} /> },
  { title: 'Next charge (UTC)', cell: (subscription) => <NextCharge subscription={subscription} /> },
  { title: 'Provider', isExtra: true, cell: ({ provider_id }) => providerName(provider_id) },
  { title: 'Customer', isExtra: true, cell: ({ customer_id }) => <span class="clip quiet">{customer_id}</span> },
];

export const SubscriptionsPage = () => {
  const pages = usePages(FILTERS.map(filter).join('|'), readPage);
  const isFiltered = filter('status') !== undefined;
  return (
    <>
      <PageHead title="Subscriptions" tab="Subscriptions">
        <CsvButton file="subscriptions.csv" ask={askCsv} />
      </PageHead>
      {isAdmin.value && <OpenById />}
      <div class="filters">
        <SelectFilter
          label="Status"
          name="status"
          choices={STAGES.map((stage) => ({ value: stage, text: inWords(stage) }))}
        />
        {organizations.value.length > 0 && (
          <SelectFilter
            label="Organization"
            name="organization"
            none="None (my own)"
            choices={organizations.value.map(({ id, name }) => ({ value: id, text: name }))}
          />
        )}
        <ClearFilters names={FILTERS} />
      </div>
      <Table
        name="Subscriptions"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ id }) => id}
        pageOf={({ id }) => `/subscriptions/${id}`}
        empty={isFiltered ? <NothingFound /> : <NoSubscriptions />}
      />
    </>
  );
};

/** A form for platform admins, who may read every subscription although the API lists only their own. */
const OpenById = () => {
  const [id, setId] = useState('');
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(`/subscriptions/${encodeURIComponent(id.trim())}`);
      }}
    >
      <label class="field">
        <span>Subscription ID</span>
        <input
          type="text"
          value={id}
          required
          placeholder="subs_… of any payer"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setId(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  );
};

const NothingFound = () => (
  <>
    <strong>No subscription matches</strong>
    <p>Choose another status, or clear the filters.</p>
  </>
);

const NoSubscriptions = () => (
  <>
    <strong>No subscriptions</strong>
    <p>
      {isAdmin.value
        ? 'The list shows your own subscriptions. Open a payer’s subscription by its ID, or choose an organization.'
        : 'Subscriptions appear here as soon as they are created through the API.'}
    </p>
  </>
);

/**
 * @module The HTTP endpoints for the merchant: search, the lists of all payments and subscriptions, the summary of
 * payments and refunds, and clearing a cache.
 */

import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import { clearCacheBody } from '../../shared/admin/clear-cache.ts';
import { everyPaymentQuery, everyPaymentSchema } from '../../shared/admin/list-every-payment.ts';
import {
  EVERY_SUBSCRIPTION_COLUMNS,
  everySubscriptionQuery,
  everySubscriptionSchema,
} from '../../shared/admin/list-every-subscription.ts';
import { searchQuery } from '../../shared/admin/search.ts';
import { searchHits, searchMeta } from '../../shared/admin/search-hits.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { EVERY_SUMMARY_COLUMNS, everySummaryMeta, everySummaryRow } from '../../shared/queries/admin-summary.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';
import { EVERY_PAYMENT_COLUMNS } from '../../shared/queries/payment-csv.ts';
import { summaryQuery } from '../../shared/queries/payment-summary.ts';

const none = z.object({});

export const clearCacheEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.clear-cache',
  method: 'POST',
  path: '/admin/cache/clear',
  summary: 'Empty a cache in every running instance',
  description: `Use it when a change in the identity service, such as a revoked session, must take effect immediately. Each instance empties the
    cache within five seconds of its next request. The error 400 \`UNKNOWN_CACHE_TYPE\` lists the cache types.`,
  auth: 'platform-admin',
  params: none,
  query: none,
  body: clearCacheBody,
  response: () =>
    z
      .object({
        cache_type: z.string().describe('The cache that the request named.'),
        cleared: z.boolean().describe('Always true.'),
      })
      .meta({ id: 'ClearedCache', description: 'The cache that every instance empties next.' }),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'UNKNOWN_CACHE_TYPE', 'RATE_LIMITED'],
  limits: [{ name: 'cache-clear', max: 6, windowSeconds: 60, by: ({ caller }) => subjectOf(caller) }],
  uses: ['table:read', 'table:put'],
}));

export const listEveryPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.list-payments',
  method: 'GET',
  path: '/admin/payments',
  summary: 'Find payments of all owners, newest first',
  description: `For support: finds a payment by details that a payer knows. A page may hold fewer payments than \`limit\`, even none, while
    \`has_more\` is true; continue with \`next_cursor\`. Without \`from\`, filters cover the last 31 days; \`search\`, \`user_id\`,
    \`organization_id\` and \`fingerprint\` find payments of any age. A new payment appears within moments. With \`Accept: text/csv\` the list comes as CSV.`,
  auth: 'platform-admin',
  params: none,
  query: everyPaymentQuery,
  body: null,
  response: () => z.array(everyPaymentSchema()),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  csv: { name: 'payments', columns: EVERY_PAYMENT_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const listEverySubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.list-subscriptions',
  method: 'GET',
  path: '/admin/subscriptions',
  summary: 'Find subscriptions of all owners, newest first',
  description: `Lists the subscriptions of every user, guest and organization, with the payer's e-mail address. A page may hold fewer
    subscriptions than \`limit\`, even none, while \`has_more\` is true; continue with \`next_cursor\`. A new subscription appears within
    moments. With \`Accept: text/csv\` the list comes as CSV.`,
  auth: 'platform-admin',
  params: none,
  query: everySubscriptionQuery,
  body: null,
  response: () => z.array(everySubscriptionSchema()),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  csv: { name: 'subscriptions', columns: EVERY_SUBSCRIPTION_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const searchEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.search',
  method: 'GET',
  path: '/admin/search',
  summary: 'Find records by an id, an e-mail address, last four digits or a reference code',
  description: `Finds records by one whole value. The form of \`q\` decides what is looked up:

    - our id of a payment, refund, dispute, subscription, customer, payment method or organization: that record; of a membership: its
      subscription
    - an e-mail address: customers with this address, the user whom the identity service knows by it, and the newest records of this
      user and of guests with this address: 4 customers, 5 subscriptions and 15 payments each
    - four digits: the newest payments with a card or bank account that ends with them, or with this reference code
    - any other text: the record with this id at a provider, else the user with this id and the user's newest records, else payments and
      subscriptions with this reference code, and the payment with this charge

    A caller finds only records that its scopes permit it to read. Digits and charges are those of a payment's last attempt. A response holds at most 50 records. \`truncated\`
    is true if some may be missing; \`GET /admin/payments?search=\` finds the rest.`,
  auth: 'platform-admin',
  params: none,
  query: searchQuery,
  body: null,
  response: searchHits,
  meta: () => searchMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const adminSummaryEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.summary',
  method: 'GET',
  path: '/admin/summary',
  summary: 'Sum up all payments and refunds by day, week or month',
  description: `Amounts and counts of all owners, per period and currency, read from stored counters, so the cost does not grow with
    the number of payments. With \`group_by=currency\` the rows also have new payers, fees and net amounts, and \`meta\`
    has the recurring revenue. \`meta.totals\` compares the whole range with the previous period. Changes appear within
    moments. More than 10,000 rows get 400 \`UNSUPPORTED_FILTER\`; request fewer days,
    or CSV.`,
  auth: 'platform-admin',
  params: none,
  query: summaryQuery,
  body: null,
  response: () => z.array(everySummaryRow),
  meta: () => everySummaryMeta,
  status: 200,
  form: 'envelope',
  csv: { name: 'summary', columns: EVERY_SUMMARY_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER'],
  uses: ['table:read'],
}));

export const adminEndpoints = [
  searchEndpoint,
  listEveryPaymentEndpoint,
  listEverySubscriptionEndpoint,
  adminSummaryEndpoint,
  clearCacheEndpoint,
];

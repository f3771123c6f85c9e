/**
 * @module The HTTP endpoints with which platform admins list all payments, read the summary of payments and refunds,
 * and clear a cache.
 */

import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import { clearCacheBody } from '../../shared/admin/clear-cache.ts';
import { everyPaymentQuery } from '../../shared/admin/list-every-payment.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { PAYMENT_COLUMNS, paymentViewSchema } from '../../shared/payments/payment-view.ts';
import { cursorMeta, summaryMeta } from '../../shared/queries/list-meta.ts';
import { SUMMARY_COLUMNS, summaryQuery, summaryRows } from '../../shared/queries/payment-summary.ts';

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
  limits: [{ name: 'cache-clear', max: 6, windowSeconds: 60, by: ({ caller }) => principalOf(caller) }],
  uses: ['table:read', 'table:put'],
}));

export const listEveryPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.list-payments',
  method: 'GET',
  path: '/admin/payments',
  summary: 'Find payments of all owners, newest first',
  description: `For support: finds a payment by details that a payer knows. A page may hold fewer payments than \`limit\`, even none, while
    \`has_more\` is true; continue with \`next_cursor\`. A new payment appears within moments. With \`Accept: text/csv\` the list comes as CSV.`,
  auth: 'platform-admin',
  params: none,
  query: everyPaymentQuery,
  body: null,
  response: () => z.array(paymentViewSchema()),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  csv: { name: 'payments', columns: PAYMENT_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const adminSummaryEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.summary',
  method: 'GET',
  path: '/admin/summary',
  summary: 'Sum up all payments and refunds by day, week or month',
  description: `Amounts and counts of all owners, per period and currency, read from stored counters, so the cost does not grow with
    the number of payments. A change counts within moments. More than 10,000 rows get 400 \`UNSUPPORTED_FILTER\`; request fewer days,
    or CSV.`,
  auth: 'platform-admin',
  params: none,
  query: summaryQuery,
  body: null,
  response: () => summaryRows,
  meta: () => summaryMeta,
  status: 200,
  form: 'envelope',
  csv: { name: 'summary', columns: SUMMARY_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER'],
  uses: ['table:read'],
}));

export const adminEndpoints = [listEveryPaymentEndpoint, adminSummaryEndpoint, clearCacheEndpoint];

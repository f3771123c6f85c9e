import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import { clearCacheBody } from '../../shared/admin/clear-cache.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { PAYMENT_COLUMNS, paymentViewSchema } from '../../shared/payments/record/view.ts';
import { everyPaymentQuery } from '../../shared/queries/every-payment-parameters.ts';
import { SUMMARY_COLUMNS, summaryQuery, summaryRows } from '../../shared/queries/payment-summary.ts';

const none = z.object({});

export const clearCacheEndpoint = endpoint({
  id: 'admin.clear-cache',
  method: 'POST',
  path: '/admin/cache/clear',
  summary: 'Empty a cache in every running instance',
  auth: 'platform-admin',
  params: none,
  query: none,
  body: clearCacheBody,
  response: z.object({ cache_type: z.string(), cleared: z.boolean() }),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'UNKNOWN_CACHE_TYPE', 'RATE_LIMITED'],
  limits: [{ name: 'cache-clear', max: 6, windowSeconds: 60, by: ({ caller }) => principalOf(caller) }],
  uses: ['table:read', 'table:put'],
});

export const listEveryPaymentEndpoint = endpoint({
  id: 'admin.list-payments',
  method: 'GET',
  path: '/admin/payments',
  summary: 'Find payments of all owners, newest first',
  auth: 'platform-admin',
  params: none,
  query: everyPaymentQuery,
  body: null,
  response: z.array(paymentViewSchema),
  status: 200,
  form: 'envelope',
  csv: { name: 'payments', columns: PAYMENT_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
});

export const adminSummaryEndpoint = endpoint({
  id: 'admin.summary',
  method: 'GET',
  path: '/admin/summary',
  summary: 'Sum up all payments and refunds by day, week or month',
  auth: 'platform-admin',
  params: none,
  query: summaryQuery,
  body: null,
  response: summaryRows,
  status: 200,
  form: 'envelope',
  csv: { name: 'summary', columns: SUMMARY_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER'],
  uses: ['table:read'],
});

export const adminEndpoints = [clearCacheEndpoint, listEveryPaymentEndpoint, adminSummaryEndpoint];

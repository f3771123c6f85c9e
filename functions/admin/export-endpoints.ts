/** @module The HTTP endpoints that list all customers, and export payments, refunds and a person's stored data. */

import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import {
  EXPORT_PAYMENT_COLUMNS,
  EXPORT_REFUND_COLUMNS,
  exportQuery,
  exportRowSchema,
} from '../../shared/admin/export-money.ts';
import { personExportQuery, personExportSchema, personParams } from '../../shared/admin/export-person.ts';
import { everyCustomerQuery } from '../../shared/admin/list-every-customer.ts';
import { shownCustomerSchema } from '../../shared/customers/shown-customer.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';

const none = z.object({});

export const listEveryCustomerEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.list-customers',
  method: 'GET',
  path: '/admin/customers',
  summary: 'Find customers of all owners, newest first',
  description: `Lists the customers of every user, guest and organization. \`search\` compares whole values (case-insensitive). A new customer
    appears within moments. A customer created before this route existed appears after its next change.`,
  auth: 'platform-admin',
  params: none,
  query: everyCustomerQuery,
  body: null,
  response: () => z.array(shownCustomerSchema),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

const TOTALS = `The header \`X-Totals\` has the sums of the page per settlement currency in minor units: \`USD fee=120 net=2380; EUR fee=0 net=500\`.
    With \`Accept: text/csv\` the list comes as CSV. A page may have no rows while more follow; the Link header leads to the next.`;

/** The fields that both bookkeeping exports share. */
const exporting = {
  method: 'GET',
  auth: 'platform-admin',
  params: none,
  query: exportQuery,
  body: null,
  response: () => z.array(exportRowSchema()),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
} as const;

export const exportPaymentsEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...exporting,
  id: 'admin.export-payments',
  path: '/admin/export/payments',
  summary: 'Export payments with fees, also as CSV',
  description: `Lists payments for bookkeeping, newest created first. \`from\` and \`to\` select by the date of
    creation, of success, or of the money's availability. Without \`from\`, the list covers the last 31 days. ${TOTALS}`,
  csv: { name: 'payments', columns: EXPORT_PAYMENT_COLUMNS },
}));

export const exportRefundsEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...exporting,
  id: 'admin.export-refunds',
  path: '/admin/export/refunds',
  summary: 'Export refunds with fees, also as CSV',
  description: `Lists refunds for bookkeeping, newest created first. \`from\` and \`to\` select by the date of creation, of success, or of the provider's booking. ${TOTALS}`,
  csv: { name: 'refunds', columns: EXPORT_REFUND_COLUMNS },
}));

export const exportPersonEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.export-person',
  method: 'GET',
  path: '/admin/persons/{id}/export',
  summary: 'Export everything that is stored about a person',
  description: `Returns each record and each copy in logs, events and stored responses that an erasure of the person would change, without
    secrets. A page may be short or empty while \`has_more\` is true; continue with \`next_cursor\`. At most 5 exports per hour and caller;
    further pages do not count. After an erasure it returns the remaining data.`,
  auth: 'platform-admin',
  params: personParams,
  query: personExportQuery,
  body: null,
  response: () => personExportSchema,
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RATE_LIMITED'],
  limits: [
    {
      name: 'export-person',
      max: 5,
      windowSeconds: 3_600,
      by: ({ caller, query }) => (hasCursor(query) ? undefined : subjectOf(caller)),
    },
  ],
  uses: ['table:read', 'table:scan'],
  timeoutSeconds: 29,
}));

const hasCursor = (query: unknown): boolean => personExportQuery.safeParse(query).data?.cursor !== undefined;

export const exportEndpoints = [
  listEveryCustomerEndpoint,
  exportPaymentsEndpoint,
  exportRefundsEndpoint,
  exportPersonEndpoint,
];

import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { disputeViewSchema } from '../../shared/payments/dispute.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';
import { LISTED_DISPUTE_COLUMNS, listDisputesQuery, listedDisputeSchema } from '../../shared/queries/list-refunds.ts';

const none = z.object({});

export const listDisputesOfPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'disputes.list-of-payment',
  method: 'GET',
  path: '/payments/{id}/disputes',
  summary: 'List the disputes of a payment',
  description: `Lists all disputes of one payment, newest first. The list has no pages. The provider may reopen a dispute. Callers who may read the payment may read its disputes,
    and so may a guest with the guest token.`,
  auth: 'session-or-token',
  access: { action: 'read', record: paymentRecord },
  params: z.object({ id: idSchema.describe('Id of the payment, `pay_…`.') }),
  query: none,
  body: null,
  response: () => z.array(disputeViewSchema()),
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const listDisputesEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'disputes.list',
  method: 'GET',
  path: '/disputes',
  summary: 'List the disputes of all payments',
  description: `Lists the disputes of every payment, newest first. Use \`status=needs_response\` to find the disputes that wait for evidence. Without
    \`from\` the list goes back 24 months. Follow \`next_cursor\` for the next page. With \`Accept: text/csv\` the list comes as CSV.`,
  meta: () => cursorMeta,
  auth: 'platform-admin',
  params: none,
  query: listDisputesQuery,
  body: null,
  response: () => z.array(listedDisputeSchema()),
  status: 200,
  form: 'envelope',
  csv: { name: 'disputes', columns: LISTED_DISPUTE_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const disputeEndpoints = [listDisputesOfPaymentEndpoint, listDisputesEndpoint];

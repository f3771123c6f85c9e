/** @module The HTTP endpoints for refunds. Only the merchant creates refunds or lists the refunds of all payments. */

import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { byPaymentId } from '../../shared/payments/payment-requests.ts';
import { createRefundBody } from '../../shared/payments/refund-payment.ts';
import { refundRecord, refundViewSchema } from '../../shared/payments/refunds/refund.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';
import { LISTED_REFUND_COLUMNS, listedRefundSchema, listRefundsQuery } from '../../shared/queries/list-refunds.ts';

const none = z.object({});
const ofPayment = z.object({ id: idSchema.describe('Id of the payment, `pay_…`.') });
const byId = z.object({ id: idSchema.describe('Id of the refund, `ref_…`.') });

export const createRefundEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'refunds.create',
  method: 'POST',
  path: '/payments/{id}/refunds',
  summary: 'Refund a payment, in whole or in part',
  description: `Refunds a succeeded payment. The amount is reserved on the payment before the provider is called, so refunds
    together never exceed the payment's total. The payment keeps its status; \`refunded_cents\` and \`refund_status\` change.

    201 means that the provider has accepted the refund: \`succeeded\`, or \`pending\` if the bank takes days. 202 means that the provider
    has not responded. In both cases \`payment.refunded\` or \`payment.refund_failed\` follows as an event. Send an \`Idempotency-Key\`, so that
    a repeat does not refund twice.

    - 409 \`INVALID_STATE\`: the payment has not succeeded, or the amount exceeds what the provider can still refund. A refund takes from one capture. If the payment was captured several times on PayPal's site and the amount exceeds the rest of each capture, \`details.captures\` lists the rests; send several refunds.
    - 409 \`PAYMENT_DISPUTED\`: a dispute of the payment is open, and the body does not have \`despite_dispute: true\`, or the provider
      refuses to refund a disputed payment. \`details\` has the \`dispute_id\` and \`status\` of an open dispute. Stripe and Square refuse
      unless the dispute is an inquiry, and PayPal refuses a partial refund. \`details.status\` is \`lost\` if a lost dispute has
      taken the amount; then the flag does not help.
    - 502 \`PROVIDER_ERROR\`: the provider refused, and the refund is stored as \`failed\`.
    - 403 \`INSUFFICIENT_PERMISSIONS\` with \`details.reason: own_payment\`: the caller is the payer: the user, a guest
      with the same e-mail, or a member of the paying organization. Another person of the merchant must refund the payment. A
      service key counts as its creator and as the person who rotated it, for their own payments and those of
      organizations that they own.`,
  auth: 'platform-admin',
  access: { action: 'merchant', record: paymentRecord },
  params: byPaymentId,
  query: none,
  body: createRefundBody,
  response: refundViewSchema,
  status: 201,
  accepted:
    'The provider has not responded. The refund is `pending`, and the service looks it up until its outcome is known.',
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'REFUND_EXCEEDS_PAYMENT',
    'UNSUPPORTED_PROVIDER',
    'INSUFFICIENT_PERMISSIONS',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'PAYMENT_DISPUTED',
    'VERSION_CONFLICT',
    'PROVIDER_ERROR',
    'PROVIDER_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  rateClass: 'money',
  limits: [{ name: 'refund-admin', max: 120, windowSeconds: 60, by: ({ caller }) => subjectOf(caller) }],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 25,
}));

export const listRefundsOfPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'refunds.list-of-payment',
  method: 'GET',
  path: '/payments/{id}/refunds',
  summary: 'List the refunds of a payment',
  description: `Lists all refunds of one payment, newest first, including refunds made at the provider. The list has no pages. Callers who may
    read the payment may read its refunds, and so may a guest with the guest token.`,
  auth: 'session-or-token',
  access: { action: 'read', record: paymentRecord },
  params: ofPayment,
  query: none,
  body: null,
  response: () => z.array(refundViewSchema()),
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const getRefundEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'refunds.get',
  method: 'GET',
  path: '/refunds/{id}',
  summary: 'Get a refund',
  description: `Shows one refund. Read it to learn whether a \`pending\` refund has settled, or wait for the event.`,
  auth: 'session-or-token',
  access: { action: 'read', record: refundRecord },
  params: byId,
  query: none,
  body: null,
  response: refundViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const listRefundsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'refunds.list',
  method: 'GET',
  path: '/refunds',
  summary: 'List the refunds of all payments',
  description: `Lists the refunds of every payment, newest first. Without \`from\` the list goes back 24 months. Follow \`next_cursor\` for the
    next page. With \`Accept: text/csv\` the list comes as CSV.`,
  meta: () => cursorMeta,
  auth: 'platform-admin',
  params: none,
  query: listRefundsQuery,
  body: null,
  response: () => z.array(listedRefundSchema()),
  status: 200,
  form: 'envelope',
  csv: { name: 'refunds', columns: LISTED_REFUND_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
}));

export const refundEndpoints = [
  createRefundEndpoint,
  listRefundsOfPaymentEndpoint,
  getRefundEndpoint,
  listRefundsEndpoint,
];

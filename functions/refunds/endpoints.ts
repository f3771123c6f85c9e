import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { createRefundBody } from '../../shared/payments/commands/refund.ts';
import { paymentRecord } from '../../shared/payments/record/payment.ts';
import { REFUND_COLUMNS, refundRecord, refundViewSchema } from '../../shared/payments/refunds/refund.ts';
import { listRefundsQuery } from '../../shared/queries/list-refunds.ts';

const none = z.object({});
const byId = z.object({ id: idSchema });

/** POST /payments/confirm/{id} and POST /payments/sync/{provider_payment_id} have as many segments as the create's path. */
const OTHER_ROUTES: readonly string[] = ['confirm', 'sync'];
const byPaymentId = z.object({
  id: idSchema.refine((id) => !OTHER_ROUTES.includes(id), 'must be the id of a payment'),
});

export const createRefundEndpoint = endpoint({
  id: 'refunds.create',
  method: 'POST',
  path: '/payments/{id}/refunds',
  summary: 'Refund a payment, in whole or in part',
  auth: 'platform-admin',
  access: { action: 'platform admin', record: paymentRecord },
  params: byPaymentId,
  query: none,
  body: createRefundBody,
  response: refundViewSchema,
  status: 201,
  accepted:
    'The provider has not answered: the refund is pending, and the service looks it up until its outcome is known',
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'REFUND_EXCEEDS_PAYMENT',
    'UNSUPPORTED_PROVIDER',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'VERSION_CONFLICT',
    'PROVIDER_ERROR',
    'PROVIDER_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: [{ name: 'refund-admin', max: 120, windowSeconds: 60, by: ({ caller }) => principalOf(caller) }],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 25,
});

export const listRefundsOfPaymentEndpoint = endpoint({
  id: 'refunds.list-of-payment',
  method: 'GET',
  path: '/payments/{id}/refunds',
  summary: 'List the refunds of a payment',
  auth: 'session-or-token',
  access: { action: 'read', record: paymentRecord },
  params: byId,
  query: none,
  body: null,
  response: z.array(refundViewSchema),
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
});

export const getRefundEndpoint = endpoint({
  id: 'refunds.get',
  method: 'GET',
  path: '/refunds/{id}',
  summary: 'Get a refund',
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
});

export const listRefundsEndpoint = endpoint({
  id: 'refunds.list',
  method: 'GET',
  path: '/refunds',
  summary: 'List the refunds of all payments',
  auth: 'platform-admin',
  params: none,
  query: listRefundsQuery,
  body: null,
  response: z.array(refundViewSchema),
  status: 200,
  form: 'envelope',
  csv: { name: 'refunds', columns: REFUND_COLUMNS },
  errors: ['VALIDATION_ERROR'],
  uses: ['table:read'],
});

export const refundEndpoints = [
  createRefundEndpoint,
  listRefundsOfPaymentEndpoint,
  getRefundEndpoint,
  listRefundsEndpoint,
];

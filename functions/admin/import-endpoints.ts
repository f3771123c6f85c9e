import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import { importAnswer, importBody } from '../../shared/admin/import-requests.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';

const none = z.object({});

export const importEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.import',
  method: 'POST',
  path: '/admin/imports',
  summary: 'Import customers, methods and subscriptions of another integration',
  description: `Reads each customer at the provider and stores it here for its owner, with its cards and bank accounts
    and, at Stripe, its running subscriptions. Stripe continues to bill them. Nothing is charged, canceled, paused or mailed; the only change at Stripe is our
    id in the metadata of a subscription. The response has the outcome per record. Repeated rows are \`known\`. Begin with \`dry_run\`.`,
  auth: 'platform-admin',
  params: none,
  query: none,
  body: importBody,
  response: importAnswer,
  status: 200,
  form: 'envelope',
  errors: [
    'VALIDATION_ERROR',
    'UNSUPPORTED_PROVIDER',
    'UNSUPPORTED_CURRENCY',
    'AMOUNT_TOO_SMALL',
    'PRICING_MISMATCH',
    'PRODUCT_INACTIVE',
    'QUANTITY_INVALID',
    'IDENTITY_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  limits: [{ name: 'imports', max: 30, windowSeconds: 60, by: ({ caller }) => subjectOf(caller) }],
  timeoutSeconds: 29,
  uses: ['table:read', 'table:put', 'secrets:ids', ...PAYMENT_SECRETS],
}));

export const importEndpoints = [importEndpoint];

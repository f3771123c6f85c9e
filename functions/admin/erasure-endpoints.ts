import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { erasureViewSchema } from '../../shared/removal/erasure-job.ts';
import { erasureBody } from '../../shared/removal/request-erasure.ts';

const none = z.object({});

export const requestErasureEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.request-erasure',
  method: 'POST',
  path: '/admin/erasures',
  summary: 'Erase a person: a user, or the guests of an e-mail address',
  description: `Starts a job that removes a person's data. It cancels live subscriptions first, deletes saved methods and customers at the provider
    too, and blanks names, e-mail addresses, phone numbers, addresses and texts in payments, refunds, logs and stored events. Amounts, dates and ids
    stay. The job waits for a charge that is under way. A repeat while the job runs returns that job.`,
  auth: 'platform-admin',
  params: none,
  query: none,
  body: erasureBody,
  response: () => erasureViewSchema,
  status: 202,
  accepted: 'The erasure continues after the response; `GET /admin/erasures/{id}` shows its progress.',
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'VERSION_CONFLICT', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_REUSED'],
  idempotent: 'create',
  uses: ['table:read', 'table:put', 'secrets:ids'],
}));

export const getErasureEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.get-erasure',
  method: 'GET',
  path: '/admin/erasures/{id}',
  summary: 'Get the progress of an erasure',
  description: 'Shows whether the job is done, and how many records it has blanked or removed so far.',
  auth: 'platform-admin',
  params: z.object({ id: idSchema.describe('Id of the erasure, `ers_…`.') }),
  query: none,
  body: null,
  response: () => erasureViewSchema,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND'],
  uses: ['table:read'],
}));

export const erasureEndpoints = [requestErasureEndpoint, getErasureEndpoint];

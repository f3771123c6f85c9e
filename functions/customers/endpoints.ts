import * as z from 'zod';
import { projectRecord } from '../../shared/catalog/records.ts';
import { CUSTOMER_SECRETS } from '../../shared/core/rights.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import { createCustomerBody, listCustomersQuery, updateCustomerBody } from '../../shared/customers/requests.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { guestCreateLimits } from '../../shared/http/guests.ts';

const none = z.object({});
const byId = z.object({ id: idSchema });

const customerSchema = z.looseObject({
  id: z.string(),
  provider_id: z.string(),
  provider_customer_id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  user_id: z.string().nullable(),
  is_guest: z.boolean(),
  created_at: z.string(),
});

export const createCustomerEndpoint = endpoint({
  id: 'customers.create',
  method: 'POST',
  path: '/customers',
  summary: 'Create a customer',
  auth: 'session-or-guest',
  access: {
    action: 'canManagePayments',
    organization: 'session by default',
    references: (body) => (body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  },
  params: none,
  query: none,
  body: createCustomerBody,
  response: customerSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'UNSUPPORTED_PROVIDER',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'PROVIDER_TIMEOUT',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: guestCreateLimits,
  uses: ['table:read', 'table:put', ...CUSTOMER_SECRETS, 'secrets:guest-tokens'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.customer,
});

export const getCustomerEndpoint = endpoint({
  id: 'customers.get',
  method: 'GET',
  path: '/customers/{id}',
  summary: 'Get a customer',
  auth: 'session',
  access: { action: 'read', record: customerRecord },
  params: byId,
  query: none,
  body: null,
  response: customerSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const listCustomersEndpoint = endpoint({
  id: 'customers.list',
  method: 'GET',
  path: '/customers',
  summary: 'List customers',
  auth: 'session',
  access: { action: 'read', organization: 'session by default' },
  params: none,
  query: listCustomersQuery,
  body: null,
  response: z.array(customerSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const updateCustomerEndpoint = endpoint({
  id: 'customers.update',
  method: 'PUT',
  path: '/customers/{id}',
  summary: 'Update a customer',
  auth: 'session',
  access: { action: 'canManagePayments', record: customerRecord },
  params: byId,
  query: none,
  body: updateCustomerBody,
  response: customerSchema,
  status: 200,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'VERSION_CONFLICT',
    'PROVIDER_TIMEOUT',
  ],
  uses: ['table:read', 'table:put', ...CUSTOMER_SECRETS],
  timeoutSeconds: 20,
});

export const deleteCustomerEndpoint = endpoint({
  id: 'customers.remove',
  method: 'DELETE',
  path: '/customers/{id}',
  summary: 'Delete a customer and its payment methods',
  auth: 'session',
  access: { action: 'canManagePayments', record: customerRecord },
  params: byId,
  query: none,
  body: null,
  response: null,
  status: 204,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'PAYMENT_METHOD_IN_USE', 'PROVIDER_TIMEOUT'],
  uses: ['table:read', 'table:put', 'table:delete', ...CUSTOMER_SECRETS],
  timeoutSeconds: 29,
});

export const customerEndpoints = [
  createCustomerEndpoint,
  getCustomerEndpoint,
  listCustomersEndpoint,
  updateCustomerEndpoint,
  deleteCustomerEndpoint,
];

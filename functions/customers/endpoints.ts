/**
 * @module The HTTP endpoints for customers, with the schemas, access rule and limits of each route. The API document
 * is generated from them.
 */

import * as z from 'zod';
import { projectRecord } from '../../shared/catalog/catalog-records.ts';
import { CUSTOMER_SECRETS } from '../../shared/core/rights.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import {
  createCustomerBody,
  listCustomersQuery,
  updateCustomerBody,
} from '../../shared/customers/customer-requests.ts';
import { shownCustomerSchema } from '../../shared/customers/shown-customer.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { guestTokenView } from '../../shared/http/guest-fields.ts';
import { guestCreateLimits } from '../../shared/http/windows.ts';

const none = z.object({});
const byId = z.object({ id: idSchema.describe('Id of the customer, `cust_…`.') });

const createdCustomerSchema = shownCustomerSchema
  .extend(guestTokenView)
  .meta({ id: 'CreatedCustomer', description: 'The new customer and, for a guest, a guest token.' });

export const createCustomerEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'customers.create',
  method: 'POST',
  path: '/customers',
  summary: 'Create a customer',
  description: `Creates a customer at the provider and here. Payments and saved methods create their customer, so use
    this route only for a subscription or to set the customer's details. Later requests of the owner at this provider
    use this customer by default.`,
  auth: 'session-or-guest',
  access: {
    action: 'canManagePayments',
    organization: 'session by default',
    references: (body) => (body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  },
  params: none,
  query: none,
  body: createCustomerBody,
  response: () => createdCustomerSchema,
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
  uses: ['table:read', 'table:put', ...CUSTOMER_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.customer,
}));

export const getCustomerEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'customers.get',
  method: 'GET',
  path: '/customers/{id}',
  summary: 'Get a customer',
  description: `Shows one customer with its contact details.`,
  auth: 'session',
  access: { action: 'read', record: customerRecord },
  params: byId,
  query: none,
  body: null,
  response: () => shownCustomerSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const listCustomersEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'customers.list',
  method: 'GET',
  path: '/customers',
  summary: 'List customers',
  description: `Lists the customers of the caller or of an organization, newest first.`,
  auth: 'session',
  access: { action: 'read', organization: 'session by default' },
  params: none,
  query: listCustomersQuery,
  body: null,
  response: () => z.array(shownCustomerSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const updateCustomerEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'customers.update',
  method: 'PUT',
  path: '/customers/{id}',
  summary: 'Update a customer',
  description: `Changes the contact details. An e-mail address, name or phone number is sent to the provider first, if the
    provider accepts such a field, and stored once the provider has accepted the change. The provider gets a long name
    shortened, and no phone number or e-mail address that it does not accept; the record here keeps them in full.`,
  auth: 'session',
  access: { action: 'canManagePayments', record: customerRecord },
  params: byId,
  query: none,
  body: updateCustomerBody,
  sentBack: { changedBy: {} },
  response: () => shownCustomerSchema,
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
}));

export const deleteCustomerEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'customers.remove',
  method: 'DELETE',
  path: '/customers/{id}',
  summary: 'Delete a customer and its payment methods',
  description: `Cancels the customer's own subscriptions, removes its payment methods, then removes the customer at the provider and here. Payments stay,
    unless the operator has set \`CUSTOMER_DELETE_HISTORY\`. If a subscription of another owner charges one of the methods and has no other method,
    the response is 409 \`PAYMENT_METHOD_IN_USE\` and nothing changes. A call that stopped midway can be repeated.`,
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
}));

export const customerEndpoints = [
  createCustomerEndpoint,
  getCustomerEndpoint,
  listCustomersEndpoint,
  updateCustomerEndpoint,
  deleteCustomerEndpoint,
];

import * as z from 'zod';
import { ADDRESS_TYPES, addressRecord, TAX_ID_TYPES } from '../../shared/addresses/address.ts';
import { createAddressBody, listAddressesQuery, updateAddressBody } from '../../shared/addresses/requests.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { guestCreateLimits } from '../../shared/http/guests.ts';

const none = z.object({});
const byId = z.object({ id: idSchema });
const text = z.string().nullable();

const addressViewSchema = z.looseObject({
  id: z.string(),
  type: z.enum(ADDRESS_TYPES),
  country: z.string(),
  line1: text,
  line2: text,
  city: text,
  state: text,
  postal_code: text,
  name: text,
  is_partial: z.boolean(),
  is_business: z.boolean(),
  business_name: text,
  tax_id: text,
  tax_id_type: z.enum(TAX_ID_TYPES).nullable(),
  tax_id_valid: z.boolean().nullable(),
  is_default: z.boolean(),
  alias: text,
  is_guest_address: z.boolean(),
  organization_id: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
});

export const createAddressEndpoint = endpoint({
  id: 'addresses.create',
  method: 'POST',
  path: '/addresses',
  summary: 'Create an address',
  auth: 'session-or-guest',
  access: { action: 'canManageAddresses', organization: 'session by default' },
  params: none,
  query: none,
  body: createAddressBody,
  response: addressViewSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'ORGANIZATION_ACCESS_DENIED',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: guestCreateLimits,
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
});

export const getAddressEndpoint = endpoint({
  id: 'addresses.get',
  method: 'GET',
  path: '/addresses/{id}',
  summary: 'Get an address',
  auth: 'session',
  access: { action: 'read', record: addressRecord },
  params: byId,
  query: none,
  body: null,
  response: addressViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const listAddressesEndpoint = endpoint({
  id: 'addresses.list',
  method: 'GET',
  path: '/addresses',
  summary: 'List addresses',
  auth: 'session',
  access: { action: 'read', organization: 'session by default' },
  params: none,
  query: listAddressesQuery,
  body: null,
  response: z.array(addressViewSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'table:put'],
});

const change = {
  auth: 'session',
  access: { action: 'canManageAddresses', record: addressRecord },
  params: byId,
  query: none,
} as const;

export const updateAddressEndpoint = endpoint({
  ...change,
  id: 'addresses.update',
  method: 'PUT',
  path: '/addresses/{id}',
  summary: 'Update an address',
  body: updateAddressBody,
  response: addressViewSchema,
  status: 200,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'ORGANIZATION_ACCESS_DENIED',
    'VERSION_CONFLICT',
  ],
  uses: ['table:read', 'table:put'],
});

export const setDefaultAddressEndpoint = endpoint({
  ...change,
  id: 'addresses.set-default',
  method: 'POST',
  path: '/addresses/{id}/set-default',
  summary: 'Make an address the default of its type',
  body: none,
  response: addressViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED'],
  idempotent: 'stored',
  uses: ['table:read', 'table:put'],
});

export const deleteAddressEndpoint = endpoint({
  ...change,
  id: 'addresses.remove',
  method: 'DELETE',
  path: '/addresses/{id}',
  summary: 'Delete an address',
  body: null,
  response: null,
  status: 204,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'table:put', 'table:delete'],
});

export const addressEndpoints = [
  createAddressEndpoint,
  getAddressEndpoint,
  listAddressesEndpoint,
  updateAddressEndpoint,
  setDefaultAddressEndpoint,
  deleteAddressEndpoint,
];

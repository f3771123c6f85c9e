/**
 * @module The HTTP endpoints for addresses, with the schemas, access rule and limits of each route. The API document
 * is generated from them.
 */

import * as z from 'zod';
import { ADDRESS_TYPES, addressRecord, TAX_ID_TYPES } from '../../shared/customers/address.ts';
import { createAddressBody, listAddressesQuery, updateAddressBody } from '../../shared/customers/address-requests.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, timestamp } from '../../shared/http/fields.ts';
import { guestTokenView } from '../../shared/http/guest-fields.ts';
import { guestCreateLimits } from '../../shared/http/windows.ts';

const none = z.object({});
const byId = z.object({ id: idSchema.describe('Id of the address, `addr_…`.') });
const text = z.string().nullable();

const addressViewSchema = z
  .looseObject({
    id: z.string().meta({
      description: 'Id of the address: `addr_` and 24 characters.',
      examples: ['addr_12e568398996437436c0325d'],
    }),
    type: z.enum(ADDRESS_TYPES).describe('The purpose of the address.'),
    country: z.string().meta({ description: 'The ISO 3166-1 alpha-2 code in upper case.', examples: ['DE'] }),
    line1: text.describe('Street and number; null if unknown.'),
    line2: text.describe('Further parts of the street address; null if the address has only one line.'),
    city: text.describe('The town; null if unknown.'),
    state: text.describe('State, province or region; null if the address has none.'),
    postal_code: text.describe('The postal code, as it was sent; null if none was sent.'),
    name: text.describe('The contact or cardholder; null if unknown.'),
    is_partial: z.boolean().describe('True if only the country was required.'),
    is_business: z.boolean().describe('True for the address of a business.'),
    business_name: text.describe('The name of the business; null for a private address.'),
    tax_id: text.describe('The tax id as it was sent; null if none was sent.'),
    tax_id_type: z.enum(TAX_ID_TYPES).nullable().describe('The kind of tax id; null if the request did not name it.'),
    tax_id_valid: z
      .boolean()
      .nullable()
      .describe(
        'Whether the format and check digits of the tax id are valid for its type and country; null if no rule exists for them.',
      ),
    is_default: z.boolean().describe('True for the one default address of its owner and type.'),
    alias: text.describe('The name that the owner gave to the address; null if it has none.'),
    is_guest_address: z.boolean().describe('True if a guest without a session made the address.'),
    organization_id: z
      .string()
      .optional()
      .describe('The organization that owns the address; absent for a personal address.'),
    created_at: timestamp.describe('When the address was created.'),
    updated_at: timestamp.describe('When the address last changed.'),
  })
  .meta({ id: 'Address', description: 'A billing or shipping address.' });

const createdAddressSchema = addressViewSchema
  .extend(guestTokenView)
  .meta({ id: 'CreatedAddress', description: 'The new address and, for a guest, a guest token.' });

export const createAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'addresses.create',
  method: 'POST',
  path: '/addresses',
  summary: 'Create an address',
  description: `Stores an address. A full address needs country, \`line1\`, \`city\` and, if the country's postal service requires one, a postal
    code; a partial address needs the country; a business address needs the country and \`business_name\`. The service checks a tax id and says in
    \`tax_id_valid\` whether it is well formed; a malformed tax id is stored too.`,
  auth: 'session-or-guest',
  access: { action: 'canManageAddresses', organization: 'session by default' },
  params: none,
  query: none,
  body: createAddressBody,
  response: () => createdAddressSchema,
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
  uses: ['table:read', 'table:put', 'secrets:guest-tokens', 'secrets:ids'],
}));

export const getAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'addresses.get',
  method: 'GET',
  path: '/addresses/{id}',
  summary: 'Get an address',
  description: `Shows one address. Guests cannot read addresses.`,
  auth: 'session',
  access: { action: 'read', record: addressRecord },
  params: byId,
  query: none,
  body: null,
  response: () => addressViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const listAddressesEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'addresses.list',
  method: 'GET',
  path: '/addresses',
  summary: 'List addresses',
  description: `Lists the addresses of the caller or of an organization, newest first.`,
  auth: 'session',
  access: { action: 'read', organization: 'session by default' },
  params: none,
  query: listAddressesQuery,
  body: null,
  response: () => z.array(addressViewSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'table:put'],
}));

const change = {
  auth: 'session',
  access: { action: 'canManageAddresses', record: addressRecord },
  params: byId,
  query: none,
} as const;

export const updateAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'addresses.update',
  method: 'PUT',
  path: '/addresses/{id}',
  summary: 'Update an address',
  description: `Changes the fields that are sent. The result must follow the rules of its kind: if you make a partial
    address full, send the missing fields. Records that are linked to the address show the change immediately; billing details at a provider do not change.`,
  body: updateAddressBody,
  sentBack: { changedBy: {} },
  response: () => addressViewSchema,
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
}));

export const setDefaultAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'addresses.set-default',
  method: 'POST',
  path: '/addresses/{id}/set-default',
  summary: 'Make an address the default of its type',
  description: `Marks the address as the default of its owner and type, in place of the previous default. The last request wins.`,
  body: none,
  response: () => addressViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED'],
  idempotent: 'stored',
  uses: ['table:read', 'table:put'],
}));

export const deleteAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'addresses.remove',
  method: 'DELETE',
  path: '/addresses/{id}',
  summary: 'Delete an address',
  description: `Removes the address and unlinks it from payment methods and subscriptions; payments keep its id for audit. If the default is deleted,
    the newest remaining address of its type takes its place.`,
  body: null,
  response: null,
  status: 204,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'table:put', 'table:delete'],
}));

export const addressEndpoints = [
  createAddressEndpoint,
  getAddressEndpoint,
  listAddressesEndpoint,
  updateAddressEndpoint,
  setDefaultAddressEndpoint,
  deleteAddressEndpoint,
];

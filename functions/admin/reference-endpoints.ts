import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { offsetQuery } from '../../shared/http/paging.ts';
import { REFERENCE_KINDS } from '../../shared/table/keys.ts';

/** No enum: an unknown kind must answer 404, not a validation error. */
const kind = z.string().meta({ description: REFERENCE_KINDS.join(', ') });
const ofKind = z.object({ kind });
const one = z.object({ kind, id: idSchema });
const none = z.object({});
const record = z.looseObject({
  id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  updated_by: z
    .string()
    .nullable()
    .describe(
      'The user id of the platform admin who changed the record last; null for a change before the field existed.',
    ),
});

export const putRecordEndpoint = endpoint({
  id: 'admin.put-record',
  method: 'PUT',
  path: '/admin/{kind}/{id}',
  summary: 'Make or replace a product, project, tier or invite',
  auth: 'platform-admin',
  params: one,
  query: none,
  body: z.looseObject({}),
  response: record,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'ROUTE_NOT_FOUND', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put'],
});

export const getRecordEndpoint = endpoint({
  id: 'admin.get-record',
  method: 'GET',
  path: '/admin/{kind}/{id}',
  summary: 'Get a product, project, tier or invite',
  auth: 'platform-admin',
  params: one,
  query: none,
  body: null,
  response: record,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ROUTE_NOT_FOUND'],
  uses: ['table:read'],
});

export const deleteRecordEndpoint = endpoint({
  id: 'admin.delete-record',
  method: 'DELETE',
  path: '/admin/{kind}/{id}',
  summary: 'Delete a product, project, tier or invite',
  auth: 'platform-admin',
  params: one,
  query: none,
  body: null,
  response: null,
  status: 204,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ROUTE_NOT_FOUND'],
  uses: ['table:read', 'table:put', 'table:delete'],
});

export const listRecordsEndpoint = endpoint({
  id: 'admin.list-records',
  method: 'GET',
  path: '/admin/{kind}',
  summary: 'List products, projects, tiers or invites',
  auth: 'platform-admin',
  params: ofKind,
  query: z.object(offsetQuery),
  body: null,
  response: z.array(record),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'ROUTE_NOT_FOUND'],
  uses: ['table:read'],
});

export const referenceEndpoints = [putRecordEndpoint, getRecordEndpoint, deleteRecordEndpoint, listRecordsEndpoint];

/**
 * @module The HTTP endpoints for reference records: products, projects, tiers, invites and discount codes. Only
 * the merchant may use them.
 */

import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { boundedText, idSchema, timestamp } from '../../shared/http/fields.ts';
import { offsetQuery } from '../../shared/http/paging.ts';
import { REFERENCE_KINDS } from '../../shared/platform/keys.ts';

/** Not an enum, because an unknown kind must return 404 instead of a validation error. */
const kind = boundedText(64).meta({
  description: `The kind of record: ${REFERENCE_KINDS.map((one) => `\`${one}\``).join(', ')}.`,
  examples: ['products'],
});
const ofKind = z.object({ kind });
const one = z.object({
  kind,
  id: idSchema.describe(
    "Names the record, as in the path of the request. Your systems choose it; an invite's id is its token, a discount's id is its code.",
  ),
});
const none = z.object({});
const record = z
  .looseObject({
    id: z.string().describe('Names the record, as in the path of the request.'),
    created_at: timestamp.describe('When the record was first stored here.'),
    updated_at: timestamp.describe('When the record was last replaced.'),
    updated_by: z
      .string()
      .nullable()
      .describe('The user id of the platform admin who last replaced the record; null if none is recorded.'),
  })
  .meta({
    id: 'ReferenceRecord',
    description: 'A product, project, tier, invite or discount code with all its fields, as it was stored.',
  });

export const putRecordEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.put-record',
  method: 'PUT',
  path: '/admin/{kind}/{id}',
  summary: 'Create or replace a product, project, tier, invite or discount code',
  description: `Stores the whole record under the id that you choose; fields that are not sent get their defaults. The systems that own these records
    call it whenever one changes. Existing payments and subscriptions keep their price.

    - \`products\`: \`name\`, \`total_cents\` and \`currency\` are required; \`billing_interval\` makes it a subscription's product, and
      \`metadata.membership_type_id\` names its tier
    - \`projects\`: \`name\` and \`slug\` are required
    - \`tiers\`: \`name\`, \`slug\` and \`entity_type\` are required
    - \`invites\`: \`project_id\`, \`inviter_name\`, \`role\`, \`email\` and \`expires_at\` are required
    - \`discounts\`: the id is the code, 3 to 40 of A-Z, 0-9, - and _ (case-insensitive); \`name\` and either \`percent_bp\` or \`amounts\` are
      required. A read adds \`reserved\` and \`redeemed\`, counted only with \`max_redemptions\``,
  auth: 'platform-admin',
  params: one,
  query: none,
  body: z
    .looseObject({})
    .meta({ id: 'PutReferenceRecord', description: 'All fields of the record. The fields depend on its kind.' }),
  response: () => record,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'ROUTE_NOT_FOUND', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put'],
}));

export const getRecordEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.get-record',
  method: 'GET',
  path: '/admin/{kind}/{id}',
  summary: 'Get a product, project, tier, invite or discount code',
  description: 'Shows one record with all its fields, also those that buyers never see.',
  auth: 'platform-admin',
  params: one,
  query: none,
  body: null,
  response: () => record,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ROUTE_NOT_FOUND'],
  uses: ['table:read'],
}));

export const deleteRecordEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.delete-record',
  method: 'DELETE',
  path: '/admin/{kind}/{id}',
  summary: 'Delete a product, project, tier, invite or discount code',
  description: 'Removes the record here. Payments and subscriptions that refer to it keep their price and continue.',
  auth: 'platform-admin',
  params: one,
  query: none,
  body: null,
  response: null,
  status: 204,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ROUTE_NOT_FOUND'],
  uses: ['table:read', 'table:put', 'table:delete'],
}));

export const listRecordsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'admin.list-records',
  method: 'GET',
  path: '/admin/{kind}',
  summary: 'List products, projects, tiers, invites or discount codes',
  description: 'Lists all records of one kind, newest first, by `limit` and `offset`.',
  auth: 'platform-admin',
  params: ofKind,
  query: z.object(offsetQuery),
  body: null,
  response: () => z.array(record),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'ROUTE_NOT_FOUND'],
  uses: ['table:read'],
}));

export const referenceEndpoints = [putRecordEndpoint, getRecordEndpoint, deleteRecordEndpoint, listRecordsEndpoint];

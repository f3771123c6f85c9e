import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { MEMBERSHIP_STATUSES, membershipRecord } from '../../shared/memberships/membership.ts';
import { entityNamed, listMembershipsQuery } from '../../shared/memberships/read.ts';

const none = z.object({});

export const listTiersEndpoint = endpoint({
  id: 'memberships.list-tiers',
  method: 'GET',
  path: '/memberships/tiers',
  summary: 'List the active membership tiers',
  auth: 'public',
  params: none,
  query: none,
  body: null,
  response: z.array(z.looseObject({ id: z.string(), name: z.string(), slug: z.string(), rank: z.int() })),
  status: 200,
  form: 'envelope',
  uses: ['table:read'],
});

const membershipSchema = z.looseObject({
  id: z.string(),
  membership_type_id: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  subscription_id: z.string(),
  status: z.enum(MEMBERSHIP_STATUSES),
  starts_at: z.string().nullable(),
  ends_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});

export const getMembershipEndpoint = endpoint({
  id: 'memberships.get',
  method: 'GET',
  path: '/memberships/{id}',
  summary: 'Get a membership',
  auth: 'session',
  access: { action: 'read', record: membershipRecord },
  params: z.object({ id: idSchema }),
  query: none,
  body: null,
  response: membershipSchema,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const listMembershipsEndpoint = endpoint({
  id: 'memberships.list',
  method: 'GET',
  path: '/memberships',
  summary: 'List the memberships of a user, an organization or a project',
  auth: 'session',
  access: { action: 'read', references: entityNamed },
  params: none,
  query: listMembershipsQuery,
  body: null,
  response: z.array(membershipSchema),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const membershipEndpoints = [listTiersEndpoint, getMembershipEndpoint, listMembershipsEndpoint];

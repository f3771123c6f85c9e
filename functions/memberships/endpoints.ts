/** @module The read-only HTTP endpoints for memberships and their tiers. */

import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, timestamp } from '../../shared/http/fields.ts';
import { MEMBERSHIP_STATUSES, membershipRecord } from '../../shared/memberships/membership.ts';
import { entityNamed, listMembershipsQuery } from '../../shared/memberships/read-memberships.ts';
import { ENTITY_TYPES } from '../../shared/platform/keys.ts';

const none = z.object({});

export const listTiersEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'memberships.list-tiers',
  method: 'GET',
  path: '/memberships/tiers',
  summary: 'List the active membership tiers',
  description: 'Lists every active tier, the lowest rank first. Use it for a pricing page. It needs no credential.',
  auth: 'public',
  params: none,
  query: none,
  body: null,
  response: () =>
    z.array(
      z
        .looseObject({
          id: z.string().describe('Id of the tier; `metadata.membership_type_id` of a product refers to it.'),
          name: z.string().describe('The name to show to people.'),
          slug: z.string().describe('A short name for URLs and code.'),
          description: z.string().nullable().describe('A description of the tier; null if it has none.'),
          rank: z.int().describe('The rank of the tier; the list begins with the lowest rank.'),
          entity_type: z.enum(ENTITY_TYPES).describe('Who gets memberships of this tier.'),
          features: z.array(z.string()).describe('What the tier includes, in your own words.'),
          product_ids: z.array(z.string()).describe('The products that give this tier.'),
          is_active: z.boolean().describe('Always true in this list.'),
        })
        .meta({ id: 'MembershipTier', description: 'A membership level that comes with a subscription to a product.' }),
    ),
  status: 200,
  form: 'envelope',
  uses: ['table:read'],
}));

const membershipSchema = z
  .looseObject({
    id: z.string().describe('Id of the membership, `mbr_…`.'),
    membership_type_id: z.string().describe('The tier that it gives, as `GET /memberships/tiers` lists it.'),
    entity_type: z.enum(ENTITY_TYPES).describe('Whether `entity_id` is a user, an organization or a project.'),
    entity_id: z.string().describe('The project, organization or user that has the membership.'),
    subscription_id: z.string().describe('The subscription that gives the membership, `subs_…`.'),
    status: z.enum(MEMBERSHIP_STATUSES).meta({
      id: 'MembershipStatus',
      description: `The status of the membership:
        - \`pending\`: no payment has covered the tier yet, as in a trial, while a first charge is open, or after a scheduled change
        - \`active\`: in force
        - \`cancelled\`: ended with its subscription
        - \`expired\`: its time is over`,
    }),
    starts_at: timestamp
      .nullable()
      .describe(
        'When the membership first became active; null before. A tier from a plan change starts with that change.',
      ),
    ends_at: timestamp.nullable().describe('The end of the paid time; a renewal extends it.'),
    created_at: timestamp.describe('When the membership was created.'),
    updated_at: timestamp.describe('When the membership last changed.'),
  })
  .meta({
    id: 'Membership',
    description: 'A tier that a subscription gives to a project, an organization or a user.',
  });

export const getMembershipEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'memberships.get',
  method: 'GET',
  path: '/memberships/{id}',
  summary: 'Get a membership',
  description: `Shows one membership. Its subscription changes it: it becomes active with the first payment that covers the tier, is
    extended by each renewal, and ends with the subscription.`,
  auth: 'session',
  access: { action: 'read', record: membershipRecord },
  params: z.object({ id: idSchema.describe('Id of the membership, `mbr_…`.') }),
  query: none,
  body: null,
  response: () => membershipSchema,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const listMembershipsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'memberships.list',
  method: 'GET',
  path: '/memberships',
  summary: 'List the memberships of a user, an organization or a project',
  description: `Lists memberships in every status, newest first; without a query, the memberships of the caller. Use it to decide what a project or
    an organization may use.`,
  auth: 'session',
  access: { action: 'read', references: entityNamed },
  params: none,
  query: listMembershipsQuery,
  body: null,
  response: () => z.array(membershipSchema),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const membershipEndpoints = [listTiersEndpoint, getMembershipEndpoint, listMembershipsEndpoint];

import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import { ROLES } from '../../shared/access/permissions.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { organizationRecord } from '../../shared/organizations/organization.ts';
import {
  addMemberBody,
  changeRoleBody,
  createOrganizationBody,
  listMembersQuery,
  listOrganizationsQuery,
  updateOrganizationBody,
} from '../../shared/organizations/requests.ts';

const HOUR = 3_600;
const none = z.object({});
const byId = z.object({ id: idSchema });
const byMember = z.object({ id: idSchema, memberId: idSchema });

const role = z.enum(ROLES);
const organizationFields = {
  id: z.string(),
  name: z.string(),
  owner_user_id: z.string(),
  business_email: z.string().nullable(),
  business_phone: z.string().nullable(),
  tax_id: z.string().nullable(),
  address: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
};
const organizationSchema = z.object(organizationFields);

const memberFields = {
  id: z.string(),
  user_id: z.string(),
  role,
  created_at: z.string(),
  updated_at: z.string(),
};
const memberSchema = z.object({ ...memberFields, organization_id: z.string() });
const listedMemberSchema = z.object({
  ...memberFields,
  user_name: z.string(),
  user_last_name: z.string(),
  user_email: z.string(),
  user_picture: z.string().nullable(),
});

/** Fields of every route: sessions only, with the answer in an envelope. */
const common = { auth: 'session', query: none, form: 'envelope' } as const;
const reads = { status: 200, body: null, uses: ['table:read'] } as const;
const writes = { status: 200, uses: ['table:read', 'table:put'] } as const;
const endsMembership = { status: 200, uses: ['table:read', 'table:put', 'table:delete'] } as const;

export const createOrganizationEndpoint = endpoint({
  ...common,
  ...writes,
  id: 'organizations.create',
  method: 'POST',
  path: '/organizations',
  summary: 'Create an organization',
  params: none,
  body: createOrganizationBody,
  response: organizationSchema,
  status: 201,
  errors: ['VALIDATION_ERROR'],
  idempotent: 'create',
});

export const listOrganizationsEndpoint = endpoint({
  ...common,
  ...reads,
  id: 'organizations.list',
  method: 'GET',
  path: '/organizations',
  summary: "List the caller's organizations",
  params: none,
  query: listOrganizationsQuery,
  response: z.array(organizationSchema.extend({ role })),
  errors: ['VALIDATION_ERROR'],
});

export const getOrganizationEndpoint = endpoint({
  ...common,
  ...reads,
  id: 'organizations.get',
  method: 'GET',
  path: '/organizations/{id}',
  summary: 'Get an organization',
  access: { action: 'read', record: organizationRecord },
  params: byId,
  response: organizationSchema.extend({ your_role: role.nullable() }),
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
});

const byItsOwner = { action: 'owner only', record: organizationRecord } as const;
const OWNER_ERRORS = ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED', 'INSUFFICIENT_PERMISSIONS'] as const;

export const updateOrganizationEndpoint = endpoint({
  ...common,
  ...writes,
  id: 'organizations.update',
  method: 'PUT',
  path: '/organizations/{id}',
  summary: 'Update an organization',
  access: byItsOwner,
  params: byId,
  body: updateOrganizationBody,
  response: organizationSchema,
  errors: ['VALIDATION_ERROR', ...OWNER_ERRORS],
});

export const deleteOrganizationEndpoint = endpoint({
  ...common,
  ...writes,
  id: 'organizations.remove',
  method: 'DELETE',
  path: '/organizations/{id}',
  summary: 'Delete an organization and what belongs to it',
  access: byItsOwner,
  params: byId,
  body: null,
  response: z.undefined(),
  errors: [...OWNER_ERRORS, 'PROVIDER_ERROR'],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 29,
});

export const listMembersEndpoint = endpoint({
  ...common,
  ...reads,
  id: 'organizations.list-members',
  method: 'GET',
  path: '/organizations/{id}/members',
  summary: 'List the members of an organization',
  access: { action: 'read', record: organizationRecord },
  params: byId,
  query: listMembersQuery,
  response: z.array(listedMemberSchema),
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
});

export const addMemberEndpoint = endpoint({
  ...common,
  ...writes,
  id: 'organizations.add-member',
  method: 'POST',
  path: '/organizations/{id}/members',
  summary: 'Add a user to an organization',
  access: byItsOwner,
  params: byId,
  body: addMemberBody,
  response: memberSchema,
  status: 201,
  errors: ['VALIDATION_ERROR', 'INVALID_ROLE', 'USER_NOT_FOUND', 'ALREADY_MEMBER', 'RATE_LIMITED', ...OWNER_ERRORS],
  idempotent: 'stored',
  // Limited because the answer reveals whether an e-mail address has an account.
  limits: [{ name: 'add-member', max: 30, windowSeconds: HOUR, by: ({ caller }) => principalOf(caller) }],
});

export const changeRoleEndpoint = endpoint({
  ...common,
  ...writes,
  id: 'organizations.change-role',
  method: 'PUT',
  path: '/organizations/{id}/members/{memberId}',
  summary: 'Change the role of a member',
  access: byItsOwner,
  params: byMember,
  body: changeRoleBody,
  response: memberSchema,
  errors: ['VALIDATION_ERROR', 'INVALID_ROLE', 'OWNER_IMMUTABLE', 'CANNOT_CHANGE_SELF', ...OWNER_ERRORS],
});

export const removeMemberEndpoint = endpoint({
  ...common,
  ...endsMembership,
  id: 'organizations.remove-member',
  method: 'DELETE',
  path: '/organizations/{id}/members/{memberId}',
  summary: 'Remove a member from an organization',
  access: byItsOwner,
  params: byMember,
  body: null,
  response: z.undefined(),
  errors: ['OWNER_IMMUTABLE', 'CANNOT_CHANGE_SELF', ...OWNER_ERRORS],
});

export const leaveOrganizationEndpoint = endpoint({
  ...common,
  ...endsMembership,
  id: 'organizations.leave',
  method: 'POST',
  path: '/organizations/{id}/leave',
  summary: 'Leave an organization',
  access: { action: 'member', record: organizationRecord, endsAccess: true },
  params: byId,
  body: none,
  response: z.object({ organization_id: z.string() }),
  errors: ['OWNER_CANNOT_LEAVE', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  idempotent: 'stored',
});

export const organizationEndpoints = [
  createOrganizationEndpoint,
  listOrganizationsEndpoint,
  getOrganizationEndpoint,
  updateOrganizationEndpoint,
  deleteOrganizationEndpoint,
  listMembersEndpoint,
  addMemberEndpoint,
  changeRoleEndpoint,
  removeMemberEndpoint,
  leaveOrganizationEndpoint,
];

/** @module The HTTP endpoints for organizations and their members. All require a session. */

import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import { ROLES } from '../../shared/access/permissions.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, timestamp } from '../../shared/http/fields.ts';
import { organizationRecord } from '../../shared/organizations/organization.ts';
import {
  addMemberBody,
  changeRoleBody,
  createOrganizationBody,
  listMembersQuery,
  listOrganizationsQuery,
  updateOrganizationBody,
} from '../../shared/organizations/organization-requests.ts';
import { pagesMeta } from '../../shared/queries/list-meta.ts';

const HOUR_SECONDS = 3_600;
const none = z.object({});
const organizationId = idSchema.describe('Id of the organization, `org_…`.');
const byId = z.object({ id: organizationId });
const byMember = z.object({
  id: organizationId,
  memberId: idSchema.describe('Id of the member: `mem_…`, the `id` of a list entry.'),
});

const role = z.enum(ROLES).meta({
  id: 'Role',
  description: `What a member may do in the organization:
    - \`owner\`: everything; exactly one per organization
    - \`admin\` and \`billing\`: read, and manage payments, methods and subscriptions
    - \`member\`: read`,
});
const organizationFields = {
  id: z.string().meta({ description: 'Id of the organization, `org_…`.', examples: ['org_demo'] }),
  name: z.string().describe('The name to show to people.'),
  owner_user_id: z.string().describe('The user who owns the organization.'),
  business_email: z.string().nullable().describe('The e-mail address for business matters; null if not set.'),
  business_phone: z.string().nullable().describe('The phone number for business matters; null if not set.'),
  tax_id: z.string().nullable().describe('The tax number as it was entered; null if not set.'),
  address: z.string().nullable().describe('The postal address as one text; null if not set.'),
  created_at: timestamp.describe('When the organization was created.'),
  updated_at: timestamp.describe('When the organization last changed.'),
};
const organizationSchema = z
  .object(organizationFields)
  .meta({ id: 'Organization', description: 'A group of users that pays together, with a role for each member.' });

const memberFields = {
  id: z.string().describe('Id of the member, `mem_…`.'),
  user_id: z.string().describe('The id of the user at the identity service.'),
  role,
  created_at: timestamp.describe('When the user joined.'),
  updated_at: timestamp.describe('When the role last changed.'),
};
const memberSchema = z
  .object({ ...memberFields, organization_id: z.string().describe('The organization of the user, `org_…`.') })
  .meta({ id: 'Member', description: 'A user in an organization.' });
const listedMemberSchema = z
  .object({
    ...memberFields,
    user_name: z
      .string()
      .nullable()
      .describe("The user's first name, from the identity service; null without an identity service."),
    user_last_name: z
      .string()
      .nullable()
      .describe("The user's last name, from the identity service; null without an identity service."),
    user_email: z.string().nullable().describe("The user's e-mail address; null without an identity service."),
    user_picture: z.string().nullable().describe("The URL of the user's picture; null if the user has none."),
  })
  .meta({ id: 'ListedMember', description: 'A user in an organization, with the name to show.' });

/** The fields of every route. Each requires a session and returns its data in an envelope. */
const common = { auth: 'session', query: none, form: 'envelope' } as const;
const reads = { status: 200, body: null, uses: ['table:read'] } as const;
const writes = { status: 200, uses: ['table:read', 'table:put'] } as const;
const endsMembership = { status: 200, uses: ['table:read', 'table:put', 'table:delete'] } as const;

export const createOrganizationEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...writes,
  id: 'organizations.create',
  method: 'POST',
  path: '/organizations',
  summary: 'Create an organization',
  description:
    'Creates an organization with the caller as its owner. Send an `Idempotency-Key`, so that a repeat does not create a second organization.',
  params: none,
  body: createOrganizationBody,
  response: () => organizationSchema,
  status: 201,
  errors: ['VALIDATION_ERROR', 'RATE_LIMITED'],
  idempotent: 'create',
  uses: ['table:read', 'table:put', 'secrets:ids'],
  limits: [
    { name: 'create-organization', max: 20, windowSeconds: HOUR_SECONDS, by: ({ caller }) => subjectOf(caller) },
  ],
}));

export const listOrganizationsEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...reads,
  id: 'organizations.list',
  method: 'GET',
  path: '/organizations',
  summary: "List the caller's organizations",
  description:
    "Lists every organization that the caller belongs to, with the caller's role in it, by `page` and `limit`.",
  meta: () => pagesMeta,
  params: none,
  query: listOrganizationsQuery,
  response: () =>
    z.array(
      organizationSchema
        .extend({ role })
        .meta({ id: 'ListedOrganization', description: 'An organization, with the role of the caller.' }),
    ),
  errors: ['VALIDATION_ERROR'],
}));

export const getOrganizationEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...reads,
  id: 'organizations.get',
  method: 'GET',
  path: '/organizations/{id}',
  summary: 'Get an organization',
  description: 'Shows one organization to its members, with the role of the caller.',
  access: { action: 'read', record: organizationRecord },
  params: byId,
  response: () =>
    organizationSchema
      .extend({
        your_role: role.nullable().describe('The role of the caller; null for the merchant, who is not a member.'),
      })
      .meta({ id: 'ShownOrganization', description: 'An organization, with the role of the caller.' }),
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
}));

const byItsOwner = { action: 'owner only', record: organizationRecord } as const;
const OWNER_ERRORS = ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED', 'INSUFFICIENT_PERMISSIONS'] as const;

export const updateOrganizationEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...writes,
  id: 'organizations.update',
  method: 'PUT',
  path: '/organizations/{id}',
  summary: 'Update an organization',
  description: 'Changes the fields that are sent; null clears one. Only the owner may do it.',
  access: byItsOwner,
  params: byId,
  body: updateOrganizationBody,
  sentBack: { further: ['your_role', 'role'], changedBy: {} },
  response: () => organizationSchema,
  errors: ['VALIDATION_ERROR', ...OWNER_ERRORS],
}));

export const deleteOrganizationEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...writes,
  id: 'organizations.remove',
  method: 'DELETE',
  path: '/organizations/{id}',
  summary: 'Delete an organization',
  description: `Cancels its live subscriptions, then ends the access of all members immediately and deletes its members, customers, payment methods and
    addresses. Payments stay as financial records. Only the owner may do it.

    502 \`PROVIDER_ERROR\` means that a subscription could not be canceled at the provider. The organization was not deleted, so send
    the request again.`,
  access: byItsOwner,
  params: byId,
  body: null,
  response: () => z.undefined(),
  errors: [...OWNER_ERRORS, 'PROVIDER_ERROR'],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 29,
}));

export const listMembersEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...reads,
  id: 'organizations.list-members',
  method: 'GET',
  path: '/organizations/{id}/members',
  summary: 'List the members of an organization',
  description: 'Lists the members with their names and roles, by `page` and `limit`. Any member may read the list.',
  meta: () => pagesMeta,
  access: { action: 'read', record: organizationRecord },
  params: byId,
  query: listMembersQuery,
  response: () => z.array(listedMemberSchema),
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
}));

export const addMemberEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...writes,
  id: 'organizations.add-member',
  method: 'POST',
  path: '/organizations/{id}/members',
  summary: 'Add a user to an organization',
  description: `Gives a user a role in the organization. A user without an account gets 404 \`USER_NOT_FOUND\`. A service key may name the user by
    \`user_id\` instead of \`email\` if the service has no identity service (\`IDENTITY_LOOKUP=off\`). There is exactly one
    owner, so the role \`owner\` gets 400 \`INVALID_ROLE\`. Only the owner may do it.`,
  access: byItsOwner,
  params: byId,
  body: addMemberBody,
  response: () => memberSchema,
  status: 201,
  errors: ['VALIDATION_ERROR', 'INVALID_ROLE', 'USER_NOT_FOUND', 'ALREADY_MEMBER', 'RATE_LIMITED', ...OWNER_ERRORS],
  idempotent: 'stored',
  // Limited because the response reveals whether an e-mail address has an account.
  limits: [{ name: 'add-member', max: 30, windowSeconds: HOUR_SECONDS, by: ({ caller }) => subjectOf(caller) }],
}));

/** The fields of a listed member from the identity service. */
const USER_DETAILS = ['user_name', 'user_last_name', 'user_email', 'user_picture'];

export const changeRoleEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...writes,
  id: 'organizations.change-role',
  method: 'PUT',
  path: '/organizations/{id}/members/{memberId}',
  summary: 'Change the role of a member',
  description: `Gives a member another role, which takes effect with the next request. The owner's role cannot change (\`OWNER_IMMUTABLE\`), and callers
    cannot change their own role (\`CANNOT_CHANGE_SELF\`).`,
  access: byItsOwner,
  params: byMember,
  body: changeRoleBody,
  sentBack: { further: USER_DETAILS, moving: USER_DETAILS, changedBy: {} },
  response: () => memberSchema,
  errors: ['VALIDATION_ERROR', 'INVALID_ROLE', 'OWNER_IMMUTABLE', 'CANNOT_CHANGE_SELF', ...OWNER_ERRORS],
}));

export const removeMemberEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...endsMembership,
  id: 'organizations.remove-member',
  method: 'DELETE',
  path: '/organizations/{id}/members/{memberId}',
  summary: 'Remove a member from an organization',
  description: `Ends the access of a member immediately. The member's payment methods no longer pay for the
    organization. Subscriptions with such a method become past due at their next charge, until another method is set.`,
  access: byItsOwner,
  params: byMember,
  body: null,
  response: () => z.undefined(),
  errors: ['OWNER_IMMUTABLE', 'CANNOT_CHANGE_SELF', ...OWNER_ERRORS],
}));

export const leaveOrganizationEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...common,
  ...endsMembership,
  id: 'organizations.leave',
  method: 'POST',
  path: '/organizations/{id}/leave',
  summary: 'Leave an organization',
  description: `Ends the caller's own membership, with the effect of a removal. The owner cannot leave: delete the organization instead
    (\`OWNER_CANNOT_LEAVE\`).`,
  access: { action: 'member', record: organizationRecord, endsAccess: true },
  params: byId,
  body: none,
  response: () => z.object({ organization_id: z.string().describe('The organization that the caller left.') }),
  errors: ['OWNER_CANNOT_LEAVE', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  idempotent: 'stored',
}));

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

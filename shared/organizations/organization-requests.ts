/** @module Bodies and queries of the organization and member routes. */

import * as z from 'zod';
import { ROLES } from '../access/permissions.ts';
import { boundedText, emailSchema, hasAnyField, requiredRule, SAID_USER_ID } from '../http/fields.ts';
import { isWithinReach, outOfReach, PAGE_LIMIT, pageNumber, wholeNumberParameter } from '../http/paging.ts';

const DEFAULT_PAGE_SIZE = 20;

const name = boundedText(200).trim().min(1).describe('The name to show to people, at most 200 characters.');
const details = {
  business_email: emailSchema.nullish().describe('The e-mail address for business matters.'),
  business_phone: boundedText(32).nullish().describe('The phone number for business matters, in any notation.'),
  tax_id: boundedText(50).nullish().describe('The tax number; it is kept as entered, and not checked.'),
  address: boundedText(500).nullish().describe('The postal address as one text.'),
};

export const createOrganizationBody = z
  .object({ ...details, name })
  .meta({ id: 'CreateOrganization', description: 'The name, and details for business matters.' });
export type CreateOrganizationBody = z.output<typeof createOrganizationBody>;

export const updateOrganizationBody = z.object({ ...details, name: name.optional() }).meta({
  id: 'UpdateOrganization',
  description: 'At least one field; null clears a field that may be empty.',
  minProperties: 1,
});
export type UpdateOrganizationBody = z.output<typeof updateOrganizationBody>;

/** Accepts `owner`, which the use case refuses with a specific error. */
const role = z.enum(ROLES).describe('The role: `admin`, `billing` or `member`. `owner` is refused.');

export const addMemberBody = z
  .object({
    email: emailSchema.optional().describe('The e-mail address of an account. Required unless `user_id` is sent.'),
    user_id: boundedText(64)
      .regex(SAID_USER_ID, 'must be 1 to 64 letters, digits or . _ - @ | : + =')
      .optional()
      .describe('The user, only from service keys, and only if the service has no identity service.'),
    role,
  })
  .refine(
    (body) => hasAnyField(body, 'email') !== hasAnyField(body, 'user_id'),
    requiredRule('email', 'must be sent without user_id, or user_id without email'),
  )
  .meta({ id: 'AddMember', description: 'The new member and the role.' });
export type AddMemberBody = z.output<typeof addMemberBody>;

export const changeRoleBody = z.object({ role }).meta({ id: 'ChangeRole', description: 'The new role of the member.' });
export type ChangeRoleBody = z.output<typeof changeRoleBody>;

const page = {
  page: pageNumber.describe('The number of the page, from 1.'),
  limit: wholeNumberParameter(1, PAGE_LIMIT)
    .default(DEFAULT_PAGE_SIZE)
    .describe('Entries per page, 1 to 100; 20 if absent.'),
};

export const listOrganizationsQuery = z.object(page).refine(isWithinReach, outOfReach);
export const listMembersQuery = z
  .object({ ...page, role: z.enum(ROLES).optional().describe('Only members with this role.') })
  .refine(isWithinReach, outOfReach);
export type ListMembersQuery = z.output<typeof listMembersQuery>;
export interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

import * as z from 'zod';
import { ROLES } from '../access/permissions.ts';
import { emailSchema } from '../http/fields.ts';
import { MAX_OFFSET, PAGE_LIMIT, wholeNumber } from '../http/paging.ts';

const DEFAULT_PAGE_SIZE = 20;

const name = z.string().trim().min(1).max(200);
const details = {
  business_email: emailSchema.nullish(),
  business_phone: z.string().max(32).nullish(),
  tax_id: z.string().max(50).nullish(),
  address: z.string().max(500).nullish(),
};

export const createOrganizationBody = z.object({ ...details, name });
export type CreateOrganizationBody = z.output<typeof createOrganizationBody>;

export const updateOrganizationBody = z
  .object({ ...details, name: name.optional() })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    message: 'needs at least one field',
    params: { rule: 'required' },
  });
export type UpdateOrganizationBody = z.output<typeof updateOrganizationBody>;

/** Includes `owner`, which the use case refuses with its own error. */
const role = z.enum(ROLES);

export const addMemberBody = z.object({ email: emailSchema, role });
export type AddMemberBody = z.output<typeof addMemberBody>;

export const changeRoleBody = z.object({ role });
export type ChangeRoleBody = z.output<typeof changeRoleBody>;

const page = {
  page: wholeNumber.pipe(z.int().min(1)).default(1),
  limit: wholeNumber.pipe(z.int().min(1).max(PAGE_LIMIT)).default(DEFAULT_PAGE_SIZE),
};
/** A page that is not a number has its own problem, so NaN passes here. */
const withinReach = (query: PageQuery): boolean => !((query.page - 1) * query.limit > MAX_OFFSET);
const tooFar = { path: ['page'], message: `must not lead beyond ${MAX_OFFSET} entries`, params: { rule: 'too_big' } };

export const listOrganizationsQuery = z.object(page).refine(withinReach, tooFar);
export const listMembersQuery = z.object({ ...page, role: role.optional() }).refine(withinReach, tooFar);
export type ListMembersQuery = z.output<typeof listMembersQuery>;
export interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

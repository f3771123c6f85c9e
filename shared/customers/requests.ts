import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { emailSchema, guestDataSchema, idSchema, metadataSchema } from '../http/fields.ts';
import { offsetQuery } from '../http/paging.ts';

const name = z.string().max(200).nullish();

const contact = {
  name,
  first_name: name,
  last_name: name,
  phone: z.string().max(32).nullish(),
  metadata: metadataSchema.nullish(),
};

/** The use case requires an e-mail: of the body, of guest_data, or of the guest token. */
export const createCustomerBody = z.object({
  ...contact,
  provider_id: z.enum(PROVIDER_SLOTS),
  email: emailSchema.nullish(),
  organization_id: z.string().max(64).nullish(),
  project_id: idSchema.nullish(),
  guest_data: guestDataSchema.nullish(),
});
export type CreateCustomerBody = z.output<typeof createCustomerBody>;

export const updateCustomerBody = z.object({ ...contact, email: emailSchema.optional() });
export type UpdateCustomerBody = z.output<typeof updateCustomerBody>;

export const listCustomersQuery = z.object({
  ...offsetQuery,
  organization_id: z.string().max(64).optional(),
  provider_id: z.enum(PROVIDER_SLOTS).optional(),
});
export type ListCustomersQuery = z.output<typeof listCustomersQuery>;

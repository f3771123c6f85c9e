/** @module Bodies and queries of the customer routes. */

import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import {
  boundedText,
  emailSchema,
  metadataField,
  optionalId,
  organizationField,
  organizationParameter,
} from '../http/fields.ts';
import { guestDataField } from '../http/guest-fields.ts';
import { offsetQuery } from '../http/paging.ts';

const name = boundedText(200).nullish();

const contact = {
  name: name.meta({
    description: 'The full name, as the provider gets it. Until a name is set, it is the first and last name together.',
    examples: ['Ada Lovelace'],
  }),
  first_name: name.describe(
    'The given name. It is stored only here, and is part of the full name until `name` is set.',
  ),
  last_name: name.describe(
    'The family name. It is stored only here, and is part of the full name until `name` is set.',
  ),
  phone: boundedText(32)
    .nullish()
    .describe('The phone number in any notation. It is not sent to a provider that does not accept it.'),
  metadata: metadataField,
};

/** The e-mail address is optional here. The use case requires it from the body, `guest_data` or the guest token. */
export const createCustomerBody = z
  .object({
    ...contact,
    provider_id: z
      .enum(PROVIDER_SLOTS)
      .describe('The provider slot that gets the customer; each slot has its own customers.'),
    email: emailSchema.optional().meta({
      description: 'The e-mail address; required unless `guest_data` or a guest token has one. Stored in lower case.',
      examples: ['ada@example.com'],
    }),
    organization_id: organizationField.describe(
      "The organization that owns the customer; the session's organization if absent. Null or an empty string makes the customer personal.",
    ),
    project_id: optionalId.describe('The project to file the customer under. The caller needs edit permission on it.'),
    guest_data: guestDataField,
  })
  .meta({ id: 'CreateCustomer', description: "The customer's provider, owner and contact details." });
export type CreateCustomerBody = z.output<typeof createCustomerBody>;

export const updateCustomerBody = z
  .object({ ...contact, email: emailSchema.optional().describe('The new e-mail address; it cannot be cleared.') })
  .meta({
    id: 'UpdateCustomer',
    description: 'The fields to change. Fields that are not sent stay; null clears a field.',
  });
export type UpdateCustomerBody = z.output<typeof updateCustomerBody>;

export const listCustomersQuery = z.object({
  ...offsetQuery,
  organization_id: organizationParameter.describe(
    "Lists the customers of this organization, by default the session's. Empty lists personal customers.",
  ),
  provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only customers at this provider slot.'),
});
export type ListCustomersQuery = z.output<typeof listCustomersQuery>;

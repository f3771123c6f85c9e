/** @module A customer as the API shows it. */

import * as z from 'zod';
import { jsonValue, timestamp } from '../http/fields.ts';

const text = z.string().nullable();

export const shownCustomerSchema = z
  .looseObject({
    id: z.string().meta({
      description: 'Id of the customer: `cust_` and 24 characters.',
      examples: ['cust_e4747dd78c839220821759a1'],
    }),
    provider_id: z.string().meta({ description: 'The provider slot that has the customer.', examples: ['provider_a'] }),
    provider_customer_id: z.string().describe('The id of the customer at the provider, such as `cus_…` at Stripe.'),
    email: text.describe('The e-mail address in lower case; null if none is known.'),
    name: text.describe('The full name; null if none is known.'),
    first_name: text.optional().describe('The given name; null if none was sent.'),
    last_name: text.optional().describe('The family name; null if none was sent.'),
    phone: text.optional().describe('The phone number as it was sent; null if none was sent.'),
    user_id: text.describe('The user who owns the customer; null for a guest and for a customer of an organization.'),
    is_guest: z.boolean().describe('True if a guest without a session made the customer.'),
    guest_email: z.string().optional().describe('The e-mail address of the guest; absent otherwise.'),
    organization_id: z
      .string()
      .optional()
      .describe('The organization that owns the customer; absent for a personal customer.'),
    project_id: z.string().optional().describe('The project of the customer; absent if it has none.'),
    imported_at: timestamp
      .optional()
      .describe('When the customer was imported; present if another integration made it.'),
    metadata: z
      .record(z.string(), jsonValue)
      .optional()
      .describe('Your own data, as the request set it; an empty object without metadata.'),
    created_at: timestamp.describe('When the customer was created.'),
    updated_at: timestamp.optional().describe('When the customer last changed.'),
  })
  .meta({ id: 'Customer', description: 'A person or an organization at one provider.' });

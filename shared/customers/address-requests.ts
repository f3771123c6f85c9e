/** @module Bodies and queries of the address routes. Text except the tax id is trimmed; blank text counts as empty. */

import * as z from 'zod';
import { boundedText, idSchema, organizationField, organizationParameter } from '../http/fields.ts';
import { guestDataField } from '../http/guest-fields.ts';
import { offsetQuery } from '../http/paging.ts';
import { ADDRESS_TYPES, TAX_ID_TYPES } from './address.ts';
import { addressProblems, isCountry } from './address-rules.ts';

const LONGEST_LINE = 200;
const text = (max: number) => boundedText(max).trim().nullish();

const country = boundedText(20)
  .trim()
  .toUpperCase()
  .refine(isCountry, { message: 'must be an ISO 3166-1 alpha-2 code such as US', params: { rule: 'iso_3166' } });

const fields = {
  line1: text(LONGEST_LINE).meta({
    description: 'Street and number. Required for a full address.',
    examples: ['Main Street 1'],
  }),
  line2: text(LONGEST_LINE).describe('Further parts of the street address, such as a floor.'),
  city: text(100).meta({ description: 'The town. Required for a full address.', examples: ['Berlin'] }),
  state: text(100).describe('State, province or region, if the country has them.'),
  postal_code: text(20).meta({
    description: 'The postal code. Required for a full address in a country whose postal service requires one.',
    examples: ['10115'],
  }),
  name: text(LONGEST_LINE).meta({
    description: 'The contact or cardholder.',
    examples: ['Ada Lovelace'],
  }),
  business_name: text(LONGEST_LINE).describe('The name of the business. Required if `is_business` is true.'),
  tax_id: boundedText(50)
    .nullish()
    .meta({ description: 'The tax id of the business, stored as it is sent.', examples: ['DE136695976'] }),
  tax_id_type: z.enum(TAX_ID_TYPES).nullish().describe('The kind of tax id, such as `vat` for the European Union.'),
  alias: text(100).describe('A name that the owner recognizes, such as "Office".'),
  nickname: z
    .never({ error: 'use alias' })
    .optional()
    .describe('Not accepted: use `alias`. A request with this field gets 400.'),
};

/** The text, or undefined if it is blank. An overlong text is not trimmed, because its own check refuses it. */
const given = (value: unknown): string | undefined =>
  typeof value === 'string' && (value.length > LONGEST_LINE || value.trim() !== '') ? value : undefined;

const factsOf = (body: Readonly<Record<string, unknown>>) => ({
  country: typeof body['country'] === 'string' && isCountry(body['country']) ? body['country'] : undefined,
  isPartial: body['is_partial'] === true,
  isBusiness: body['is_business'] === true,
  line1: given(body['line1']),
  city: given(body['city']),
  postalCode: given(body['postal_code']),
  businessName: given(body['business_name']),
});

export const createAddressBody = z
  .object({
    ...fields,
    country: country.meta({
      description: 'The ISO 3166-1 alpha-2 code of the country (case-insensitive).',
      examples: ['DE'],
    }),
    is_partial: z.boolean().default(false).describe('True for an address that requires only the country.'),
    is_business: z
      .boolean()
      .default(false)
      .describe('True for a business address, which requires country and business name.'),
    type: z.enum(ADDRESS_TYPES).default('billing').describe('The purpose of the address; `billing` if absent.'),
    is_default: z.boolean().default(false).describe('True makes the address the default of its owner and type.'),
    organization_id: organizationField.describe(
      "The organization that owns the address; the session's organization if absent. Null or an empty string makes the address personal.",
    ),
    guest_data: guestDataField,
  })
  .superRefine(
    (body, context) => {
      for (const { path, rule, message } of addressProblems(factsOf(body))) {
        context.addIssue({ code: 'custom', path: [path], message, params: { rule } });
      }
    },
    // The check also runs on an invalid body, so that one response lists all problems.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .meta({
    id: 'CreateAddress',
    description: 'A full, partial or business address. The required fields depend on the kind of address.',
  });
export type CreateAddressBody = z.output<typeof createAddressBody>;

export const updateAddressBody = z
  .object({
    ...fields,
    country: country.optional().meta({ description: 'The new country, an ISO 3166-1 alpha-2 code.', examples: ['DE'] }),
    is_partial: z.boolean().optional().describe('False requires the fields of a full address.'),
    is_business: z.boolean().optional().describe('True requires a business name.'),
    type: z.enum(ADDRESS_TYPES).optional().describe('The new purpose of the address.'),
    is_default: z
      .boolean()
      .optional()
      .describe('True makes the address the default of its owner and type; false unsets the default.'),
  })
  .meta({
    id: 'UpdateAddress',
    description: 'The fields to change. Fields that are not sent stay; null clears a field.',
  });
export type UpdateAddressBody = z.output<typeof updateAddressBody>;

export const listAddressesQuery = z.object({
  ...offsetQuery,
  type: z.enum(ADDRESS_TYPES).optional().describe('Only addresses for this purpose.'),
  organization_id: organizationParameter.describe(
    "Lists the addresses of this organization, by default the session's. Empty lists personal addresses.",
  ),
  project_id: boundedText(64)
    .optional()
    .describe('Not supported, because addresses have no project. A request with this parameter gets 400.'),
  completeness: z
    .enum(['full', 'partial', 'any'])
    .default('any')
    .describe('`full` or `partial` lists only such addresses; `any` lists both.'),
});
export type ListAddressesQuery = z.output<typeof listAddressesQuery>;

export const billingAddressBody = z
  .object({
    billing_address_id: idSchema.nullable().meta({
      description: 'The address to link; null unlinks the current address.',
      examples: ['addr_12e568398996437436c0325d'],
    }),
  })
  .meta({
    id: 'LinkBillingAddress',
    description: 'The billing address to link. It must have the same owner as the record.',
  });

export type BillingAddressBody = z.output<typeof billingAddressBody>;

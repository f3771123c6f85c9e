/** @module Bodies and queries of the payment method routes. */

import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import {
  boundedText,
  hasAnyField,
  idParameter,
  optionalId,
  organizationField,
  organizationParameter,
  requiredRule,
  tokenText,
  verificationTokenSchema,
} from '../http/fields.ts';
import { guestDataField, tokenParameter } from '../http/guest-fields.ts';
import { cappedLimit, isWithinReach, outOfReach, pageNumber } from '../http/paging.ts';

const alias = boundedText(100).nullish().describe('A name that the owner recognizes, such as "Company card".');

const rawCard = {
  card_number: boundedText(40)
    .regex(/^(?:\d[ -]?){12,18}\d$/, 'must be a card number')
    .optional()
    .describe(
      'For development only: a raw card number. Send a token of the provider instead; the service refuses raw cards unless the operator allows them.',
    ),
  card_exp_month: boundedText(2)
    .regex(/^(0[1-9]|1[0-2])$/, 'must be MM')
    .optional()
    .describe('The month of expiry as MM; required with `card_number`.'),
  card_exp_year: boundedText(4)
    .regex(/^20\d{2}$/, 'must be YYYY')
    .optional()
    .describe('The year of expiry as YYYY; required with `card_number`.'),
  card_cvc: boundedText(4)
    .regex(/^\d{3,4}$/, 'must be 3 or 4 digits')
    .optional()
    .describe('The security code, 3 or 4 digits. It is never stored.'),
};

export const createMethodBody = z
  .object({
    ...rawCard,
    provider_id: z.enum(PROVIDER_SLOTS).describe('The provider slot that keeps the method.'),
    provider_payment_method_token: tokenText(255)
      .optional()
      .meta({
        description: `The token that the provider's library made in the browser. If it is the id of a saved method, the response is 200 with that
        method. Required unless a raw card is sent.`,
        examples: ['pm_card_visa'],
      }),
    verification_token: verificationTokenSchema.describe(
      "The proof of the payer's authentication that the provider's library made in the browser (Square). Used once and not stored.",
    ),
    type: z
      .enum(['card', 'bank_account'])
      .optional()
      .describe(
        'The kind of method that the token stands for. A token of another kind is refused with the rule `type_mismatch`.',
      ),
    billing_address_id: optionalId.describe('The billing address of the method. It must have the same owner.'),
    is_default: z
      .boolean()
      .default(false)
      .describe(
        'True makes the method the default of its owner, after authentication if the payer must authenticate first.',
      ),
    alias,
    organization_id: organizationField.describe(
      "The organization that owns the method; the session's organization if absent. Null or an empty string makes the method personal.",
    ),
    guest_data: guestDataField,
  })
  .refine(
    (body) => hasAnyField(body, 'provider_payment_method_token') || hasAnyField(body, 'card_number'),
    requiredRule('provider_payment_method_token'),
  )
  .refine(
    (body) => !hasAnyField(body, 'card_number') || hasAnyField(body, 'card_exp_month'),
    requiredRule('card_exp_month'),
  )
  .refine(
    (body) => !hasAnyField(body, 'card_number') || hasAnyField(body, 'card_exp_year'),
    requiredRule('card_exp_year'),
  )
  .meta({
    id: 'CreatePaymentMethod',
    description: 'A token of the provider, and the settings of the saved payment method.',
  });
export type CreateMethodBody = z.output<typeof createMethodBody>;

export const updateMethodBody = z
  .object({
    alias,
    billing_address_id: optionalId.describe('The billing address of the method; null unlinks it.'),
    is_default: z
      .boolean()
      .optional()
      .describe('True makes the method the default of its owner; false unsets the default.'),
  })
  .meta({
    id: 'UpdatePaymentMethod',
    description: 'The fields to change. Fields that are not sent stay; null clears a field.',
  });
export type UpdateMethodBody = z.output<typeof updateMethodBody>;

const METHOD_ORDERS = ['created_at', 'card_brand', 'alias'] as const;

export const listMethodsQuery = z
  .object({
    organization_id: organizationParameter.describe(
      "Lists the methods of this organization. Absent or empty lists the caller's personal methods.",
    ),
    project_id: idParameter.describe(
      'Not supported, because payment methods have no project. A request with this parameter gets 400.',
    ),
    page: pageNumber.describe('The number of the page, from 1. Pages cover at most 10,000 methods.'),
    limit: cappedLimit.describe('Methods per page, at least 1; 100 if absent or greater.'),
    payment_type: z.enum(['card', 'bank_account']).optional().describe('Only methods of this kind.'),
    card_brand: boundedText(50)
      .toLowerCase()
      .optional()
      .meta({ description: 'Only cards of this brand (case-insensitive).', examples: ['visa'] }),
    search: boundedText(200)
      .trim()
      .toLowerCase()
      .optional()
      .describe('A part of the alias, of the brand or of the last four digits (case-insensitive).'),
    orderBy: z
      .enum(METHOD_ORDERS)
      .default('created_at')
      .describe('The field to sort by. Every order except newest first works on up to 10,000 methods.'),
    orderDir: z
      .enum(['asc', 'desc'])
      .default('desc')
      .describe('`desc` sorts newest first or Z to A, `asc` oldest first or A to Z.'),
    token: tokenParameter,
  })
  .refine(isWithinReach, outOfReach);
export type ListMethodsQuery = z.output<typeof listMethodsQuery>;

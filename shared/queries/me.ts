/** @module The caller of a session, with the caller's merchant scopes. */

import * as z from 'zod';
import { merchantScopesOf } from '../access/caller.ts';
import { type RefundLimits, refundLimitsOf } from '../access/refund-limits.ts';
import { SCOPES, STAFF_ROLES } from '../access/scopes.ts';
import { DomainError } from '../core/errors.ts';
import type { ApiRequest, Reply } from '../http/request.ts';

export const meSchema = z
  .object({
    user_id: z.string().describe('The id of the user at the identity service.'),
    email: z.string().nullable().describe("The user's e-mail address; null if the token names none."),
    organization_id: z
      .string()
      .nullable()
      .describe('The organization for requests without `organization_id`; null for a personal session.'),
    is_admin: z.boolean().describe('True for platform admins, who have every scope.'),
    staff_role: z.enum(STAFF_ROLES).nullable().describe("The user's role in the merchant's staff; null for payers."),
    scopes: z
      .array(z.enum(SCOPES))
      .describe("The user's scopes for the merchant, on every owner's records; empty for payers."),
    refund_limits: z
      .record(z.string(), z.int())
      .nullable()
      .describe(
        'For support, the largest sum that the refunds of one payment may reach, in minor units by currency; no refunds in other currencies. Null for users without a limit.',
      ),
  })
  .meta({ id: 'Me', description: 'The user of the session.' });

interface MeDeps {
  readonly supportRefundLimits: RefundLimits;
}

export const me = async ({ supportRefundLimits }: MeDeps, { caller }: ApiRequest): Promise<Reply> => {
  if (caller.kind !== 'session') throw new DomainError('AUTHENTICATION_REQUIRED');
  const { userId, email, organizationId, isAdmin, staffRole } = caller;
  return {
    data: {
      user_id: userId,
      email: email ?? null,
      organization_id: organizationId ?? null,
      is_admin: isAdmin,
      staff_role: staffRole ?? null,
      scopes: merchantScopesOf(caller),
      refund_limits: refundLimitsOf(caller, supportRefundLimits) ?? null,
    },
  };
};

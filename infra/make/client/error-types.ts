import * as z from 'zod';
import type { ErrorCode } from '../../../shared/core/errors.ts';
import { DECLINE_CODES } from '../../../shared/core/outcome.ts';
import { rowOf } from '../../../shared/core/rows.ts';
import { CHANGE_TIMES } from '../../../shared/subscriptions/record/subscription-requests.ts';

export type JsonObject = { readonly [name: string]: unknown };

/**
 * The schema of one error code. With one type per code, checking `code` determines the type of `details`. The API
 * document itself has one schema for all errors.
 */
export const schemaOfCode = (code: string): JsonObject => ({
  type: 'object',
  required: ['success', 'error', 'code', 'request_id'],
  properties: {
    success: { const: false },
    error: { type: 'string', description: 'For developers, in English. The text may change, so do not compare it.' },
    code: { const: code },
    details: rowOf(DETAILS, code) ?? ANY_DETAILS,
    request_id: { type: 'string', description: 'Quote it to support.' },
  },
});

/** PAYMENT_DECLINED becomes PaymentDeclinedError; INTERNAL_ERROR becomes InternalError. */
export const errorTypeName = (code: string): string => {
  const words = code
    .toLowerCase()
    .split('_')
    .filter((word) => word !== 'error');
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`;
};

const ANY_DETAILS: JsonObject = { type: 'object', additionalProperties: true };

const jsonSchema = (schema: z.ZodType): JsonObject => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return described;
};

const problems = jsonSchema(z.array(z.object({ path: z.string(), rule: z.string(), message: z.string() })));

/** The codes with machine-readable details. The details of other codes are for people. */
const DETAILS: Readonly<Partial<Record<ErrorCode, JsonObject>>> = {
  VALIDATION_ERROR: problems,
  UNSUPPORTED_CURRENCY: problems,
  PAYMENT_DECLINED: {
    type: 'object',
    required: ['decline_code'],
    properties: {
      decline_code: { type: 'string', enum: DECLINE_CODES },
      payment: { $ref: '#/components/schemas/Payment' },
    },
  },
  AMOUNT_TOO_SMALL: jsonSchema(z.object({ minimum_cents: z.int().optional(), currency: z.string().optional() })),
  REFUND_EXCEEDS_PAYMENT: jsonSchema(z.object({ payment_id: z.string(), refundable_cents: z.int() })),
  PROVIDER_TIMEOUT: jsonSchema(z.object({ payment_id: z.string().optional() })),
  INSUFFICIENT_PERMISSIONS: jsonSchema(
    z.looseObject({
      required_scope: z.string().optional(),
      limit_cents: z.int().optional(),
      allowed: z.enum(CHANGE_TIMES).optional(),
      reason: z.string().optional(),
    }),
  ),
  PRICE_CHANGED: jsonSchema(z.object({ due_now_cents: z.int() })),
  QUANTITY_INVALID: jsonSchema(z.object({ minimum: z.int(), maximum: z.int() })),
  RESOURCE_NOT_FOUND: jsonSchema(z.object({ resource: z.string() })),
};

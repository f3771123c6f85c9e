import * as z from 'zod';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer, Call, VendorCaller } from '../../protocol/vendor.ts';
import { type Detail, malformed } from './errors.ts';

/** One call of a PayPal route, within its transaction. */
export interface PayPalRequest {
  readonly call: Call;
  readonly caller: VendorCaller;
  readonly unit: Unit;
  /** The `:id` of the path. */
  readonly id: string;
}

export interface PayPalRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly run: (request: PayPalRequest) => Answer;
}

export const answer = (status: number, body: unknown): Answer => ({
  status,
  body: JSON.stringify(body),
  began: true,
});

export const noContent: Answer = { status: 204, body: '', began: true };

/** @throws Refused 400 naming every problem. */
export const readPayPalBody = <T extends z.ZodType>(call: Call, schema: T): z.output<T> => {
  const result = schema.safeParse(jsonOf(call));
  if (result.success) return result.data;
  throw malformed(result.error.issues.map(detailOf));
};

const jsonOf = (call: Call): unknown => {
  if (call.body === '') return {};
  try {
    return JSON.parse(call.body);
  } catch {
    throw malformed([{ issue: 'MALFORMED_REQUEST_JSON', description: 'The request JSON is not well formed.' }]);
  }
};

const ISSUES: Partial<Record<z.core.$ZodIssue['code'], string>> = {
  invalid_type: 'MISSING_REQUIRED_PARAMETER',
  too_small: 'INVALID_STRING_LENGTH',
  too_big: 'INVALID_STRING_LENGTH',
  invalid_format: 'INVALID_PARAMETER_SYNTAX',
};

const detailOf = (issue: z.core.$ZodIssue): Detail => ({
  issue: ISSUES[issue.code] ?? 'INVALID_PARAMETER_VALUE',
  description: issue.message,
  field: `/${issue.path.map(String).join('/')}`,
  location: 'body',
});

const queryDetailOf = (issue: z.core.$ZodIssue, sent: Readonly<Record<string, string>>): Detail => {
  const field = issue.path.map(String).join('/');
  const value = sent[field];
  if (value === undefined && issue.code === 'invalid_type') {
    return { issue: 'MISSING_REQUIRED_PARAMETER', description: issue.message, field, location: 'query' };
  }
  return {
    issue: issue.code === 'invalid_format' ? 'INVALID_PARAMETER_SYNTAX' : 'INVALID_PARAMETER_VALUE',
    description: issue.message,
    field,
    ...(value !== undefined && { value }),
    location: 'query',
  };
};

/** False by default. PayPal then returns only id, status and links. */
export const wantsRepresentation = (call: Call): boolean => call.headers.get('prefer') === 'return=representation';

export const vaultId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[0-9a-zA-Z_-]+$/);
const customerId = z
  .string()
  .min(1)
  .max(22)
  .regex(/^[0-9a-zA-Z_-]+$/);
const merchantCustomerId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[0-9a-zA-Z\-_.^*$@#]+$/);

/** The customer of a token or an order. PayPal's id names a known customer. The merchant's own id is only stored. */
export const customerReference = z.looseObject({
  id: customerId.optional(),
  merchant_customer_id: merchantCustomerId.optional(),
});
export type CustomerReference = z.output<typeof customerReference>;

/** @throws Refused 400 naming every problem. */
export const readPayPalQuery = <T extends z.ZodType>(call: Call, schema: T): z.output<T> => {
  const sent = Object.fromEntries(call.query);
  const result = schema.safeParse(sent);
  if (result.success) return result.data;
  throw malformed(result.error.issues.map((issue) => queryDetailOf(issue, sent)));
};

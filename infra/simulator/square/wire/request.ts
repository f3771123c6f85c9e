import * as z from 'zod';
import type { Unit } from '../../ledger/unit.ts';
import { type Answer, type Call, NOT_OFFERED, Refused } from '../../protocol/vendor.ts';
import { invalidSquareRequest } from './errors.ts';

/** One call of a Square route, within its transaction. */
export interface SquareRequest {
  readonly call: Call;
  readonly unit: Unit;
  /** The `:id` of the path. */
  readonly id: string;
}

/** An object is returned with 200. An `answer` is an error that still commits, such as a declined charge. */
export type SquareReply = { readonly object: object } | { readonly answer: Answer };

export interface SquareRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly run: (request: SquareRequest) => SquareReply;
}

/** @throws Refused if the body is not JSON. */
const bodyOf = (call: Call): unknown => {
  try {
    return call.body === '' ? {} : JSON.parse(call.body);
  } catch {
    throw invalidSquareRequest('EXPECTED_JSON_BODY', 'The request body is not a JSON object.');
  }
};

/** @throws Refused naming the first problem. */
export const readSquareBody = <T extends z.ZodType>(call: Call, schema: T): z.output<T> => {
  const parsed = schema.safeParse(bodyOf(call), { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const refusal = invalidSquareRequest(codeOf(issue), `${field || 'body'}: ${issue?.message}`, field || undefined);
  // Square may support the parameter or the value, although the simulator does not.
  const isPerhapsOffered = issue?.code === 'unrecognized_keys' || issue?.code === 'invalid_value';
  throw isPerhapsOffered ? new Refused({ ...refusal.answer, headers: NOT_OFFERED }) : refusal;
};

const codeOf = (issue: z.core.$ZodIssue | undefined): string => {
  switch (issue?.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'MISSING_REQUIRED_PARAMETER' : 'INCORRECT_TYPE';
    case 'too_big':
      return 'VALUE_TOO_LONG';
    case 'too_small':
      return 'VALUE_TOO_SHORT';
    case 'unrecognized_keys':
      return 'UNKNOWN_BODY_PARAMETER';
    default:
      return 'INVALID_VALUE';
  }
};

/** The currency of the simulated seller's only location. Amounts are in its smallest unit. */
export const LOCATION_CURRENCY = 'USD';

/** A positive amount in the location's currency, in its smallest unit. */
export const money = z.strictObject({
  amount: z.int().min(1),
  currency: z.string().refine((code) => code === LOCATION_CURRENCY, {
    error: ({ input }) =>
      `This merchant can only process payments in ${LOCATION_CURRENCY}, but amount was provided in ${input}`,
  }),
});

export const key = z.string().min(1).max(45);
export const isoTime = (at: number): string => new Date(at).toISOString();

const ADDRESS_LINES = [
  'address_line_1',
  'address_line_2',
  'locality',
  'administrative_district_level_1',
  'postal_code',
  'country',
  'first_name',
  'last_name',
] as const;
export const squareAddress = z.strictObject(
  Object.fromEntries(ADDRESS_LINES.map((line) => [line, z.string().nullish()])),
);

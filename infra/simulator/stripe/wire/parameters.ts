/** @module The types of the fields in Stripe's forms, with Stripe's error messages. */

import * as z from 'zod';
import { type Call, NOT_OFFERED, Refused } from '../../protocol/vendor.ts';
import { characters } from '../../state/characters.ts';
import { invalidStripeRequest } from './errors.ts';
import { type FormValue, parseForm, type StripeForm } from './form.ts';

const LONG = 5_000;

const problem = (code: string, message: (input: unknown) => string) => ({
  error: (issue: { readonly input?: unknown }) => message(issue.input),
  params: { code },
});

/** A non-empty string. */
export const text = (max = LONG) => characters(max).min(1);
/** A string. An empty string clears the field. */
export const clearable = (max = LONG) => characters(max).transform((value) => (value === '' ? null : value));

export const whole = z
  .string()
  .refine(
    (value) => /^-?\d{1,15}$/.test(value),
    problem('parameter_invalid_integer', (input) => `Invalid integer: ${input}`),
  )
  .transform(Number);

export const decimal = z
  .string()
  .refine(
    (value) => /^\d{1,12}(\.\d{1,4})?$/.test(value),
    problem('parameter_invalid_decimal', (input) => `Invalid decimal: ${input}`),
  )
  .transform(Number);

export const flag = z
  .string()
  .refine(
    (value) => value === 'true' || value === 'false',
    problem('', (input) => `Invalid boolean: ${input}`),
  )
  .transform((value) => value === 'true');

export const choice = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values);

/** An empty value deletes its key. An empty string deletes all keys. */
export const metadata = z.union([z.literal(''), z.record(z.string().min(1).max(40), z.string().max(500))]);
export const expand = z.array(z.string().max(200)).max(20);

/** Accepted and ignored. */
export const anything: z.ZodType<FormValue> = z.lazy(() =>
  z.union([z.string(), z.array(anything), z.record(z.string(), anything)]),
);

export const stripeAddress = z.strictObject({
  city: clearable().optional(),
  country: clearable().optional(),
  line1: clearable().optional(),
  line2: clearable().optional(),
  postal_code: clearable().optional(),
  state: clearable().optional(),
});

const MAX_LIMIT = 100;
const tooSmall = problem('parameter_invalid_integer', () => 'This value must be greater than or equal to 1.');
const tooLarge = problem('parameter_invalid_integer', () => `This value must be less than or equal to ${MAX_LIMIT}.`);
export const pageSize = whole.refine((n) => n >= 1, tooSmall).refine((n) => n <= MAX_LIMIT, tooLarge);

/** Unix seconds, or a range of them. */
export const createdRange = z.union([
  whole,
  z.strictObject({
    gt: whole.optional(),
    gte: whole.optional(),
    lt: whole.optional(),
    lte: whole.optional(),
  }),
]);

/** Text on the statements of payers (docs.stripe.com/get-started/account/statement-descriptors). */
export const descriptorText = text(22)
  .refine(
    (value) => !/[<>\\'"*]/.test(value),
    problem('', () => 'The statement descriptor cannot contain the characters <, >, \\, \', " or *.'),
  )
  .refine(
    (value) => /[A-Za-z]/.test(value),
    problem('', () => 'The statement descriptor must contain at least one letter.'),
  );

export const page = {
  limit: pageSize.optional(),
  starting_after: text().optional(),
  ending_before: text().optional(),
  expand: expand.optional(),
};

/** @throws Refused with Stripe's error for the first problem. */
export const readParameters = <T extends z.ZodType>(call: Call, schema: T): z.output<T> => {
  const form = formOf(call);
  const parsed = schema.safeParse(form);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refusalOf(form, issue);
};

export const formOf = (call: Call): StripeForm => ({
  ...parseForm(call.query),
  ...(call.method === 'POST' ? parseForm(new URLSearchParams(call.body)) : {}),
});

/** Merges the sent metadata into the stored metadata. */
export const mergeMetadata = (
  kept: Readonly<Record<string, string>>,
  sent: z.output<typeof metadata> | undefined,
): Record<string, string> => {
  if (sent === undefined) return { ...kept };
  if (sent === '') return {};
  return Object.fromEntries(Object.entries({ ...kept, ...sent }).filter(([, value]) => value !== ''));
};

const nameOf = (path: readonly PropertyKey[]): string => {
  const [first = '', ...rest] = path.map(String);
  return first + rest.map((part) => `[${part}]`).join('');
};

const refusalOf = (form: StripeForm, issue: z.core.$ZodIssue | undefined) => {
  if (issue === undefined) return invalidStripeRequest({ message: 'Invalid request.' });
  const param = nameOf(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const unknown = nameOf([...issue.path, issue.keys[0] ?? '']);
    return perhapsOffered(
      invalidStripeRequest({
        code: 'parameter_unknown',
        message: `Received unknown parameter: ${unknown}`,
        param: unknown,
      }),
    );
  }
  const given = valueAt(form, issue.path);
  if (given === undefined) {
    return invalidStripeRequest({ code: 'parameter_missing', message: `Missing required param: ${param}.`, param });
  }
  if (given === '') {
    return invalidStripeRequest({
      code: 'parameter_invalid_empty',
      message:
        `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a field; ` +
        `however '${param}' cannot be unset. You should remove '${param}' from your request or supply a non-empty value.`,
      param,
    });
  }
  const code = issue.code === 'custom' && typeof issue.params?.['code'] === 'string' ? issue.params['code'] : '';
  const refusal = invalidStripeRequest({
    ...(code === '' ? {} : { code }),
    message: messageOf(issue, param, given),
    param,
  });
  return issue.code === 'invalid_value' ? perhapsOffered(refusal) : refusal;
};

/** Stripe may support the parameter or the value, although the simulator does not. */
const perhapsOffered = ({ answer }: Refused): Refused => new Refused({ ...answer, headers: NOT_OFFERED });

const messageOf = (issue: z.core.$ZodIssue, param: string, given: FormValue): string => {
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'too_big' && typeof given === 'string') {
    return `Invalid string: ${[...given].slice(0, 5).join('')}…; must be at most ${issue.maximum} characters`;
  }
  if (issue.code === 'invalid_value') return `Invalid ${param}: must be one of ${issue.values.map(String).join(', ')}`;
  return `Invalid ${param}`;
};

const valueAt = (form: StripeForm, path: readonly PropertyKey[]): FormValue | undefined => {
  let value: FormValue | undefined = form;
  for (const key of path) {
    if (typeof value !== 'object') return undefined;
    value = Array.isArray(value) ? value[Number(key)] : Object.entries(value).find(([name]) => name === key)?.[1];
  }
  return value;
};

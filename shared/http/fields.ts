/**
 * @module Fields that many requests share, and the only constructors of request schemas for strings and JSON objects.
 * They check limits on the raw value first, so a long value costs nothing beyond its transport. Schemas are marked as
 * pure, so bundles omit the schemas of absent routes.
 */

import * as z from 'zod';
import { rowOf } from '../core/rows.ts';
import { normalizedEmail } from '../core/text.ts';
import { withEmptyMeaning } from './parse.ts';

/**
 * A maximum length. After a failure, only the other checks of the string are skipped. Zod's `abort` would also skip the
 * body's checks for missing fields.
 */
const rawBound = (max: number) => {
  const bound = z.maxLength(max);
  bound._zod.check = ({ value, issues }) => {
    // Zod counts characters, each of one or two UTF-16 units.
    if (value.length <= max || (value.length <= 2 * max && [...String(value)].length <= max)) return;
    issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
  };
  return bound;
};

/** A string with a maximum length. A longer string fails before it is trimmed, normalized, matched or transformed. */
export const boundedText = (max: number) => z.string().check(rawBound(max));

const tokenFields = z.registry<{ readonly isToken: true }>();

/**
 * A provider's token or our id of a method. The value goes to the provider, so the field never accepts a card number.
 */
export const tokenText = (max: number) => boundedText(max).min(1).register(tokenFields, { isToken: true });

const isTokenField = (field: z.core.$ZodType): boolean =>
  field instanceof z.ZodOptional || field instanceof z.ZodNullable
    ? isTokenField(field._zod.def.innerType)
    : tokenFields.get(field) !== undefined;

const knownTokenFields = new WeakMap<z.ZodType, ReadonlySet<string>>();

export const tokenFieldsOf = (schema: z.ZodType | null): ReadonlySet<string> => {
  if (!(schema instanceof z.ZodObject)) return NONE;
  const known =
    knownTokenFields.get(schema) ??
    new Set(Object.keys(schema.shape).filter((name) => isTokenField(schema.shape[name])));
  knownTokenFields.set(schema, known);
  return known;
};

const NONE: ReadonlySet<string> = new Set();

const LONGEST_TIME = 40;
/** A day in UTC, YYYY-MM-DD. */
export const dayField = () => boundedText(LONGEST_TIME).check(z.iso.date());
/** A time with its offset. */
export const timeField = () => boundedText(LONGEST_TIME).check(z.iso.datetime({ offset: true }));

export const idSchema = boundedText(64).min(1);
/** The optional id of a record in a body; null removes the reference from a stored record. */
export const optionalId = /* @__PURE__ */ idSchema.nullish();
/** Our id of a saved payment method. */
export const methodIdSchema = /* @__PURE__ */ tokenText(64);
/** The optional id of a record in a query. */
export const idParameter = /* @__PURE__ */ idSchema.optional();

/** The owning organization of a new record. Null or an empty string makes the record personal. */
export const organizationField = /* @__PURE__ */ withEmptyMeaning(boundedText(64).nullish(), 'a personal record');
/** The organization of the listed records. An empty value lists personal records. */
export const organizationParameter = /* @__PURE__ */ withEmptyMeaning(boundedText(64).optional(), 'personal records');

/** The caller's own text; null clears the stored text. */
export const textField = (max: number) => boundedText(max).nullish();
export const centsField = /* @__PURE__ */ z.int().min(0).optional();
export const currencyField = /* @__PURE__ */ boundedText(10).trim().min(1);

/** The field has no pattern, so an impossible code gets the same error as any unknown code. */
export const discountCodeField = /* @__PURE__ */ boundedText(64).trim().min(1).nullish();

/** Any JSON, for views and requests. The API document shows it under one name. */
export const jsonValue = z.json().register(z.globalRegistry, {
  id: 'JsonValue',
  description: 'Any JSON value: text, number, boolean, null, list or object.',
});

/** An optional string in a response. */
export const optionalText = z.string().optional();

/** A time in a response. */
export const timestamp = z.string().meta({ format: 'date-time' });

interface ObjectBounds {
  readonly keys: number;
  readonly bytes: number;
}

/** The caller's own JSON. Limits are checked before the members. */
export const boundedObject = <T extends z.ZodType>({ keys, bytes }: ObjectBounds, members: T) =>
  z.preprocess((value, { issues }) => {
    const tooBig = (message: string) => {
      issues.push({ code: 'custom', input: value, message, params: { rule: 'too_big' } });
    };
    if (typeof value !== 'object' || value === null) return value;
    if (Object.keys(value).length > keys) tooBig(`must have at most ${keys} keys`);
    else if (Buffer.byteLength(JSON.stringify(value)) > bytes) tooBig(`must be at most ${bytes} bytes`);
    return value;
  }, members);

/** A maximum for the API document only. Zod's own check would read all of a long string sent in place of a list. */
const listBound = (max: number) => {
  const bound = z.maxLength(max);
  bound._zod.check = () => undefined;
  return bound;
};

/** A list whose length is checked before its members. */
export const boundedList = <T extends z.ZodType>(max: number, member: T) =>
  z.preprocess(
    (value, { issues }) => {
      if (Array.isArray(value) && value.length > max) {
        issues.push({ code: 'too_big', origin: 'array', maximum: max, inclusive: true, input: value });
      }
      return value;
    },
    z.array(member).check(listBound(max)),
  );

const METADATA_KEYS = 50;
const METADATA_VALUE_LENGTH = 500;
const METADATA_BYTES = 16 * 1024;

const metadataValue = jsonValue.refine(
  (value) => (typeof value === 'string' ? value : JSON.stringify(value)).length <= METADATA_VALUE_LENGTH,
  {
    message: `must be at most ${METADATA_VALUE_LENGTH} characters`,
    params: { rule: 'too_big' },
  },
);

/**
 * True if a table item can hold the value. Apart from 0, DynamoDB stores no number closer to 0 than 1e-130. Its SDK
 * stores no number beyond 2^53 − 1 in either direction. The SDK also mistakes an object with `constructor` for a class
 * instance.
 */
const isStorable = (value: unknown): boolean => {
  if (typeof value === 'number') {
    return value === 0 || (Math.abs(value) >= 1e-130 && Math.abs(value) <= Number.MAX_SAFE_INTEGER);
  }
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => name !== 'constructor' && isStorable(inner));
};

export const metadataSchema = boundedObject(
  { keys: METADATA_KEYS, bytes: METADATA_BYTES },
  z.record(boundedText(40).min(1), metadataValue).refine(isStorable, {
    message: `must not contain a number beyond ${Number.MAX_SAFE_INTEGER} or closer to 0 than 1e-130, or a key named "constructor"`,
    params: { rule: 'storable' },
  }),
);

export const metadataField = /* @__PURE__ */ metadataSchema
  .nullish()
  .describe(
    'Your own data: at most 50 keys of at most 40 characters, values of at most 500 characters as JSON, 16 KB in all.',
  );

export const tagsSchema = /* @__PURE__ */ boundedText(500)
  .refine((tags) => tags.split(',').length <= 20 && tags.split(',').every((tag) => tag.trim().length <= 50), {
    message: 'must be at most 20 tags of at most 50 characters, separated by commas',
    params: { rule: 'tags' },
  })
  .nullish();

const LONGEST_FLAG = 'false'.length;
const FLAGS: Readonly<Record<string, boolean>> = { true: true, 1: true, yes: true, false: false, 0: false, no: false };

/** The value of a flag, in any letter case; undefined for any other text. */
export const flagOf = (text: string): boolean | undefined => {
  if (text.length > LONGEST_FLAG) return undefined;
  return rowOf(FLAGS, text.toLowerCase());
};

/** An optional boolean in the query. */
export const booleanParameter = /* @__PURE__ */ z
  .enum(['true', '1', 'yes', 'false', '0', 'no'])
  .transform((value) => flagOf(value) === true)
  .optional();

/**
 * An e-mail address in any script (RFC 6531), lower-cased so each payer has one spelling. Refuses quoted local parts,
 * address literals, and characters that could end a header or a list of addresses.
 */
const EMAIL =
  /^[^\s@.<>()[\]\\,;:"\p{C}]+(?:\.[^\s@.<>()[\]\\,;:"\p{C}]+)*@[^\s@.<>()[\]\\,;:"'\p{C}]+(?:\.[^\s@.<>()[\]\\,;:"'\p{C}]+)+$/u;

export const emailSchema = /* @__PURE__ */ boundedText(254)
  .overwrite(normalizedEmail)
  .refine((email) => EMAIL.test(email), {
    message: 'must be an e-mail address',
    params: { rule: 'invalid_format' },
  })
  .meta({ format: 'idn-email' });

export const nextActionSchema = /* @__PURE__ */ z
  .object({
    type: z
      .enum(['use_provider_sdk', 'redirect_to_url'])
      .describe(
        "`use_provider_sdk`: continue with the provider's library in the browser and the `client_secret`. `redirect_to_url`: send the payer to `url`.",
      ),
    url: z.string().optional().describe("The provider's page, with `redirect_to_url`. Hidden from the merchant."),
  })
  .meta({ id: 'NextAction', description: 'The step that the payer must complete before the provider continues.' });

/** True if the body, valid or not, has a value for one of the fields. */
export const hasAnyField = (body: unknown, ...fields: readonly string[]): boolean =>
  typeof body === 'object' &&
  body !== null &&
  Object.entries(body).some(([field, value]) => fields.includes(field) && value !== undefined);

/** Options of a refinement that also runs on an invalid body, so that one response lists all problems. */
export const requiredRule = (path: string, message = 'is required') => ({
  path: [path],
  message,
  params: { rule: 'required' },
  when: () => true,
});

/** The proof of a payer's authentication from the provider's page in the browser. Used once, never stored. */
export const verificationTokenSchema = /* @__PURE__ */ tokenText(2048).optional();

/** The form of a user id that a service key sends while no identity service can confirm the id. */
export const SAID_USER_ID = /^[\w.@|:+=-]{1,64}$/;

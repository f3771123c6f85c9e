import * as z from 'zod';
import { withEmptyMeaning } from './parse.ts';

/** Fields that many requests share, with their limits. */
export const idSchema = z.string().min(1).max(64);
/** The id of a record that the body may name; null takes the name out of a stored record. */
export const optionalId = idSchema.nullish();
/** The id of a record that the query may name. */
export const idParameter = idSchema.optional();

/** The organization that owns a new record; null and an empty string make the record personal. */
export const organizationField = withEmptyMeaning(z.string().max(64).nullish(), 'a personal record');
/** The organization whose records the query asks for; an empty value asks for personal records. */
export const organizationParameter = withEmptyMeaning(z.string().max(64).optional(), 'personal records');

/** A text of the caller's own; null clears a stored one. */
export const textField = (max: number) => z.string().max(max).nullish();
export const centsField = z.int().min(0).optional();
export const currencyField = z.string().trim().min(1).max(10);

/** Any JSON, in views and requests; under one name in the API document. */
export const jsonValue = z.json().register(z.globalRegistry, {
  id: 'JsonValue',
  description: 'Any JSON value: text, number, boolean, null, list or object.',
});

/** A text that an answer may leave out. */
export const optionalText = z.string().optional();

/** A time in an answer. */
export const timestamp = z.string().meta({ format: 'date-time' });

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

/** DynamoDB stores no number below 1e-130, its SDK none above 2^53, and the SDK mistakes `constructor` for a class name. */
const isStorable = (value: unknown): boolean => {
  if (typeof value === 'number') {
    return value === 0 || (Math.abs(value) >= 1e-130 && Math.abs(value) <= Number.MAX_SAFE_INTEGER);
  }
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => name !== 'constructor' && isStorable(inner));
};

export const metadataSchema = z
  .record(z.string().min(1).max(40), metadataValue)
  .refine((metadata) => Object.keys(metadata).length <= METADATA_KEYS, {
    message: `must have at most ${METADATA_KEYS} keys`,
    params: { rule: 'too_big' },
  })
  .refine((metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES, {
    message: `must be at most ${METADATA_BYTES} bytes`,
    params: { rule: 'too_big' },
  })
  .refine(isStorable, {
    message: `must hold no number beyond ${Number.MAX_SAFE_INTEGER} or nearer to 0 than 1e-130, and no name "constructor"`,
    params: { rule: 'storable' },
  });

export const metadataField = metadataSchema
  .nullish()
  .describe(
    'Your own data: at most 50 keys of at most 40 characters, values of at most 500 characters as JSON, 16 KB in all.',
  );

export const tagsSchema = z
  .string()
  .max(500)
  .refine((tags) => tags.split(',').length <= 20 && tags.split(',').every((tag) => tag.trim().length <= 50), {
    message: 'must be at most 20 tags of at most 50 characters, separated by commas',
    params: { rule: 'tags' },
  })
  .nullish();

const FLAGS: Readonly<Record<string, boolean>> = { true: true, 1: true, yes: true, false: false, 0: false, no: false };

/** What a flag says, in any case; undefined if it is no flag. */
export const flagOf = (text: string): boolean | undefined => {
  const word = text.toLowerCase();
  return Object.hasOwn(FLAGS, word) ? FLAGS[word] : undefined;
};

/** A boolean in the query, if it is sent. */
export const booleanParameter = z
  .enum(['true', '1', 'yes', 'false', '0', 'no'])
  .transform((value) => flagOf(value) === true)
  .optional();

/**
 * An e-mail address in any script (RFC 6531), lower-cased so that each payer has one spelling. It refuses quoted local
 * parts, address literals, and characters that could end a header or a list of addresses.
 */
const EMAIL =
  /^[^\s@.<>()[\]\\,;:"\p{C}]+(?:\.[^\s@.<>()[\]\\,;:"\p{C}]+)*@[^\s@.<>()[\]\\,;:"'\p{C}]+(?:\.[^\s@.<>()[\]\\,;:"'\p{C}]+)+$/u;

export const emailSchema = z
  .string()
  .trim()
  .normalize()
  .toLowerCase()
  .max(254)
  .refine((email) => EMAIL.test(email), {
    message: 'must be an e-mail address',
    params: { rule: 'invalid_format' },
  })
  .meta({ format: 'idn-email' });

const guestDataSchema = z
  .object({
    email: emailSchema.meta({
      description: "The guest's e-mail address; stored in lower case.",
      examples: ['gus@example.com'],
    }),
    name: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .meta({ description: "The guest's full name.", examples: ['Gus Guest'] }),
    phone: z.string().max(32).optional().describe("The guest's phone number, in any notation."),
  })
  .meta({ id: 'GuestData', description: 'Who the guest is, for a request without a session.' });

export const guestDataField = guestDataSchema
  .optional()
  .describe('Who the guest is. Needed without a session and without a guest token.');

export const nextActionSchema = z
  .object({
    type: z
      .enum(['use_provider_sdk', 'redirect_to_url'])
      .describe(
        "`use_provider_sdk`: continue with the provider's library in the browser and the `client_secret`. `redirect_to_url`: send the payer to `url`.",
      ),
    url: z.string().optional().describe("The provider's page, with `redirect_to_url`. Hidden from platform admins."),
  })
  .meta({ id: 'NextAction', description: 'What the payer must do before the provider goes on.' });

/** What a guest's create request answers beside the record. */
export const guestTokenView = {
  guest_token: z
    .string()
    .optional()
    .describe("For a guest: the token that opens this guest's records later. Keep it like a password."),
  guest_token_expires_at: timestamp
    .optional()
    .describe('Until when the token holds; 7 days from now unless the operator sets another lifetime.'),
};

/** The query parameter of a guest token, where the document names it. */
export const tokenParameter = z
  .string()
  .max(2048)
  .optional()
  .describe('A guest token, in place of the header `X-Guest-Token`. Prefer the header: addresses end up in logs.');

/** True if the body, valid or not, has a value for one of the fields. */
export const hasAnyField = (body: unknown, ...fields: readonly string[]): boolean =>
  typeof body === 'object' &&
  body !== null &&
  Object.entries(body).some(([field, value]) => fields.includes(field) && value !== undefined);

/** Options of a refinement that also runs on an invalid body, so that one answer lists all problems. */
export const requiredRule = (path: string, message = 'is required') => ({
  path: [path],
  message,
  params: { rule: 'required' },
  when: () => true,
});

/** The proof of a payer's authentication that the provider's page in the browser has made. Used once, never stored. */
export const verificationTokenSchema = z.string().min(1).max(2048).optional();

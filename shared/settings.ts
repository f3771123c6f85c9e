import * as z from 'zod';

/**
 * Every setting of the service, parsed once by this schema: by a function at its cold start, by the CDK app at
 * deployment and by the local host at its start. An empty secret closes what needs it.
 */
/** Kinds of settings; an empty variable counts as one that is not there. */
export const text = z.string().trim().default('');
export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', ''])
    .default('')
    .transform((value) => (value === '' ? fallback : value === 'true'));
export const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  );
export const integer = (fallback: number, min: number, max: number) =>
  z.preprocess((value) => (value === '' || value === undefined ? fallback : Number(value)), z.int().min(min).max(max));
const MAX_DAYS = 365;
/** Ascending whole days, separated by commas. */
const days = (fallback: readonly number[]) =>
  list
    .transform((parts) => (parts.length === 0 ? [...fallback] : parts.map(Number)))
    .pipe(
      z
        .array(z.int().min(1).max(MAX_DAYS))
        .refine((each) => each.every((day, index) => index === 0 || day > (each[index - 1] ?? 0)), 'must ascend'),
    );
/** Prefix of every route, without a slash at its end. */
export const prefix = z
  .string()
  .default('')
  .refine((value) => /^(\/?|(\/[\w.~-]+)+\/?)$/.test(value), 'a path like /payments-api is wanted')
  .transform((value) => value.replace(/\/$/, ''));
const link = z.union([z.literal(''), z.url()]).default('');

export const PROVIDER_SLOTS = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const;
export type ProviderSlot = (typeof PROVIDER_SLOTS)[number];
const LETTERS = ['A', 'B', 'C', 'D'] as const;
type Letter = (typeof LETTERS)[number];

export const ADAPTERS = ['stripe', 'paypal', 'square', 'braintree'] as const;
export type AdapterName = (typeof ADAPTERS)[number];

const slotFields = {
  ADAPTER: z.enum(['', ...ADAPTERS]).default(''),
  BASE_URL: link,
  SUBSCRIPTIONS: z.enum(['', 'native', 'service']).default(''),
  SECRET_ARN: text,
  API_KEY: text,
  WEBHOOK_SECRET: text,
  CLIENT_ID: text,
  CLIENT_SECRET: text,
  WEBHOOK_ID: text,
  ACCESS_TOKEN: text,
  LOCATION_ID: text,
  SIGNATURE_KEY: text,
  NOTIFICATION_URL: list,
  MERCHANT_ID: text,
  PUBLIC_KEY: text,
  PRIVATE_KEY: text,
};
const slotSchema = z.object(slotFields);
export type SlotSettings = z.infer<typeof slotSchema>;

const schema = z.object({
  STAGE: z.enum(['local', 'dev', 'staging', 'prod']).default('local'),
  PUBLIC_BASE_URL: link,
  ALLOWED_ORIGINS: list,
  IDENTITY_URL: link,
  IDENTITY_JWKS_URI: link,
  IDENTITY_ISSUER: text,
  ADMIN_USER_IDS: list,
  PROVIDER_TIMEOUT_MS: integer(10_000, 100, 25_000),
  GUEST_TOKEN_SECRET: list,
  GUEST_TOKEN_SECRET_ARN: text,
  GUEST_TOKEN_TTL_SECONDS: integer(604_800, 60, 31_536_000),
  GUEST_EMAIL_LIST: z.enum(['minimal', 'full', 'token']).default('minimal'),
  ALLOW_RAW_CARDS: flag(false),
  ALLOW_QUERY_SESSION: flag(true),
  RATE_LIMITS: z
    .enum(['on', 'off', ''])
    .default('')
    .transform((value) => value !== 'off'),
  DUNNING_DAYS: days([1, 3, 7, 14]),
  DUNNING_FINAL_ACTION: z
    .enum(['cancel', 'pause', ''])
    .default('')
    .transform((value) => value || 'cancel'),
  CUSTOMER_DELETE_HISTORY: flag(false),
  EXTERNAL_WEBHOOK_MAX_RETRIES: integer(3, 0, 999),
  /** Milliseconds before the first retry; each following delay is twice as long. */
  EXTERNAL_WEBHOOK_RETRY_DELAY: integer(5_000, 0, 43_000_000),
  EXTERNAL_WEBHOOK_TIMEOUT: integer(10_000, 100, 60_000),
  EXTERNAL_WEBHOOK_ALLOW_PRIVATE: flag(false),
  WEBHOOKS_SECRET_ARN: text,
  TABLE_NAME: z.string().default('payments'),
  EVENT_BUS_NAME: z.string().default('payments'),
});

export type Settings = z.infer<typeof schema> & {
  readonly slots: Readonly<Record<ProviderSlot, SlotSettings>>;
  /** Queue URLs by queue name (QUEUE_URL_APPLY_PROVIDER_EVENT …). */
  readonly queueUrls: Readonly<Record<string, string>>;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown with one line a mistake. */
export class SettingsError extends Error {
  readonly mistakes: readonly string[];
  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'));
    this.name = 'SettingsError';
    this.mistakes = mistakes;
  }
}

const slotEnvironment = (env: Environment, letter: Letter): Record<string, string | undefined> => ({
  ADAPTER: env[`PROVIDER_${letter}`],
  ...Object.fromEntries(
    Object.keys(slotFields)
      .filter((field) => field !== 'ADAPTER')
      .map((field) => [field, env[`PROVIDER_${letter}_${field}`]]),
  ),
});

/** @throws SettingsError naming every mistake, one line each. */
export const parseSettings = (env: Environment): Settings => {
  const mistakes: string[] = [];
  const base = schema.safeParse(env);
  for (const issue of base.error?.issues ?? []) mistakes.push(`${issue.path.join('.')}: ${issue.message}`);
  const slots = LETTERS.map((letter) => {
    const parsed = slotSchema.safeParse(slotEnvironment(env, letter));
    for (const issue of parsed.error?.issues ?? []) {
      const field = issue.path.join('.');
      mistakes.push(`PROVIDER_${letter}${field === 'ADAPTER' ? '' : `_${field}`}: ${issue.message}`);
    }
    return parsed.data;
  });
  if (base.data?.STAGE === 'prod' && !base.data.RATE_LIMITS) mistakes.push('RATE_LIMITS: must be on in prod');
  if (base.data) mistakes.push(...retryMistakes(base.data));
  const [a, b, c, d] = slots;
  if (mistakes.length > 0 || !base.data || !a || !b || !c || !d) throw new SettingsError(mistakes);
  const queueUrls = Object.fromEntries(
    Object.entries(env)
      .filter(([name, value]) => name.startsWith('QUEUE_URL_') && value)
      .map(([name, value]) => [name.slice('QUEUE_URL_'.length).toLowerCase().replaceAll('_', '-'), value ?? '']),
  );
  return { ...base.data, slots: { provider_a: a, provider_b: b, provider_c: c, provider_d: d }, queueUrls };
};

/** SQS hides a message for 12 hours at most; a little of that is the attempt's own. */
const LONGEST_DELAY_MS = 43_000_000;

const retryMistakes = (settings: z.infer<typeof schema>): readonly string[] => {
  const { EXTERNAL_WEBHOOK_RETRY_DELAY: delayMs, EXTERNAL_WEBHOOK_MAX_RETRIES: retries } = settings;
  if (delayMs * 2 ** (retries - 1) <= LONGEST_DELAY_MS) return [];
  return [
    'EXTERNAL_WEBHOOK_RETRY_DELAY: doubled at each of EXTERNAL_WEBHOOK_MAX_RETRIES it exceeds the 12 hours of SQS',
  ];
};

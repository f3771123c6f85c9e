/**
 * @module Every setting of the service, parsed at start or deployment. An empty variable counts as absent, except
 * STAGE. An empty secret turns off its feature.
 */

import {
  amountsSetting,
  booleanSetting,
  checked,
  choiceSetting,
  claimsSetting,
  daysSetting,
  type Environment,
  integerSetting,
  listSetting,
  lowerCase,
  mapped,
  neverEmpty,
  readSetting,
  readSettings,
  type Setting,
  textSetting,
  urlSetting,
  type Values,
  waitsSetting,
} from './setting.ts';
import { descriptorProblem, LONGEST_DESCRIPTOR } from './text.ts';

/** Prefix of every route, without a trailing slash. */
export const prefix = mapped(
  checked(textSetting(), (value) => /^(\/?|(\/[\w.~-]+)+\/?)$/.test(value), 'must be a path like /payments-api'),
  (value) => value.replace(/\/$/, ''),
);

export const PROVIDER_SLOTS = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const;
export type ProviderSlot = (typeof PROVIDER_SLOTS)[number];
/** The slots for payments and their provider's events. */
export const PAYMENT_SLOTS = ['provider_a', 'provider_b', 'provider_c'] as const satisfies readonly ProviderSlot[];
export type PaymentSlot = (typeof PAYMENT_SLOTS)[number];
const LETTERS = ['A', 'B', 'C', 'D'] as const;

export const ADAPTERS = ['stripe', 'paypal', 'square', 'braintree'] as const;
export type AdapterName = (typeof ADAPTERS)[number];

const descriptorSetting = checked(
  textSetting(),
  ({ length }) => length <= LONGEST_DESCRIPTOR,
  `must have at most ${LONGEST_DESCRIPTOR} characters`,
);

/** A public value. Its form is checked, so a secret in its place is refused. */
const publicSetting = (form: RegExp, message: string): Setting<string> =>
  checked(textSetting(), (value) => value === '' || form.test(value), message);

const MOST_CALLS = 10_000;

export const slotFields = {
  ADAPTER: choiceSetting(ADAPTERS, ''),
  BASE_URL: urlSetting(),
  SUBSCRIPTIONS: choiceSetting(['native', 'service'], ''),
  SECRET_ARN: textSetting(),
  SIGNATURE_SECRET_ARN: textSetting(),
  API_KEY: textSetting(),
  PUBLISHABLE_KEY: publicSetting(/^pk_\w+$/, 'must be a publishable key: pk_test_… or pk_live_…'),
  WEBHOOK_SECRET: textSetting(),
  CLIENT_ID: textSetting(),
  CLIENT_SECRET: textSetting(),
  WEBHOOK_ID: textSetting(),
  ACCESS_TOKEN: textSetting(),
  APPLICATION_ID: publicSetting(
    /^(sandbox-)?sq0id[a-z]-[\w-]+$/,
    'must be an application id: sandbox-sq0idb-… or sq0idp-…',
  ),
  LOCATION_ID: textSetting(),
  SIGNATURE_KEY: textSetting(),
  NOTIFICATION_URL: listSetting(),
  MERCHANT_ID: textSetting(),
  PUBLIC_KEY: textSetting(),
  PRIVATE_KEY: textSetting(),
  FINGERPRINT_SECRET: textSetting(),
  BACKGROUND_RATE: integerSetting(95, 0, MOST_CALLS),
  BACKGROUND_BURST: integerSetting(95, 1, MOST_CALLS),
  STATEMENT_DESCRIPTOR: descriptorSetting,
};
export type SlotSettings = Values<typeof slotFields>;

/** The minimum time-out of functions that call a provider. It includes 5 s to record the outcome and respond. */
export const PROVIDER_FUNCTION_SECONDS = 20;
const AROUND_A_PROVIDER_CALL_MS = 5_000;
/** Leaves 1 s for reading and writing the record. */
const LONGEST_IDENTITY_CALL_MS = AROUND_A_PROVIDER_CALL_MS - 1_000;
const LONGEST_PROVIDER_CALL_MS = PROVIDER_FUNCTION_SECONDS * 1_000 - AROUND_A_PROVIDER_CALL_MS;

const edgeHeader = checked(
  checked(lowerCase(textSetting()), (name) => /^[a-z0-9-]*$/.test(name), 'must be the name of a header'),
  (name) => name !== 'x-forwarded-for',
  'must not be x-forwarded-for, because callers can write any address in it',
);
const edgeSecrets = checked(
  lowerCase(listSetting()),
  (hashes) => hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash)),
  'must be SHA-256 hashes in hex',
);

/** An HMAC key shorter than its hash may be guessed from a single token or id. */
const SECRET_CHARACTERS = 32;

const LONGEST_PAGE_NAME = 100;

/** A host as in URLs, without the default port. */
const isHost = (host: string): boolean =>
  URL.canParse(`https://${host}`) && new URL(`https://${host}`).host === host && host !== '';

export const serviceFields = {
  STAGE: neverEmpty(choiceSetting(['local', 'dev', 'staging', 'prod'], 'local')),
  PUBLIC_BASE_URL: urlSetting(),
  BASE_PATH: prefix,
  CONSOLE: choiceSetting(['on', 'off'], ''),
  HEALTH_CHECK: choiceSetting(['on', 'off'], ''),
  CONSOLE_SIGN_IN_URL: urlSetting(),
  CONSOLE_OIDC_ISSUER: urlSetting(),
  CONSOLE_OIDC_CLIENT_ID: textSetting(),
  ALLOWED_ORIGINS: listSetting(),
  IDENTITY_URL: urlSetting(),
  IDENTITY_LOOKUP: choiceSetting(['on', 'off'], 'on'),
  IDENTITY_JWKS_URI: urlSetting(),
  IDENTITY_ISSUER: textSetting(),
  IDENTITY_AUDIENCE: listSetting(),
  IDENTITY_CLAIMS: claimsSetting(),
  IDENTITY_EMAIL: choiceSetting(['required', 'optional'], 'required'),
  IDENTITY_TIMEOUT_MS: integerSetting(2_000, 100, LONGEST_IDENTITY_CALL_MS),
  ADMIN_USER_IDS: listSetting(),
  PROVIDER_TIMEOUT_MS: integerSetting(10_000, 100, LONGEST_PROVIDER_CALL_MS),
  TRUSTED_EDGE_HEADER: edgeHeader,
  TRUSTED_EDGE_SECRET_SHA256: edgeSecrets,
  STATEMENT_DESCRIPTOR: descriptorSetting,
  GUEST_TOKEN_SECRET: listSetting(),
  GUEST_TOKEN_SECRET_ARN: textSetting(),
  GUEST_TOKEN_TTL_SECONDS: integerSetting(604_800, 60, 31_536_000),
  GUEST_CONTINUE_SECONDS: integerSetting(3_600, 0, 604_800),
  GUEST_EMAIL_LIST: choiceSetting(['minimal', 'full', 'token'], 'minimal'),
  ID_SECRET: checked(
    textSetting(),
    ({ length }) => length === 0 || length >= SECRET_CHARACTERS,
    `must have at least ${SECRET_CHARACTERS} characters`,
  ),
  ID_SECRET_ARN: textSetting(),
  FINGERPRINT_SECRET: textSetting(),
  ALLOW_RAW_CARDS: choiceSetting(['true', 'false'], ''),
  CARD_NUMBERS: choiceSetting(['refuse', 'allow'], 'refuse'),
  ALLOW_QUERY_SESSION: booleanSetting(true),
  RATE_LIMITS: choiceSetting(['on', 'off'], ''),
  KEY_DECLINES_PER_HOUR: integerSetting(300, 0, 1_000_000),
  SUPPORT_REFUND_LIMITS: amountsSetting(),
  PLACE_HOLD_MINUTES: integerSetting(1_440, 15, 43_200),
  HOSTED_PAGES: choiceSetting(['on', 'off'], ''),
  PAGE_NAME: checked(
    textSetting(),
    ({ length }) => length <= LONGEST_PAGE_NAME,
    `must have at most ${LONGEST_PAGE_NAME} characters`,
  ),
  PAGE_COLOR: publicSetting(/^#[0-9a-f]{6}$/i, 'must be a color: #rrggbb'),
  PAGE_TERMS_URL: urlSetting(),
  PAGE_PRIVACY_URL: urlSetting(),
  PAGE_RETURN_HOSTS: checked(
    lowerCase(listSetting()),
    (hosts) => hosts.every(isHost),
    'must be hosts with their ports, such as shop.example or localhost:8080',
  ),
  DUNNING_DAYS: daysSetting([1, 3, 7, 14]),
  DUNNING_FINAL_ACTION: choiceSetting(['cancel', 'pause'], 'cancel'),
  RENEWAL_NOTICE_DAYS: integerSetting(0, 0, 90),
  RENEWAL_NOTICE_MIN_MONTHS: integerSetting(6, 1, 1_200),
  METHOD_NOTICE_DAYS: integerSetting(30, 0, 365),
  PLAN_CHANGE_UPGRADE: choiceSetting(['now', 'period_end'], 'now'),
  PLAN_CHANGE_DOWNGRADE: choiceSetting(['now', 'period_end'], 'period_end'),
  RUN_DUE_CONCURRENCY: integerSetting(60, 2, 1_000),
  DUE_WORK: choiceSetting(['on', 'off'], 'on'),
  CUSTOMER_DELETE_HISTORY: booleanSetting(false),
  EXTERNAL_WEBHOOK_MAX_RETRIES: integerSetting(3, 0, 999),
  EXTERNAL_WEBHOOK_RETRY_DELAY: integerSetting(5_000, 0, 43_000_000),
  EXTERNAL_WEBHOOK_RETRY_SCHEDULE: waitsSetting(),
  EXTERNAL_WEBHOOK_TIMEOUT: integerSetting(10_000, 100, 60_000),
  EXTERNAL_WEBHOOK_ALLOW_PRIVATE: booleanSetting(false),
  WEBHOOKS_SECRET_ARN: textSetting(),
  TABLE_NAME: textSetting('payments'),
  EVENT_BUS_NAME: textSetting('payments'),
};
type ServiceSettings = Values<typeof serviceFields>;

interface StagedSettings {
  readonly CONSOLE: boolean;
  readonly HEALTH_CHECK: boolean;
  readonly HOSTED_PAGES: boolean;
  readonly ALLOW_RAW_CARDS: boolean;
  readonly RATE_LIMITS: boolean;
}

export type Settings = Omit<ServiceSettings, keyof StagedSettings> &
  StagedSettings & {
    readonly slots: Readonly<Record<ProviderSlot, SlotSettings>>;
    /** Queue URLs by queue name (QUEUE_URL_APPLY_PROVIDER_EVENT …). */
    readonly queueUrls: Readonly<Record<string, string>>;
  };

/** The message has one line per mistake. */
export class SettingsError extends Error {
  readonly mistakes: readonly string[];
  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'));
    this.name = 'SettingsError';
    this.mistakes = mistakes;
  }
}

/** @throws SettingsError with every mistake, one line each. */
export const parseSettings = (env: Environment): Settings => {
  const service = readSettings(serviceFields, env);
  const [a, b, c, d] = LETTERS.map((letter) =>
    readSettings(slotFields, env, (field) => `PROVIDER_${letter}${field === 'ADAPTER' ? '' : `_${field}`}`),
  );
  const mistakes = [
    ...[service, a, b, c, d].flatMap((read) => read?.mistakes ?? []),
    ...productionMistakes(env),
    ...descriptorMistakes(env),
    ...(service.values
      ? [
          ...retryMistakes(service.values),
          ...edgeMistakes(service.values),
          ...lookupMistakes(service.values),
          ...signInMistakes(service.values),
        ]
      : []),
  ];
  if (mistakes.length > 0 || !service.values || !a?.values || !b?.values || !c?.values || !d?.values) {
    throw new SettingsError(mistakes);
  }
  const { STATEMENT_DESCRIPTOR: descriptor, FINGERPRINT_SECRET: fingerprints } = service.values;
  const queueUrls = Object.fromEntries(
    Object.entries(env)
      .filter(([name, value]) => name.startsWith('QUEUE_URL_') && value)
      .map(([name, value]) => [name.slice('QUEUE_URL_'.length).toLowerCase().replaceAll('_', '-'), value ?? '']),
  );
  const withShared = (slot: SlotSettings): SlotSettings => ({
    ...slot,
    STATEMENT_DESCRIPTOR: slot.STATEMENT_DESCRIPTOR || descriptor,
    FINGERPRINT_SECRET: slot.FINGERPRINT_SECRET || fingerprints,
  });
  return {
    ...service.values,
    ...stagedSettings(service.values, env),
    slots: {
      provider_a: withShared(a.values),
      provider_b: withShared(b.values),
      provider_c: withShared(c.values),
      provider_d: withShared(d.values),
    },
    queueUrls,
  };
};

/** A function without STAGE in its environment gets the limits of a deployed stage. */
const stagedSettings = (
  { CONSOLE, HEALTH_CHECK, HOSTED_PAGES, ALLOW_RAW_CARDS, RATE_LIMITS, STAGE }: ServiceSettings,
  env: Environment,
): StagedSettings => {
  const isLocal = env['STAGE'] === 'local';
  return {
    CONSOLE: CONSOLE === '' ? STAGE !== 'prod' : CONSOLE === 'on',
    HEALTH_CHECK: HEALTH_CHECK === '' ? STAGE === 'prod' : HEALTH_CHECK === 'on',
    HOSTED_PAGES: HOSTED_PAGES === '' ? STAGE !== 'prod' : HOSTED_PAGES === 'on',
    ALLOW_RAW_CARDS: ALLOW_RAW_CARDS === '' ? isLocal : ALLOW_RAW_CARDS === 'true',
    RATE_LIMITS: RATE_LIMITS === '' ? !isLocal : RATE_LIMITS === 'on',
  };
};

const SHARED_DESCRIPTOR = 'STATEMENT_DESCRIPTOR';

/** Checks each slot's descriptor, its own or the shared descriptor, against its adapter's rules. */
const descriptorMistakes = (env: Environment): readonly string[] =>
  LETTERS.flatMap((letter) => {
    const own = `PROVIDER_${letter}_${SHARED_DESCRIPTOR}`;
    const name = env[own]?.trim() ? own : SHARED_DESCRIPTOR;
    const text = env[name]?.trim() ?? '';
    const adapter = ADAPTERS.find((known) => known === env[`PROVIDER_${letter}`]) ?? '';
    // The setting itself reports a descriptor that is too long for every provider.
    const problem = text.length > LONGEST_DESCRIPTOR ? undefined : descriptorProblem(adapter, text);
    return problem === undefined ? [] : [`${name}: ${problem}${name === own ? '' : `; or set ${own}`}`];
  });

export const isWeakGuestSecret = (secret: string): boolean => secret.length < SECRET_CHARACTERS;
export const WEAK_GUEST_SECRET = `must have at least ${SECRET_CHARACTERS} characters in prod`;

const PRODUCTION_LINKS: readonly string[] = [
  'PUBLIC_BASE_URL',
  'IDENTITY_URL',
  'IDENTITY_JWKS_URI',
  'CONSOLE_SIGN_IN_URL',
  'CONSOLE_OIDC_ISSUER',
  'PAGE_TERMS_URL',
  'PAGE_PRIVACY_URL',
  ...LETTERS.map((letter) => `PROVIDER_${letter}_BASE_URL`),
];

/** Reports values that prod refuses. Reads the environment directly, so other mistakes cannot hide these mistakes. */
const productionMistakes = (env: Environment): readonly string[] => {
  if (env['STAGE'] !== 'prod') return [];
  const isPlain = (url: string): boolean => URL.canParse(url) && new URL(url).protocol !== 'https:';
  const plain = PRODUCTION_LINKS.filter((name) => isPlain(env[name] ?? ''));
  return [
    ...plain.map((name) => `${name}: must begin with https:// in prod`),
    ...(readSetting(listSetting(), env['GUEST_TOKEN_SECRET']).some(isWeakGuestSecret)
      ? [`GUEST_TOKEN_SECRET: ${WEAK_GUEST_SECRET}`]
      : []),
    ...(env['IDENTITY_JWKS_URI']
      ? ['IDENTITY_ISSUER', 'IDENTITY_AUDIENCE']
          .filter((name) => !env[name]?.trim())
          .map((name) => `${name}: must be set in prod with IDENTITY_JWKS_URI`)
      : []),
    ...(env['RATE_LIMITS'] === 'off' ? ['RATE_LIMITS: must be on in prod'] : []),
    ...(env['EXTERNAL_WEBHOOK_ALLOW_PRIVATE'] === 'true'
      ? ['EXTERNAL_WEBHOOK_ALLOW_PRIVATE: must not be true in prod']
      : []),
  ];
};

const signInMistakes = (settings: ServiceSettings): readonly string[] => {
  const { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: client } = settings;
  if ((issuer === '') === (client === '')) return [];
  return issuer === ''
    ? ['CONSOLE_OIDC_CLIENT_ID: needs CONSOLE_OIDC_ISSUER']
    : ['CONSOLE_OIDC_ISSUER: needs CONSOLE_OIDC_CLIENT_ID'];
};

const lookupMistakes = ({ IDENTITY_LOOKUP: lookup, IDENTITY_URL: url }: ServiceSettings): readonly string[] =>
  lookup === 'off' && url !== '' ? ['IDENTITY_LOOKUP: off requires an empty IDENTITY_URL'] : [];

/** SQS delays a message by up to 12 hours; the attempt itself needs a small part of that time. */
const LONGEST_DELAY_MS = 43_000_000;

const retryMistakes = (settings: ServiceSettings): readonly string[] => {
  const { EXTERNAL_WEBHOOK_RETRY_DELAY: delayMs, EXTERNAL_WEBHOOK_MAX_RETRIES: retries } = settings;
  if (delayMs * 2 ** (retries - 1) <= LONGEST_DELAY_MS) return [];
  return [
    'EXTERNAL_WEBHOOK_RETRY_DELAY: doubled per retry, the delay exceeds the 12 hours of SQS; lower it or EXTERNAL_WEBHOOK_MAX_RETRIES',
  ];
};

/**
 * Requires the header and the secrets together. A header without a secret would let callers choose the address that
 * limits count.
 */
const edgeMistakes = (settings: ServiceSettings): readonly string[] => {
  const { TRUSTED_EDGE_HEADER: header, TRUSTED_EDGE_SECRET_SHA256: hashes } = settings;
  if ((header === '') === (hashes.length === 0)) return [];
  return header === ''
    ? ['TRUSTED_EDGE_SECRET_SHA256: needs TRUSTED_EDGE_HEADER']
    : ['TRUSTED_EDGE_HEADER: needs TRUSTED_EDGE_SECRET_SHA256'];
};

/**
 * @module Every setting of the service, parsed at the start or deployment. An empty variable counts as absent, except
 * STAGE; an empty secret turns off the feature that needs it.
 */

import {
  amountsSetting,
  booleanSetting,
  checked,
  choiceSetting,
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
/** The slots that take payments and receive events of their provider. */
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

/** A value that everyone may see. Its form is checked, so that no secret is set in its place. */
const publicSetting = (form: RegExp, message: string): Setting<string> =>
  checked(textSetting(), (value) => value === '' || form.test(value), message);

const MOST_CALLS = 10_000;

export const slotFields = {
  ADAPTER: choiceSetting(ADAPTERS, '').describe('the adapter of the slot; empty: the slot is off'),
  BASE_URL: urlSetting().describe('base URL of the provider; empty: the live provider'),
  SUBSCRIPTIONS: choiceSetting(['native', 'service'], '').describe(
    'who bills new subscriptions: native (the provider) or service; empty: the adapter decides; existing subscriptions keep their biller',
  ),
  SECRET_ARN: textSetting(),
  SIGNATURE_SECRET_ARN: textSetting(),
  API_KEY: textSetting().describe('Stripe: the secret key'),
  PUBLISHABLE_KEY: publicSetting(/^pk_\w+$/, 'must be a publishable key: pk_test_… or pk_live_…').describe(
    'Stripe: the publishable key, shown to browsers by GET /config',
  ),
  WEBHOOK_SECRET: textSetting().describe(
    'Stripe: the signing secret of the webhook endpoint; separate several secrets by commas, for several endpoints or a rotation',
  ),
  CLIENT_ID: textSetting().describe('PayPal: the client id of the app'),
  CLIENT_SECRET: textSetting().describe('PayPal: the client secret of the app'),
  WEBHOOK_ID: textSetting().describe('PayPal: the id of the registered webhook'),
  ACCESS_TOKEN: textSetting().describe('Square: the access token'),
  APPLICATION_ID: publicSetting(
    /^(sandbox-)?sq0id[a-z]-[\w-]+$/,
    'must be an application id: sandbox-sq0idb-… or sq0idp-…',
  ).describe('Square: the application id, shown to browsers by GET /config'),
  LOCATION_ID: textSetting().describe('Square: the id of the location'),
  SIGNATURE_KEY: textSetting().describe(
    'Square: the signature key of the webhook subscription; separate the keys of several subscriptions by commas',
  ),
  NOTIFICATION_URL: listSetting().describe('Square: the notification URLs, exactly as registered at Square'),
  MERCHANT_ID: textSetting().describe('Braintree: the merchant id'),
  PUBLIC_KEY: textSetting().describe('Braintree: the public key'),
  PRIVATE_KEY: textSetting().describe('Braintree: the private key'),
  FINGERPRINT_SECRET: textSetting().describe(
    'the key of the fingerprints of this slot; empty: FINGERPRINT_SECRET; deployed, it is stored with the keys of the slot',
  ),
  BACKGROUND_RATE: integerSetting(95, 0, MOST_CALLS).describe(
    "maximum calls per second that renewals and other due work make to the provider; leave the rest of the provider's limit for the requests of payers, which this setting never delays; 0: no limit",
  ),
  BACKGROUND_BURST: integerSetting(95, 1, MOST_CALLS).describe(
    'calls that due work may make in one burst after a pause, above BACKGROUND_RATE',
  ),
  STATEMENT_DESCRIPTOR: descriptorSetting.describe(
    'the text on statements of this slot; empty: STATEMENT_DESCRIPTOR. Stripe: 5 to 22 characters, after the prefix of the account; PayPal: up to 22; Square: up to 20',
  ),
};
export type SlotSettings = Values<typeof slotFields>;

/** Functions that call a provider have at least 20 s, of which 5 s are for recording the outcome and replying. */
export const PROVIDER_FUNCTION_SECONDS = 20;
const AROUND_A_PROVIDER_CALL_MS = 5_000;
/** Reading and writing the record needs 1 s of those 5 s. */
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

/** An HMAC key shorter than its hash can be guessed from one token or id. */
const SECRET_CHARACTERS = 32;

export const serviceFields = {
  STAGE: neverEmpty(choiceSetting(['local', 'dev', 'staging', 'prod'], 'local')).describe(
    'the stage (deployed default: dev); prod refuses settings that only tests may use',
  ),
  PUBLIC_BASE_URL: urlSetting().describe(
    "the service's public root URL, with its prefix; empty when deployed: the URL of the custom domain or of the API",
  ),
  BASE_PATH: prefix.describe('prefix of every route, such as /pay; deployed, it applies under the custom domain only'),
  CONSOLE: choiceSetting(['on', 'off'], '').describe('the console at /console: on or off; empty: on, except in prod'),
  HEALTH_CHECK: choiceSetting(['on', 'off'], '').describe(
    'a function of the stage asks its public address for GET /health every minute, and an alarm reports that it is unhealthy: on or off; empty: on in prod only',
  ),
  CONSOLE_SIGN_IN_URL: urlSetting().describe(
    'the sign-in page to which the console sends users, with `return_to` in the query; the page must send users back to the unchanged `return_to`, which contains a random `state`, with `#session_id=` added; empty: users enter a session ID or token',
  ),
  ALLOWED_ORIGINS: listSetting().describe('origins from which browsers may call'),
  IDENTITY_URL: urlSetting().describe(
    'base URL of the identity service, which serves GET /sessions/{id}, GET /users?email= and POST /users/lookup',
  ),
  IDENTITY_JWKS_URI: urlSetting().describe(
    'URL of the keys that verify bearer tokens (JWT); empty: no bearer token is accepted',
  ),
  IDENTITY_ISSUER: textSetting().describe('the required issuer of bearer tokens; prod requires one'),
  IDENTITY_AUDIENCE: textSetting().describe(
    'the required audience of bearer tokens; empty: the audience is not checked; prod requires one',
  ),
  IDENTITY_TIMEOUT_MS: integerSetting(2_000, 100, LONGEST_IDENTITY_CALL_MS).describe(
    'time-out of a call to the identity service; after it the request fails with 503',
  ),
  ADMIN_USER_IDS: listSetting().describe(
    'user ids of platform admins, in addition to users whose session marks them as platform admins',
  ),
  PROVIDER_TIMEOUT_MS: integerSetting(10_000, 100, LONGEST_PROVIDER_CALL_MS).describe(
    'time-out of a call to a provider; at least 5 s below the time-out of every function that calls a provider',
  ),
  TRUSTED_EDGE_HEADER: edgeHeader.describe(
    "header with the client's address from a proxy before the API, such as cloudfront-viewer-address; trusted only together with the header x-trusted-edge-secret",
  ),
  TRUSTED_EDGE_SECRET_SHA256: edgeSecrets.describe(
    'SHA-256, in hex, of the secret that the proxy sends in x-trusted-edge-secret; several hashes are accepted, so the secret can be rotated',
  ),
  STATEMENT_DESCRIPTOR: descriptorSetting.describe(
    "the text on payers' statements, at most 22 characters by each provider's rules; empty: the text of the account",
  ),
  GUEST_TOKEN_SECRET: listSetting().describe(
    'secrets of guest tokens; the first secret signs and all are accepted, so the secret can be rotated; empty: no guest tokens',
  ),
  GUEST_TOKEN_SECRET_ARN: textSetting(),
  GUEST_TOKEN_TTL_SECONDS: integerSetting(604_800, 60, 31_536_000).describe('lifetime of a guest token'),
  GUEST_CONTINUE_SECONDS: integerSetting(3_600, 0, 604_800).describe(
    'seconds after the creation of a customer, payment method or address during which its guest may continue without the token, with our id of that record and the same e-mail address, from the network that created it; 0 turns this off, as GUEST_EMAIL_LIST=full does',
  ),
  GUEST_EMAIL_LIST: choiceSetting(['minimal', 'full', 'token'], 'minimal').describe(
    'fields that lists by guest e-mail show: few (minimal), all (full), or none without a token (token)',
  ),
  ID_SECRET: checked(
    textSetting(),
    ({ length }) => length === 0 || length >= SECRET_CHARACTERS,
    `must have at least ${SECRET_CHARACTERS} characters`,
  ).describe('the key of ids; never rotated; empty: a deployment or a local host makes one'),
  ID_SECRET_ARN: textSetting(),
  FINGERPRINT_SECRET: textSetting().describe(
    'the key from which the fingerprints of cards are derived; a new key gives every card a new fingerprint; empty: no fingerprints',
  ),
  ALLOW_RAW_CARDS: choiceSetting(['true', 'false'], '').describe(
    'accepts raw card fields for payment methods; never in prod; empty: true with STAGE=local, else false',
  ),
  CARD_NUMBERS: choiceSetting(['refuse', 'allow'], 'refuse').describe(
    'whether to refuse a text or metadata that contains a card number; a field for a token always refuses a card number',
  ),
  ALLOW_QUERY_SESSION: booleanSetting(true).describe('accepts the credential session_id in the query'),
  RATE_LIMITS: choiceSetting(['on', 'off'], '').describe(
    'limits the requests of each caller; off for load and matrix tests, never in prod; empty: off with STAGE=local, else on',
  ),
  KEY_DECLINES_PER_HOUR: integerSetting(300, 0, 1_000_000).describe(
    'declines per hour behind one service key that names no X-Payer-Address; 0: no limit',
  ),
  SUPPORT_REFUND_LIMITS: amountsSetting().describe(
    'the largest sum of refunds that support may reach on one payment, in minor units of each currency, such as `USD:10000,EUR:10000`; empty: support does not refund',
  ),
  DUNNING_DAYS: daysSetting([1, 3, 7, 14]).describe(
    'days after the first failure of a renewal on which the charge is retried, ascending; only for subscriptions that the service bills, because Stripe has its own retry settings',
  ),
  DUNNING_FINAL_ACTION: choiceSetting(['cancel', 'pause'], 'cancel').describe(
    'action on a subscription after the last retry; only if the service bills the subscription',
  ),
  PLAN_CHANGE_UPGRADE: choiceSetting(['now', 'period_end'], 'now').describe(
    'when a change to a plan that costs the same or more takes effect, if the request does not say',
  ),
  PLAN_CHANGE_DOWNGRADE: choiceSetting(['now', 'period_end'], 'period_end').describe(
    'when a change to a cheaper plan takes effect, if the request does not say; with period_end only the merchant may let it take effect now',
  ),
  RUN_DUE_CONCURRENCY: integerSetting(60, 2, 1_000).describe(
    'maximum number of renewals and other due work that run at the same time; 60 make 100 calls per second to a provider that responds within half a second',
  ),
  DUE_WORK: choiceSetting(['on', 'off'], 'on').describe(
    'off: no renewal is charged, no unknown outcome is looked up and no erasure runs until it is on again; for the time between a restore of the table and the comparison with the providers',
  ),
  CUSTOMER_DELETE_HISTORY: booleanSetting(false).describe(
    'deleting a customer deletes its payments and subscriptions too',
  ),
  EXTERNAL_WEBHOOK_MAX_RETRIES: integerSetting(3, 0, 999).describe('retries after the first attempt'),
  EXTERNAL_WEBHOOK_RETRY_DELAY: integerSetting(5_000, 0, 43_000_000).describe(
    'milliseconds before the first retry, doubled for each further retry, rounded up to whole seconds; at most 12 h',
  ),
  EXTERNAL_WEBHOOK_RETRY_SCHEDULE: waitsSetting().describe(
    'seconds before each retry, instead of the two settings above, such as `5,30,120,900,3600,21600,86400`; at most 20 waits of together 3 days; empty: the two settings above',
  ),
  EXTERNAL_WEBHOOK_TIMEOUT: integerSetting(10_000, 100, 60_000).describe(
    'milliseconds for one POST, including name resolution and the response',
  ),
  EXTERNAL_WEBHOOK_ALLOW_PRIVATE: booleanSetting(false).describe(
    'allows targets at http URLs and at private addresses',
  ),
  WEBHOOKS_SECRET_ARN: textSetting(),
  TABLE_NAME: textSetting('payments'),
  EVENT_BUS_NAME: textSetting('payments'),
};
type ServiceSettings = Values<typeof serviceFields>;

interface StagedSettings {
  readonly CONSOLE: boolean;
  readonly HEALTH_CHECK: boolean;
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
    ...(service.values ? [...retryMistakes(service.values), ...edgeMistakes(service.values)] : []),
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

/** Without STAGE in its environment, a function gets the limits of a deployed stage. */
const stagedSettings = (
  { CONSOLE, HEALTH_CHECK, ALLOW_RAW_CARDS, RATE_LIMITS, STAGE }: ServiceSettings,
  env: Environment,
): StagedSettings => {
  const isLocal = env['STAGE'] === 'local';
  return {
    CONSOLE: CONSOLE === '' ? STAGE !== 'prod' : CONSOLE === 'on',
    HEALTH_CHECK: HEALTH_CHECK === '' ? STAGE === 'prod' : HEALTH_CHECK === 'on',
    ALLOW_RAW_CARDS: ALLOW_RAW_CARDS === '' ? isLocal : ALLOW_RAW_CARDS === 'true',
    RATE_LIMITS: RATE_LIMITS === '' ? !isLocal : RATE_LIMITS === 'on',
  };
};

const SHARED_DESCRIPTOR = 'STATEMENT_DESCRIPTOR';

/** Each slot uses its own descriptor or the shared one, under the rules of its adapter. */
const descriptorMistakes = (env: Environment): readonly string[] =>
  LETTERS.flatMap((letter) => {
    const own = `PROVIDER_${letter}_${SHARED_DESCRIPTOR}`;
    const name = env[own]?.trim() ? own : SHARED_DESCRIPTOR;
    const text = env[name]?.trim() ?? '';
    const adapter = ADAPTERS.find((known) => known === env[`PROVIDER_${letter}`]) ?? '';
    // The setting itself reports a text that is too long for every provider.
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
  ...LETTERS.map((letter) => `PROVIDER_${letter}_BASE_URL`),
];

/** Reports values that only tests may use. Reads the environment itself, so that no other mistake hides these. */
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

/** SQS delays a message by at most 12 hours; a small part of that is for the attempt itself. */
const LONGEST_DELAY_MS = 43_000_000;

const retryMistakes = (settings: ServiceSettings): readonly string[] => {
  const { EXTERNAL_WEBHOOK_RETRY_DELAY: delayMs, EXTERNAL_WEBHOOK_MAX_RETRIES: retries } = settings;
  if (delayMs * 2 ** (retries - 1) <= LONGEST_DELAY_MS) return [];
  return [
    'EXTERNAL_WEBHOOK_RETRY_DELAY: the delay doubles with each of EXTERNAL_WEBHOOK_MAX_RETRIES and exceeds the 12 hours of SQS',
  ];
};

/** Without its secret, the header would let every caller choose the address that limits count by. */
const edgeMistakes = (settings: ServiceSettings): readonly string[] => {
  const { TRUSTED_EDGE_HEADER: header, TRUSTED_EDGE_SECRET_SHA256: hashes } = settings;
  if ((header === '') === (hashes.length === 0)) return [];
  return header === ''
    ? ['TRUSTED_EDGE_SECRET_SHA256: needs TRUSTED_EDGE_HEADER']
    : ['TRUSTED_EDGE_HEADER: needs TRUSTED_EDGE_SECRET_SHA256'];
};

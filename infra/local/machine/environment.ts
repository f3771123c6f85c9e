/** @module The settings of the local host, and the environment in which it runs the functions. */

import {
  checked,
  choiceSetting,
  integerSetting,
  listSetting,
  lowerCase,
  readSettings,
  textSetting,
} from '../../../shared/core/setting.ts';
import { PROVIDER_SLOTS, prefix, type Settings, SettingsError } from '../../../shared/core/settings.ts';
import { checkedSettings } from '../../../shared/webhooks/checked-targets.ts';
import { modeOf, slotDefaults, slotMistakes } from './slots.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The process's environment with overrides. */
export const operatorEnvironment = (overrides: Env = {}): Env => ({ ...process.env, ...overrides });

export const REGION = 'eu-central-1';
export const ACCOUNT = '000000000000';

/** Local secrets, fixed and printed at start for tests and people. They give no access outside this machine. */
export const LOCAL_SECRETS = {
  PROVIDER_A_API_KEY: 'sk_test_local_provider_a',
  PROVIDER_A_WEBHOOK_SECRET: 'whsec_local_provider_a',
  PROVIDER_B_CLIENT_ID: 'local_provider_b_client',
  PROVIDER_B_CLIENT_SECRET: 'local_provider_b_secret',
  PROVIDER_B_WEBHOOK_ID: 'LOCALPROVIDERBWEBHOOK',
  PROVIDER_C_ACCESS_TOKEN: 'local_provider_c_token',
  PROVIDER_C_SIGNATURE_KEY: 'local_provider_c_key',
  PROVIDER_D_PUBLIC_KEY: 'local_provider_d_public',
  PROVIDER_D_PRIVATE_KEY: 'local_provider_d_private',
  GUEST_TOKEN_SECRET: 'local-guest-token-secret-of-32-bytes-or-more',
  FINGERPRINT_SECRET: 'local-fingerprint-secret',
  WEBHOOK_1_SECRET: 'whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=',
} as const;
/** The publishable key of provider_a, for confirmations in a browser. */
export const PUBLISHABLE_KEY = 'pk_test_local_provider_a';

const DEFAULT_PORT = 3000;

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

export const hostFields = {
  PORT: integerSetting(DEFAULT_PORT, 0, 65_535).describe('the port'),
  HOST: textSetting('127.0.0.1').describe('the address; 0.0.0.0 in a container'),
  ALLOWED_HOSTS: checked(
    lowerCase(listSetting()),
    (names) => names.every((name) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)),
    'must be host names without a port, such as payments',
  ).describe('host names accepted besides 127.0.0.1, localhost and [::1], also by the control routes'),
  DATA_DIR: textSetting('.local').describe('the data folder; :memory: keeps nothing'),
  BASE_PATH: prefix,
  DEMO_DATA: choiceSetting(['demo', 'none'], 'demo').describe(
    'demo: thirty days of payments in an empty data folder; none: demo sessions and org_demo only',
  ),
  LOG_LEVEL: lowerCase(choiceSetting(LOG_LEVELS, 'silent')).describe(
    'the functions’ logs on the terminal; `npm start -- --logs` is info',
  ),
};

export interface HostSettings {
  readonly port: number;
  readonly address: string;
  readonly allowedHosts: readonly string[];
  /** A folder, or `:memory:`. */
  readonly dataDir: string;
  /** Prefix of every route of the service, without a trailing slash. */
  readonly basePath: string;
  readonly demoData: 'none' | 'demo';
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** @throws SettingsError with every mistake. */
export const readHostSettings = (env: Env): HostSettings => {
  const { mistakes, values } = readSettings(hostFields, env);
  if (!values) throw new SettingsError(mistakes);
  const { PORT, HOST, ALLOWED_HOSTS, DATA_DIR, BASE_PATH, DEMO_DATA, LOG_LEVEL } = values;
  return {
    port: PORT,
    address: HOST,
    allowedHosts: ALLOWED_HOSTS,
    dataDir: DATA_DIR,
    basePath: BASE_PATH,
    // The demo data need sessions, so they need an identity service.
    demoData: env['IDENTITY_LOOKUP'] === 'off' ? 'none' : DEMO_DATA,
    logLevel: LOG_LEVEL,
  };
};

export interface Wiring {
  readonly baseUrl: string;
  readonly basePath: string;
  readonly dynamoEndpoint: string;
  readonly queues: readonly string[];
}

/** The endpoint of the host's AWS operations. */
export const awsEndpoint = (baseUrl: string): string => `${baseUrl}/_local/aws`;
export const queueUrl = (baseUrl: string, queue: string): string => `${awsEndpoint(baseUrl)}/${ACCOUNT}/${queue}`;

/**
 * The functions' environment. The operator's environment overrides local defaults, and this host's addresses override
 * both. The operator's AWS settings are omitted, so no function can reach a real account.
 */
export const functionEnvironment = (operator: Env, wiring: Wiring): Record<string, string> => ({
  ...defaults(wiring, operator),
  ...ofTheOperator(operator),
  ...awsEnvironment(wiring.dynamoEndpoint),
  AWS_ENDPOINT_URL_SQS: awsEndpoint(wiring.baseUrl),
  AWS_ENDPOINT_URL_EVENTBRIDGE: awsEndpoint(wiring.baseUrl),
  ...Object.fromEntries(
    wiring.queues.map((queue) => [
      `QUEUE_URL_${queue.toUpperCase().replaceAll('-', '_')}`,
      queueUrl(wiring.baseUrl, queue),
    ]),
  ),
});

/** How a client connects to the host's own table. */
export const awsEnvironment = (dynamoEndpoint: string) => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: dynamoEndpoint,
});

const defaults = ({ baseUrl, basePath }: Wiring, operator: Env): Record<string, string> => {
  return {
    STAGE: 'local',
    TABLE_NAME: 'payments',
    EVENT_BUS_NAME: 'payments',
    PUBLIC_BASE_URL: `${baseUrl}${basePath}`,
    ...identityDefaults(baseUrl, operator),
    PROVIDER_TIMEOUT_MS: callsSandbox(operator) ? '10000' : '1000',
    RUN_DUE_CONCURRENCY: '10',
    GUEST_TOKEN_SECRET: LOCAL_SECRETS.GUEST_TOKEN_SECRET,
    FINGERPRINT_SECRET: LOCAL_SECRETS.FINGERPRINT_SECRET,
    SUPPORT_REFUND_LIMITS: 'USD:10000,EUR:10000',
    ...slotDefaults(operator, { baseUrl, basePath }),
    EXTERNAL_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...(!namesWebhooks(operator) && defaultWebhook(baseUrl)),
  };
};

/**
 * The settings for the host's own identity service. The same service issues the tokens and serves the console's
 * sign-in.
 */
const identityDefaults = (baseUrl: string, operator: Env): Record<string, string> => {
  const own = `${baseUrl}/_local/identity-service`;
  const isOwn = !operator['IDENTITY_URL'];
  const acceptsOwn = isOwn && operator['IDENTITY_JWKS_URI'] === undefined && operator['IDENTITY_ISSUER'] === undefined;
  return {
    IDENTITY_URL: operator['IDENTITY_LOOKUP'] === 'off' ? '' : own,
    IDENTITY_JWKS_URI: isOwn ? `${own}/.well-known/jwks.json` : '',
    IDENTITY_ISSUER: isOwn ? own : '',
    CONSOLE_OIDC_ISSUER: acceptsOwn ? own : '',
    CONSOLE_OIDC_CLIENT_ID: acceptsOwn ? 'payments-console' : '',
  };
};

/**
 * The default webhook target. It is enabled only if the operator names no target. Other targets need the operator's own
 * switch.
 */
const defaultWebhook = (baseUrl: string): Record<string, string> => ({
  EXTERNAL_WEBHOOKS_ENABLED: 'true',
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: defaultWebhookUrl(baseUrl),
  WEBHOOK_1_EVENTS: 'all',
  WEBHOOK_1_EVENT_MODE: 'both',
  WEBHOOK_1_SECRET: LOCAL_SECRETS.WEBHOOK_1_SECRET,
});

export const defaultWebhookUrl = (baseUrl: string): string => `${baseUrl}/_local/sink/default`;

const namesWebhooks = (operator: Env): boolean =>
  Object.keys(operator).some((name) => /^(WEBHOOK_\d+_|EXTERNAL_WEBHOOK_(URLS|EVENTS)$)/.test(name));

const ofTheOperator = (env: Env): Record<string, string> => {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith('AWS_')) pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
};

const callsSandbox = (operator: Env): boolean => PROVIDER_SLOTS.some((slot) => modeOf(operator, slot) === 'sandbox');

/** Checks the service's settings before anything starts. @throws SettingsError with every mistake. */
export const checkSettings = (operator: Env, basePath: string): Settings => {
  const none = 'http://127.0.0.1:0';
  const wiring = { baseUrl: none, basePath, dynamoEndpoint: none, queues: [] };
  const env = functionEnvironment(operator, wiring);
  if (env['STAGE'] !== 'prod') {
    const mistakes = slotMistakes(operator);
    if (mistakes.length > 0) throw new SettingsError(mistakes);
    return checkedSettings(env);
  }
  throw new SettingsError([DEPLOYED_ONLY, ...productionMistakes(operator, env)]);
};

const DEPLOYED_ONLY = 'STAGE: prod cannot run on the local host; deploy it (npm run deploy)';

/** The operator's mistakes for prod, without the mistakes in the host's own defaults. */
const productionMistakes = (operator: Env, env: Env): readonly string[] => {
  try {
    checkedSettings(env);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.mistakes.filter((mistake) => operator[mistake.split(':')[0] ?? ''] !== undefined);
  }
};

import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { secretFields } from '../../../shared/core/capabilities.ts';
import {
  checked,
  choiceSetting,
  type Environment,
  integerSetting,
  listSetting,
  neverEmpty,
  readSettings,
  textSetting,
  type Values,
} from '../../../shared/core/setting.ts';
import {
  type AdapterName,
  type ProviderSlot,
  prefix,
  type Settings,
  SettingsError,
} from '../../../shared/core/settings.ts';
import type { OperatedSettings } from '../../../shared/platform/trigger.ts';
import { checkedSettings } from '../../../shared/webhooks/checked-targets.ts';
import { isTargetVariable, namesTarget } from '../../../shared/webhooks/webhook-targets.ts';

/** Maximum concurrent instances per function. The same number is reserved for it. */
export interface Bulkheads {
  /** Per receiver of provider events. */
  readonly webhooks: number;
  /** Per function of the payment path. */
  readonly payments: number;
  /** Per queue consumer; at most its own maximum concurrency. */
  readonly workers: number;
}

/** A table used in place of the stack's own table. */
export interface TableInUse {
  readonly name: string;
  readonly arn: string;
  readonly streamArn: string;
}

export type Stage = 'dev' | 'staging' | 'prod';

/** The operator's settings of a deployment, for the service and for the deployment itself. */
export interface DeploymentSettings {
  readonly stage: Stage;
  /** The recipient of alarms. If empty, alarms have no recipient until someone subscribes to the topic. */
  readonly alarmEmail: string;
  /** Host name of the API; empty for API Gateway's own. */
  readonly customDomain: string;
  /** Prefix of every route with a custom host name, such as `/pay`, or empty. */
  readonly basePath: string;
  readonly allowedOrigins: readonly string[];
  /** The operator's public base URL. If empty, it derives from the custom domain or the API. */
  readonly publicBaseUrl: string;
  /** The settings of every function, without secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Log retention in days. */
  readonly logDays: number;
  /** True if receivers of provider events have their own URLs in addition to their routes. */
  readonly functionUrls: boolean;
  /** True if the functions send traces to X-Ray. */
  readonly tracing: boolean;
  /** Ids of the endpoints kept warm. */
  readonly provisioned: readonly string[];
  /** True if a new version of the payment path first gets a tenth of the requests. */
  readonly canary: boolean;
  /** If undefined, no concurrency is reserved. */
  readonly bulkheads: Bulkheads | undefined;
  /** Bulkhead sizes, also while bulkheads are off. */
  readonly bulkheadSizes: Bulkheads;
  /** The effect of a failed check before a deployment. */
  readonly checks: 'refuse' | 'warn' | 'off';
  /** True if the stage has the routes of the console. */
  readonly console: boolean;
  /** True if the stage has the routes of the hosted page. */
  readonly hostedPages: boolean;
  /** The adapter of each slot; empty if the slot is off. */
  readonly adapters: Readonly<Record<ProviderSlot, AdapterName | ''>>;
  /** Calls per second that due work may make to the provider of each slot. */
  readonly backgroundRates: Readonly<Record<ProviderSlot, number>>;
  /** The operator's settings that are applied to the triggers, for example the concurrency of due work. */
  readonly operated: OperatedSettings;
  /** Targets of outbound webhooks. They are stored in one secret, never in a template or a function's environment. */
  readonly webhookVariables: Readonly<Record<string, string>>;
  /** A restored table in place of the stack's own; undefined for the stack's own. */
  readonly tableInUse: TableInUse | undefined;
  /** The ARN of a backup vault in another region or account for copies of prod's backups, or empty. */
  readonly backupCopyTo: string;
  /**
   * Names of the secrets in the operator's environment. These secrets are not deployed, because they belong in Secrets
   * Manager.
   */
  readonly secretsLeftOut: readonly string[];
}

const SLOTS = ['PROVIDER_A', 'PROVIDER_B', 'PROVIDER_C', 'PROVIDER_D'] as const;
const ofSlots = (fields: readonly string[]): readonly string[] =>
  SLOTS.flatMap((slot) => fields.map((field) => (field === '' ? slot : `${slot}_${field}`)));

/** Settings passed to the functions unchanged. Only BASE_PATH is left out if the stage has no custom domain. */
export const PLAIN_SETTINGS: readonly string[] = [
  'STAGE',
  'PUBLIC_BASE_URL',
  'BASE_PATH',
  'CONSOLE',
  'HEALTH_CHECK',
  'CONSOLE_SIGN_IN_URL',
  'CONSOLE_OIDC_ISSUER',
  'CONSOLE_OIDC_CLIENT_ID',
  'ALLOWED_ORIGINS',
  'IDENTITY_URL',
  'IDENTITY_LOOKUP',
  'IDENTITY_JWKS_URI',
  'IDENTITY_ISSUER',
  'IDENTITY_AUDIENCE',
  'IDENTITY_CLAIMS',
  'IDENTITY_EMAIL',
  'IDENTITY_TIMEOUT_MS',
  'ADMIN_USER_IDS',
  'PROVIDER_TIMEOUT_MS',
  'TRUSTED_EDGE_HEADER',
  'TRUSTED_EDGE_SECRET_SHA256',
  'STATEMENT_DESCRIPTOR',
  'GUEST_TOKEN_TTL_SECONDS',
  'GUEST_CONTINUE_SECONDS',
  'GUEST_EMAIL_LIST',
  'ALLOW_RAW_CARDS',
  'CARD_NUMBERS',
  'ALLOW_QUERY_SESSION',
  'RATE_LIMITS',
  'KEY_DECLINES_PER_HOUR',
  'RUN_DUE_CONCURRENCY',
  'DUE_WORK',
  'CUSTOMER_DELETE_HISTORY',
  'SUPPORT_REFUND_LIMITS',
  'DUNNING_DAYS',
  'DUNNING_FINAL_ACTION',
  'RENEWAL_NOTICE_DAYS',
  'RENEWAL_NOTICE_MIN_MONTHS',
  'METHOD_NOTICE_DAYS',
  'PLACE_HOLD_MINUTES',
  'HOSTED_PAGES',
  'PAGE_NAME',
  'PAGE_COLOR',
  'PAGE_TERMS_URL',
  'PAGE_PRIVACY_URL',
  'PAGE_RETURN_HOSTS',
  'PLAN_CHANGE_UPGRADE',
  'PLAN_CHANGE_DOWNGRADE',
  'EXTERNAL_WEBHOOK_MAX_RETRIES',
  'EXTERNAL_WEBHOOK_RETRY_DELAY',
  'EXTERNAL_WEBHOOK_RETRY_SCHEDULE',
  'EXTERNAL_WEBHOOK_TIMEOUT',
  'EXTERNAL_WEBHOOK_ALLOW_PRIVATE',
  ...ofSlots([
    '',
    'BASE_URL',
    'SUBSCRIPTIONS',
    'PUBLISHABLE_KEY',
    'CLIENT_ID',
    'WEBHOOK_ID',
    'LOCATION_ID',
    'APPLICATION_ID',
    'NOTIFICATION_URL',
    'STATEMENT_DESCRIPTOR',
    'BACKGROUND_RATE',
    'BACKGROUND_BURST',
    'MERCHANT_ID',
    'PUBLIC_KEY',
  ]),
];

/** Settings read by deployed functions from Secrets Manager. They are never in a template. */
export const SECRET_SETTINGS: readonly string[] = [
  'GUEST_TOKEN_SECRET',
  'ID_SECRET',
  'FINGERPRINT_SECRET',
  ...ofSlots(secretFields()),
];

/** Settings computed by the stacks, not set by the operator. */
export const STACK_SETTINGS: readonly string[] = [
  'TABLE_NAME',
  'EVENT_BUS_NAME',
  'GUEST_TOKEN_SECRET_ARN',
  'ID_SECRET_ARN',
  'WEBHOOKS_SECRET_ARN',
  ...ofSlots(['SECRET_ARN', 'SIGNATURE_SECRET_ARN']),
];

/** Names that the operator's tools look up. */
export const stackName = (stage: string, part: string): string => `payments-${stage}-${part}`;
export const OPERATED_FUNCTION_OUTPUT = 'OperatedFunction';
export const FAILURE_BUCKET_OUTPUT = 'FailureBucket';
export const queueOutput = (queue: string): string => `${outputName(queue)}QueueUrl`;
export const deadLettersOutput = (queue: string): string => `${outputName(queue)}DeadLettersUrl`;
export const keysOutput = (slot: ProviderSlot): string => `${outputName(slot.replace('_', '-'))}SecretArn`;
export const signatureOutput = (slot: ProviderSlot): string =>
  `${outputName(slot.replace('_', '-'))}SignatureSecretArn`;
const outputName = (queue: string): string =>
  queue.replaceAll(/(^|-)(\w)/g, (_all, _dash, letter: string) => letter.toUpperCase());

export const webhookSecretName = (stage: Stage): string => `payments/${stage}/webhooks`;

/** The periods that CloudWatch Logs accepts, in days. */
const LOG_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288, 3_653,
];
const LOG_DAYS_WANTED = `must be one of CloudWatch's periods: ${LOG_DAYS.join(', ')}`;
const MOST_RESERVED = 10_000;
/** AWS's minimum for the maximum concurrency of a queue consumer. */
const LEAST_WORKERS = 2;
const onOrOff = (fallback: 'on' | 'off') => choiceSetting(['on', 'off'], fallback);

const isEmail = (value: string): boolean => z.email().safeParse(value).success;
const STREAM_ARN =
  /^(?<table>arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/(?<name>[\w.-]{3,255}))\/stream\/[0-9T:.-]+$/;
const isTableName = (value: string): boolean => value === '' || /^[\w.-]{3,255}$/.test(value);
const isStreamArn = (value: string): boolean => value === '' || STREAM_ARN.test(value);
const isVaultArn = (value: string): boolean =>
  value === '' || /^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$/.test(value);
const isHostName = (value: string): boolean => z.hostname().safeParse(value).success && value.includes('.');

export const deploymentFields = {
  STAGE: neverEmpty(choiceSetting(['dev', 'staging', 'prod'], 'dev')),
  ALARM_EMAIL: checked(textSetting(), (value) => value === '' || isEmail(value), 'must be an e-mail address').describe(
    'the e-mail address of alarms; empty: none',
  ),
  CUSTOM_DOMAIN: checked(textSetting(), (value) => value === '' || isHostName(value), 'must be a host name').describe(
    'host name of the API; the output DomainTarget is its CNAME',
  ),
  BASE_PATH: prefix,
  LOG_RETENTION_DAYS: checked(
    integerSetting(90, 1, 3_653),
    (days) => LOG_DAYS.includes(days),
    LOG_DAYS_WANTED,
  ).describe('days that logs are kept, a period of CloudWatch Logs; PCI DSS requires 365'),
  FUNCTION_URLS: onOrOff('on').describe('off: the receivers of provider events have no URLs of their own'),
  TRACING: onOrOff('on').describe('off: no traces in X-Ray, about $0.075 per 1,000 payments'),
  PROVISIONED: listSetting().describe(
    'endpoints with one warm instance, such as `payments.confirm`; the payment path costs about $44 a month (believed)',
  ),
  DEPLOY: choiceSetting(['all-at-once', 'canary'], 'all-at-once').describe(
    'canary: the payment path’s new version gets a tenth of the requests for five minutes, or rolls back',
  ),
  BULKHEADS: onOrOff('off').describe(
    'on: reserves concurrency by the next three settings; needs an account limit of 664 or more',
  ),
  BULKHEAD_WEBHOOKS: integerSetting(20, 1, MOST_RESERVED).describe(
    'instances reserved for each receiver of provider events',
  ),
  BULKHEAD_PAYMENTS: integerSetting(50, 1, MOST_RESERVED).describe(
    'instances reserved for each function of the payment path',
  ),
  BULKHEAD_WORKERS: integerSetting(100, LEAST_WORKERS, MOST_RESERVED).describe(
    'maximum instances reserved for each queue consumer',
  ),
  TABLE_NAME_IN_USE: checked(textSetting(), isTableName, 'must be the name of a DynamoDB table').describe(
    "a [restored](restore.md) table, with `TABLE_STREAM_ARN_IN_USE`; empty: the stack's own",
  ),
  TABLE_STREAM_ARN_IN_USE: checked(
    textSetting(),
    isStreamArn,
    'must be the ARN of a stream of a DynamoDB table',
  ).describe('the ARN of the latest stream of that table, with new and old images'),
  BACKUP_COPY_TO: checked(textSetting(), isVaultArn, 'must be the ARN of a backup vault').describe(
    'a vault in another region or account for copies of prod’s backups; empty: no copy',
  ),
  CHECKS: choiceSetting(['refuse', 'warn', 'off'], 'refuse').describe(
    'a failed [check](deployment.md#checks-before-a-deployment) stops the stage (refuse) or is only reported (warn); off: no checks',
  ),
};

/** @throws SettingsError naming every mistake, one line each. */
export const readDeploymentSettings = (given: Environment = operatorEnvironment()): DeploymentSettings => {
  const env = { ...given, STAGE: given['STAGE'] || 'dev' };
  const { mistakes: ofDeployment, values: deployment } = readSettings(deploymentFields, env);
  const tableInUse = deployment && tableInUseOf(deployment);
  const mistakes = [...ofDeployment, ...(tableInUse === 'mistaken' ? [TABLE_IN_USE_WANTED] : [])];
  const service = parseService(checkedHere(env), mistakes);
  const webhookVariables = valuesOf(env, Object.keys(env).filter(isTargetVariable));
  if (Buffer.byteLength(JSON.stringify(webhookVariables)) > SECRET_BYTES) {
    mistakes.push('WEBHOOK_<n>_…: together they must fit in one secret of 64 KB');
  }
  if (!deployment || !service || tableInUse === 'mistaken' || mistakes.length > 0)
    throw new SettingsError([...new Set(mistakes)]);
  const basePath = deployment.CUSTOM_DOMAIN === '' ? '' : deployment.BASE_PATH;
  const bulkheadSizes = bulkheadSizesOf(deployment);
  return {
    stage: deployment.STAGE,
    alarmEmail: deployment.ALARM_EMAIL,
    customDomain: deployment.CUSTOM_DOMAIN,
    basePath,
    allowedOrigins: service.ALLOWED_ORIGINS,
    publicBaseUrl: service.PUBLIC_BASE_URL,
    logDays: deployment.LOG_RETENTION_DAYS,
    functionUrls: deployment.FUNCTION_URLS === 'on',
    tracing: deployment.TRACING === 'on',
    provisioned: deployment.PROVISIONED,
    canary: deployment.DEPLOY === 'canary',
    tableInUse,
    backupCopyTo: deployment.BACKUP_COPY_TO,
    bulkheads: deployment.BULKHEADS === 'on' ? bulkheadSizes : undefined,
    bulkheadSizes,
    checks: deployment.CHECKS,
    console: service.CONSOLE,
    hostedPages: service.HOSTED_PAGES,
    adapters: adaptersOf(service),
    backgroundRates: backgroundRatesOf(service),
    operated: service,
    environment: valuesOf({ ...env, BASE_PATH: basePath }, PLAIN_SETTINGS),
    webhookVariables,
    secretsLeftOut: SECRET_SETTINGS.filter((name) => given[name]),
  };
};

const adaptersOf = ({ slots }: Pick<Settings, 'slots'>): DeploymentSettings['adapters'] => ({
  provider_a: slots.provider_a.ADAPTER,
  provider_b: slots.provider_b.ADAPTER,
  provider_c: slots.provider_c.ADAPTER,
  provider_d: slots.provider_d.ADAPTER,
});

const backgroundRatesOf = ({ slots }: Pick<Settings, 'slots'>): DeploymentSettings['backgroundRates'] => ({
  provider_a: slots.provider_a.BACKGROUND_RATE,
  provider_b: slots.provider_b.BACKGROUND_RATE,
  provider_c: slots.provider_c.BACKGROUND_RATE,
  provider_d: slots.provider_d.BACKGROUND_RATE,
});

const bulkheadSizesOf = (given: Values<typeof deploymentFields>): Bulkheads => ({
  webhooks: given.BULKHEAD_WEBHOOKS,
  payments: given.BULKHEAD_PAYMENTS,
  workers: given.BULKHEAD_WORKERS,
});

const TABLE_IN_USE_WANTED =
  'TABLE_NAME_IN_USE, TABLE_STREAM_ARN_IN_USE: set both or neither, and the stream must be of that table';

const tableInUseOf = (given: Values<typeof deploymentFields>): TableInUse | undefined | 'mistaken' => {
  const { TABLE_NAME_IN_USE: name, TABLE_STREAM_ARN_IN_USE: streamArn } = given;
  if (name === '' && streamArn === '') return undefined;
  const { table: arn, name: streamed } = STREAM_ARN.exec(streamArn)?.groups ?? {};
  return arn === undefined || streamed !== name ? 'mistaken' : { name, arn, streamArn };
};

/** The size limit of one secret. */
const SECRET_BYTES = 65_536;

const valuesOf = (env: Environment, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

/**
 * Leaves out each `WEBHOOK_<n>_ENABLED=true` if no variable names a target. The variables then only change stored
 * targets. The URL of the target may be in the secret, so `putWebhooks` checks the URL and this variable together.
 */
const checkedHere = (env: Environment): Environment =>
  Object.keys(env).some(namesTarget)
    ? env
    : Object.fromEntries(Object.entries(env).filter(([name, value]) => !(NODE_ENABLED.test(name) && value === 'true')));
const NODE_ENABLED = /^WEBHOOK_\d+_ENABLED$/;

const parseService = (env: Environment, mistakes: string[]) => {
  try {
    return checkedSettings(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    mistakes.push(...error.mistakes.filter((mistake) => !mistake.startsWith('STAGE:')));
    return undefined;
  }
};

const ENV_FILE = '.env';

/** The process's environment, which overrides an optional .env file. */
const operatorEnvironment = (): Environment => ({
  ...(existsSync(ENV_FILE) && parseEnv(readFileSync(ENV_FILE, 'utf8'))),
  ...process.env,
});

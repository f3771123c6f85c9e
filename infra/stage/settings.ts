import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { type Environment, prefix, SettingsError } from '../../shared/core/settings.ts';
import type { OperatedSettings } from '../../shared/messaging/trigger.ts';
import { checkedSettings, isTargetVariable } from '../../shared/webhooks/outbound/targets.ts';

/** The operator's settings of a deployment: those of the service, and those of the deployment itself. */
export type Stage = 'dev' | 'staging' | 'prod';

export interface DeploymentSettings {
  readonly stage: Stage;
  /** The recipient of alarms; empty: none, until one subscribes to the topic. */
  readonly alarmEmail: string;
  /** Host name of the API; empty: API Gateway's own. */
  readonly customDomain: string;
  /** Prefix of every route with a custom host name: `/pay`, or empty. */
  readonly basePath: string;
  readonly allowedOrigins: readonly string[];
  /** Given by the operator; empty: follows from the custom domain or the API. */
  readonly publicBaseUrl: string;
  /** The settings of every function, without secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The settings that triggers use. */
  readonly operated: OperatedSettings;
  /** Targets of outbound webhooks: stored in one secret, never in a template or a function's environment. */
  readonly webhookVariables: Readonly<Record<string, string>>;
  /** Secrets in the environment that are not deployed: they belong in Secrets Manager. */
  readonly secretsLeftOut: readonly string[];
}

const SLOTS = ['PROVIDER_A', 'PROVIDER_B', 'PROVIDER_C', 'PROVIDER_D'] as const;
const ofSlots = (fields: readonly string[]): readonly string[] =>
  SLOTS.flatMap((slot) => fields.map((field) => (field === '' ? slot : `${slot}_${field}`)));

/** Settings that reach the functions as they are. */
export const PLAIN_SETTINGS: readonly string[] = [
  'STAGE',
  'PUBLIC_BASE_URL',
  'BASE_PATH',
  'ALLOWED_ORIGINS',
  'IDENTITY_URL',
  'IDENTITY_JWKS_URI',
  'IDENTITY_ISSUER',
  'IDENTITY_AUDIENCE',
  'ADMIN_USER_IDS',
  'PROVIDER_TIMEOUT_MS',
  'STATEMENT_DESCRIPTOR',
  'GUEST_TOKEN_TTL_SECONDS',
  'GUEST_EMAIL_LIST',
  'ALLOW_RAW_CARDS',
  'ALLOW_QUERY_SESSION',
  'RATE_LIMITS',
  'CUSTOMER_DELETE_HISTORY',
  'DUNNING_DAYS',
  'DUNNING_FINAL_ACTION',
  'EXTERNAL_WEBHOOK_MAX_RETRIES',
  'EXTERNAL_WEBHOOK_RETRY_DELAY',
  'EXTERNAL_WEBHOOK_TIMEOUT',
  'EXTERNAL_WEBHOOK_ALLOW_PRIVATE',
  ...ofSlots([
    '',
    'BASE_URL',
    'SUBSCRIPTIONS',
    'CLIENT_ID',
    'WEBHOOK_ID',
    'LOCATION_ID',
    'NOTIFICATION_URL',
    'STATEMENT_DESCRIPTOR',
    'MERCHANT_ID',
    'PUBLIC_KEY',
  ]),
];

/** Settings that a function reads from Secrets Manager when deployed. They are never in a template. */
export const SECRET_SETTINGS: readonly string[] = [
  'GUEST_TOKEN_SECRET',
  ...ofSlots(['API_KEY', 'WEBHOOK_SECRET', 'CLIENT_SECRET', 'ACCESS_TOKEN', 'SIGNATURE_KEY', 'PRIVATE_KEY']),
];

/** Settings that the stacks know and the operator does not give. */
export const STACK_SETTINGS: readonly string[] = [
  'TABLE_NAME',
  'EVENT_BUS_NAME',
  'GUEST_TOKEN_SECRET_ARN',
  'WEBHOOKS_SECRET_ARN',
  ...ofSlots(['SECRET_ARN']),
];

/** Names by which an operator's tools find what is deployed. */
export const stackName = (stage: string, part: string): string => `payments-${stage}-${part}`;
export const OPERATED_FUNCTION_OUTPUT = 'OperatedFunction';
export const FAILURE_BUCKET_OUTPUT = 'FailureBucket';
export const queueOutput = (queue: string): string => `${outputName(queue)}QueueUrl`;
export const deadLettersOutput = (queue: string): string => `${outputName(queue)}DeadLettersUrl`;
const outputName = (queue: string): string =>
  queue.replaceAll(/(^|-)(\w)/g, (_all, _dash, letter: string) => letter.toUpperCase());

export const webhookSecretName = (stage: Stage): string => `payments/${stage}/webhooks`;

export const deploymentSchema = z.object({
  STAGE: z.enum(['dev', 'staging', 'prod'], 'dev, staging or prod is wanted').default('dev'),
  ALARM_EMAIL: z
    .union([z.literal(''), z.email()], 'an e-mail address is wanted')
    .default('')
    .describe('where alarms are mailed to; empty: no recipient, until one subscribes to the topic'),
  CUSTOM_DOMAIN: z
    .union([z.literal(''), z.hostname().refine((name) => name.includes('.'))], 'a host name is wanted')
    .default('')
    .describe('host name of the API; the output DomainTarget is its CNAME'),
  BASE_PATH: prefix,
});

/** @throws SettingsError naming every mistake, one line each. */
export const readDeploymentSettings = (given: Environment = operatorEnvironment()): DeploymentSettings => {
  const env = { ...given, STAGE: given['STAGE'] || 'dev' };
  const deployment = deploymentSchema.safeParse(env);
  const mistakes = (deployment.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
  const service = parseService(env, mistakes);
  const webhookVariables = valuesOf(env, Object.keys(env).filter(isTargetVariable));
  if (Buffer.byteLength(JSON.stringify(webhookVariables)) > SECRET_BYTES) {
    mistakes.push('WEBHOOK_<n>_…: all of them must fit one secret of 64 KB');
  }
  if (!deployment.success || !service || mistakes.length > 0) throw new SettingsError([...new Set(mistakes)]);
  const basePath = deployment.data.CUSTOM_DOMAIN === '' ? '' : deployment.data.BASE_PATH;
  return {
    stage: deployment.data.STAGE,
    alarmEmail: deployment.data.ALARM_EMAIL,
    customDomain: deployment.data.CUSTOM_DOMAIN,
    basePath,
    allowedOrigins: service.ALLOWED_ORIGINS,
    publicBaseUrl: service.PUBLIC_BASE_URL,
    operated: service,
    environment: valuesOf({ ...env, BASE_PATH: basePath }, PLAIN_SETTINGS),
    webhookVariables,
    secretsLeftOut: SECRET_SETTINGS.filter((name) => given[name]),
  };
};

/** The size limit of one secret. */
const SECRET_BYTES = 65_536;

const valuesOf = (env: Environment, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

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

/** The process's environment over an optional .env file. */
const operatorEnvironment = (): Environment => ({
  ...(existsSync(ENV_FILE) && parseEnv(readFileSync(ENV_FILE, 'utf8'))),
  ...process.env,
});

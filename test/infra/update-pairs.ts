/** @module Pairs of stages. A deployed stage must accept an update in both directions. */
import { expect } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { routeGroupOf } from '../../infra/deploy/stacks/routes.ts';
import type { Environment } from '../../shared/core/setting.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import { type StageTemplates, templatesOf } from './stage-templates.ts';
import { updateProblemsOf } from './update-problems.ts';

/** The settings of a stage that uses a restored table. */
export const RESTORED = {
  TABLE_NAME_IN_USE: 'payments-restored',
  TABLE_STREAM_ARN_IN_USE:
    'arn:aws:dynamodb:eu-west-1:123456789012:table/payments-restored/stream/2026-11-26T18:00:00.000',
};
const COPY = { BACKUP_COPY_TO: 'arn:aws:backup:eu-central-1:123456789012:backup-vault:payments-copies' };
export const PROD = { STAGE: 'prod', IDENTITY_URL: 'https://id.example.com', ALARM_EMAIL: 'ops@example.com' };

export const ofGroups = (...names: readonly string[]): readonly Endpoint[] =>
  endpoints.filter((endpoint) => names.includes(routeGroupOf(endpoint)));

/** Expects that both directions of an update work. */
export const expectUpdates = (one: StageTemplates, other: StageTemplates, removes: readonly string[] = []): void => {
  expect(updateProblemsOf({ before: one, after: other, removes })).toEqual([]);
  expect(updateProblemsOf({ before: other, after: one, removes })).toEqual([]);
};

/** Removes, renames and adds the endpoint in a stage with only its group. */
export const expectEndpointUpdates = (endpoint: Endpoint, members: readonly Endpoint[]): void => {
  const whole = groupStage(members);
  const rest = members.filter((member) => member !== endpoint);
  const renamed = { ...endpoint, id: `${endpoint.id}-renamed`, path: `${endpoint.path}/renamed` as const };
  expectUpdates(whole, templatesOf({ endpoints: rest }));
  expectUpdates(whole, templatesOf({ endpoints: [...rest, renamed] }));
};

const groupStages = new Map<readonly Endpoint[], StageTemplates>();

const groupStage = (members: readonly Endpoint[]): StageTemplates => {
  const known = groupStages.get(members) ?? templatesOf({ endpoints: members });
  groupStages.set(members, known);
  return known;
};

interface Switch {
  readonly name: string;
  readonly env: Environment;
  readonly base?: Environment;
}

/** All deployment settings that change the stacks. */
export const SWITCHES: readonly Switch[] = [
  { name: 'FUNCTION_URLS', env: { FUNCTION_URLS: 'off' } },
  { name: 'CONSOLE', env: { CONSOLE: 'off' } },
  { name: 'HEALTH_CHECK', env: { HEALTH_CHECK: 'on' } },
  { name: 'DUE_WORK', env: { DUE_WORK: 'off' } },
  { name: 'BULKHEADS', env: { BULKHEADS: 'on' } },
  { name: 'DEPLOY', env: { DEPLOY: 'canary' } },
  { name: 'TRACING', env: { TRACING: 'off' } },
  { name: 'PROVISIONED', env: { PROVISIONED: 'payments.get, payments.confirm, webhooks.provider-a' } },
  {
    name: 'DEPLOY of routes that are kept warm',
    env: { PROVISIONED: 'payments.confirm', DEPLOY: 'canary' },
    base: { PROVISIONED: 'payments.confirm' },
  },
  { name: 'CUSTOM_DOMAIN', env: { CUSTOM_DOMAIN: 'pay.example.com' } },
  { name: 'CUSTOM_DOMAIN with BASE_PATH', env: { CUSTOM_DOMAIN: 'pay.example.com', BASE_PATH: '/pay' } },
  { name: 'PUBLIC_BASE_URL', env: { PUBLIC_BASE_URL: 'https://pay.example.com' } },
  { name: 'ALARM_EMAIL', env: { ALARM_EMAIL: 'ops@example.com' } },
  { name: 'ALLOWED_ORIGINS', env: { ALLOWED_ORIGINS: 'https://shop.example.com' } },
  { name: 'LOG_RETENTION_DAYS', env: { LOG_RETENTION_DAYS: '365' } },
  { name: 'PROVIDER_B', env: { PROVIDER_B: 'paypal' } },
  {
    name: 'outbound webhooks',
    env: { EXTERNAL_WEBHOOK_TIMEOUT: '45000', EXTERNAL_WEBHOOK_MAX_RETRIES: '6' },
  },
  { name: 'the table in use', env: RESTORED },
  { name: 'the console of prod', env: { CONSOLE: 'on' }, base: PROD },
  { name: 'the table in use of prod', env: RESTORED, base: PROD },
  { name: 'the table in use of prod with canaries', env: RESTORED, base: { ...PROD, DEPLOY: 'canary' } },
  { name: 'BACKUP_COPY_TO', env: COPY, base: PROD },
];

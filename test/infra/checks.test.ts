import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import * as catalogue from '../../functions/api/catalogue.ts';
import { reservedInAll, UNRESERVED } from '../../infra/deploy/constructs/bulkheads.ts';
import { type AccountFacts, accountClients, readAccount } from '../../infra/deploy/stage/account.ts';
import { readBuiltStage } from '../../infra/deploy/stage/assembly.ts';
import { type CheckedFacts, NEEDS_OF, runChecks } from '../../infra/deploy/stage/checks.ts';
import {
  deploymentFields,
  keysOutput,
  readDeploymentSettings,
  signatureOutput,
} from '../../infra/deploy/stage/settings.ts';
import { keysOf } from '../../shared/core/rows.ts';
import type { Environment } from '../../shared/core/setting.ts';
import { PAYMENT_SLOTS, PROVIDER_SLOTS, parseSettings, type SlotSettings } from '../../shared/core/settings.ts';
import { openProviders, openReceivers } from '../../shared/providers/registry.ts';
import { synthesize } from './synthesized.ts';

const plain = synthesize();

const READY: Environment = {
  STAGE: 'prod',
  ALARM_EMAIL: 'ops@example.com',
  IDENTITY_URL: 'https://id.example.com',
  PROVIDER_A: 'stripe',
  BULKHEADS: 'on',
};
const ENOUGH: AccountFacts = {
  concurrency: 1_000,
  quotas: { routes: 300, rules: 300, eventsPerSecond: 10_000 },
  secrets: {
    keys: { provider_a: ['API_KEY', 'FINGERPRINT_SECRET'] },
    signatures: { provider_a: ['WEBHOOK_SECRET'] },
  },
  unread: [],
};

const check = (env: Environment, facts: Partial<Omit<CheckedFacts, 'settings' | 'catalogue'>> = {}) => {
  const { refused, text } = runChecks({ settings: readDeploymentSettings(env), catalogue, ...facts });
  return { refused, lines: text === '' ? [] : text.split('\n') };
};
const namesOf = (lines: readonly string[]) => lines.map((line) => line.split(': ').slice(0, 2).join(': '));

describe('the checks of the settings', () => {
  const MISSING = ['alarm recipient', 'identity service', 'provider', 'public function URLs'];

  test('list every missing setting of a prod stage in one message', () => {
    const { refused, lines } = check({ STAGE: 'prod' });
    expect(refused).toBe(true);
    expect(namesOf(lines)).toEqual(MISSING.map((name) => `refused: ${name}`));
  });

  test('only warn on other stages', () => {
    const { refused, lines } = check({ STAGE: 'dev' });
    expect(refused).toBe(false);
    expect(namesOf(lines)).toEqual(
      ['alarm recipient', 'identity service', 'provider'].map((name) => `warning: ${name}`),
    );
  });

  test('report nothing for a complete prod stage', () => {
    expect(check(READY)).toEqual({ refused: false, lines: [] });
  });

  test('name the empty settings of a bound provider', () => {
    const { lines } = check({ ...READY, PROVIDER_B: 'paypal', PROVIDER_C: 'square', PROVIDER_C_LOCATION_ID: 'L1' });
    expect(lines).toEqual([expect.stringContaining('PROVIDER_B_CLIENT_ID is empty, and paypal needs it')]);
  });

  test('only warn with CHECKS=warn, and are skipped with CHECKS=off', () => {
    const warned = check({ STAGE: 'prod', CHECKS: 'warn' });
    expect(warned.refused).toBe(false);
    expect(namesOf(warned.lines)).toEqual(MISSING.map((name) => `warning: ${name}`));
    expect(check({ STAGE: 'prod', CHECKS: 'off' })).toEqual({ refused: false, lines: [] });
  });

  test('stop npm run synth for a prod stage without settings', async () => {
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((done) =>
      execFile(
        process.execPath,
        [resolve(import.meta.dirname, '../../infra/deploy/app.ts')],
        { env: { STAGE: 'prod' } },
        (error, _stdout, text) => done({ code: error?.code ?? 0, stderr: text }),
      ),
    );
    expect(code).toBe(1);
    const lines = stderr.trim().split('\n');
    expect(namesOf(lines).slice(0, -1)).toEqual(MISSING.map((name) => `refused: ${name}`));
    expect(lines.at(-1)).toContain('npm run synth -- --force');
  });
});

describe('the required values of an adapter', () => {
  const opened = async (adapter: keyof typeof NEEDS_OF, values: readonly string[]) => {
    const env = Object.fromEntries(values.map((field) => [`PROVIDER_A_${field}`, 'https://example.com/x']));
    const { slots } = parseSettings({ PROVIDER_A: adapter, ...env });
    const registry = {
      slots,
      withSecrets: async (): Promise<SlotSettings> => slots.provider_a,
      timeoutMs: 1_000,
      fetch,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined },
    };
    return {
      calls: (await openProviders(registry).find('provider_a')) !== undefined,
      events: (await openReceivers(registry).find('provider_a')) !== undefined,
    };
  };

  test.each(keysOf(NEEDS_OF))('for %s are exactly the values that open its slot', async (adapter) => {
    const { settings, keys, eventSettings, signature } = NEEDS_OF[adapter];
    const receives = adapter !== 'braintree';
    const all = [...settings, ...keys, ...eventSettings, ...signature];
    expect(await opened(adapter, all)).toEqual({ calls: true, events: receives });
    for (const field of [...settings, ...keys]) {
      expect(
        (
          await opened(
            adapter,
            all.filter((one) => one !== field),
          )
        ).calls,
        field,
      ).toBe(false);
    }
    for (const field of [...eventSettings, ...signature]) {
      expect(
        (
          await opened(
            adapter,
            all.filter((one) => one !== field),
          )
        ).events,
        field,
      ).toBe(false);
    }
  });
});

describe('the checks of the account', () => {
  const built = readBuiltStage(plain.outDir);
  const account = (changes: Partial<AccountFacts>) => ({ built, account: { ...ENOUGH, ...changes } });
  const quotas = (changes: Partial<AccountFacts['quotas']>) => account({ quotas: { ...ENOUGH.quotas, ...changes } });

  test('find nothing if every limit is high enough and every secret is stored', () => {
    expect(check(READY, account({}))).toEqual({ refused: false, lines: [] });
  });

  test('require at least 100 unreserved instances of the account, on every stage', () => {
    expect(check({ ...READY, STAGE: 'dev' }, account({ concurrency: 662 })).refused).toBe(false);
    const { refused, lines } = check({ ...READY, STAGE: 'dev' }, account({ concurrency: 661 }));
    expect(refused).toBe(true);
    expect(lines[0]).toContain('BULKHEADS=on reserves 562 instances and AWS keeps 100, but the account may run 661');
    expect(lines[0]).toContain('request 1,000');
  });

  test('refuse a prod stage with an account limit too low for its payment path, even without bulkheads', () => {
    const off = { ...READY, BULKHEADS: 'off' };
    const closed = { ...off, FUNCTION_URLS: 'off' };
    expect(check(closed, account({ concurrency: 250 })).refused).toBe(false);
    expect(check(closed, account({ concurrency: 10 })).lines[0]).toContain(
      'refused: concurrency: the payment path may use 250 instances together, but the account may run 10',
    );
    expect(check(off, account({ concurrency: 250 })).lines.join()).toContain(
      'the public function URLs and the payment path may use 310 instances together',
    );
    const dev = check({ ...off, STAGE: 'dev' }, account({ concurrency: 10 }));
    expect([dev.refused, namesOf(dev.lines)]).toEqual([false, ['warning: concurrency']]);
  });

  test.each([
    ['routes of the API', quotas({ routes: 50 })],
    ['rules of the bus', quotas({ rules: 1 })],
    ['integrations of the API', { ...account({}), built: { ...built, integrations: 301 } }],
    ['resources of a stack', { ...account({}), built: { ...built, resources: new Map([['payments-prod-x', 501]]) } }],
  ])('refuse more %s than AWS allows, on every stage', (name, facts) => {
    expect(namesOf(check({ ...READY, STAGE: 'dev' }, facts).lines)).toEqual([`refused: ${name}`]);
  });

  test('refuse an unknown warm route on every stage', () => {
    const { lines } = check({ ...READY, STAGE: 'dev', PROVISIONED: 'payments.confirm, payments.unknown' });
    expect(lines.filter((line) => line.includes('PROVISIONED'))).toEqual([
      expect.stringContaining('refused: warm routes: PROVISIONED names payments.unknown, which is no endpoint'),
    ]);
  });

  test('warn if the region’s event bus accepts fewer events than renewals publish', () => {
    const three = { ...READY, PROVIDER_B: 'stripe', PROVIDER_C: 'stripe' };
    const secrets = {
      keys: Object.fromEntries(PAYMENT_SLOTS.map((slot) => [slot, ['API_KEY', 'FINGERPRINT_SECRET']])),
      signatures: Object.fromEntries(PAYMENT_SLOTS.map((slot) => [slot, ['WEBHOOK_SECRET']])),
    };
    const low = { ...quotas({ eventsPerSecond: 400 }) };
    const { refused, lines } = check(three, { ...low, account: { ...low.account, secrets } });
    expect([refused, namesOf(lines)]).toEqual([false, ['warning: events per second']]);
    expect(lines[0]).toContain('713, and the limit is 400');
  });

  test('name the missing values in the secrets of a deployed stage', () => {
    const env = { ...READY, PROVIDER_B: 'paypal', PROVIDER_B_CLIENT_ID: 'c' };
    const { refused, lines } = check(env, account({ secrets: { keys: {}, signatures: {} } }));
    expect(refused).toBe(true);
    expect(lines.filter((line) => line.startsWith('refused')).map((line) => line.split('; ')[0])).toEqual([
      'refused: webhook settings: PROVIDER_B_WEBHOOK_ID is empty, and paypal needs it',
      'refused: provider keys: the secret of the keys of provider_a lacks API_KEY',
      'refused: provider keys: the secret of the keys of provider_b lacks CLIENT_SECRET',
      'refused: signature secrets: the signature secret of provider_a lacks WEBHOOK_SECRET',
    ]);
  });

  test('require no secret before the first deployment, which creates the secrets', () => {
    const env = { ...READY, PROVIDER_B: 'paypal', PROVIDER_B_CLIENT_ID: 'c' };
    expect(check(env, account({ secrets: undefined }))).toEqual({ refused: false, lines: [] });
  });

  test('name each unreadable fact', () => {
    const { refused, lines } = check(READY, account({ concurrency: undefined, unread: ['the limit: AccessDenied'] }));
    expect(refused).toBe(true);
    expect(lines[0]).toContain('refused: readable account: could not be read: the limit: AccessDenied');
  });
});

describe('the facts of an account', () => {
  const lambda = mockClient(LambdaClient);
  const quotas = mockClient(ServiceQuotasClient);
  const cloudFormation = mockClient(CloudFormationClient);
  const secrets = mockClient(SecretsManagerClient);
  const mocks = [lambda, quotas, cloudFormation, secrets];
  const named = (name: string): Error => Object.assign(new Error(name), { name });
  beforeEach(() => {
    for (const mock of mocks) mock.reset();
    lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions: 10 } });
    quotas.on(GetServiceQuotaCommand).resolves({ Quota: { Value: 300 } });
    cloudFormation.on(DescribeStacksCommand).rejects(named('ValidationError'));
  });
  afterAll(() => {
    for (const mock of mocks) mock.restore();
  });
  const read = () => readAccount(accountClients({ region: 'eu-west-1' }), 'prod');

  test('include its limits, but no secrets before the first deployment', async () => {
    expect(await read()).toEqual({
      concurrency: 10,
      quotas: { routes: 300, rules: 300, eventsPerSecond: 300 },
      secrets: undefined,
      unread: [],
    });
  });

  test('include AWS’s default for an unchanged quota', async () => {
    quotas.on(GetServiceQuotaCommand).rejects(named('NoSuchResourceException'));
    quotas.on(GetAWSDefaultServiceQuotaCommand).resolves({ Quota: { Value: 400 } });
    expect((await read()).quotas.eventsPerSecond).toBe(400);
  });

  test('include the names of stored values, but not the values', async () => {
    const outputs = [
      ['ProviderASecretArn', 'arn:keys'],
      ['ProviderASignatureSecretArn', 'arn:signature'],
    ] as const;
    cloudFormation.on(DescribeStacksCommand, { StackName: 'payments-prod-data' }).resolves({
      Stacks: [
        {
          StackName: 'payments-prod-data',
          StackStatus: 'CREATE_COMPLETE',
          CreationTime: new Date(0),
          Outputs: outputs.map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
        },
      ],
    });
    secrets
      .on(GetSecretValueCommand, { SecretId: 'arn:keys' })
      .resolves({ SecretString: '{"API_KEY":"sk_live_1","FINGERPRINT_SECRET":""}' });
    secrets.on(GetSecretValueCommand, { SecretId: 'arn:signature' }).resolves({ SecretString: 'no JSON' });
    const facts = await read();
    expect(facts.secrets?.keys).toMatchObject({ provider_a: ['API_KEY'], provider_b: [] });
    expect(facts.secrets?.signatures).toMatchObject({ provider_a: [] });
    expect(JSON.stringify(facts)).not.toContain('sk_live_1');
  });

  test('are listed as unread if the profile may not read them', async () => {
    lambda.on(GetAccountSettingsCommand).rejects(named('AccessDeniedException'));
    cloudFormation.on(DescribeStacksCommand).rejects(named('AccessDenied'));
    expect((await read()).unread).toEqual([
      'the limit of concurrent executions: AccessDeniedException',
      'the secrets of the stage: AccessDenied',
    ]);
  });

  test('rely on existing stack outputs to find the secrets', () => {
    const { outputs } = plain;
    const names = [...PROVIDER_SLOTS.map(keysOutput), ...PAYMENT_SLOTS.map(signatureOutput)];
    expect(names.filter((name) => outputs[name] === undefined)).toEqual([]);
  });
});

describe('the account limit for bulkheads', () => {
  test('is the same number in the settings, the deployment page and the check', () => {
    const needed = reservedInAll(catalogue, readDeploymentSettings({ BULKHEADS: 'on' }).bulkheads) + UNRESERVED;
    expect(deploymentFields.BULKHEADS.description).toContain(`needs an account limit of ${needed} or more`);
    const page = readFileSync(new URL('../../docs/deployment.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
    expect(page).toContain(`the account needs a limit of ${needed} or more`);
  });
});

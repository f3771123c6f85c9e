import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { readDeploymentSettings } from '../../infra/deploy/stage/settings.ts';
import { TABLE } from '../../shared/platform/keys.ts';
import { type Resource, synthesize, type Value } from './synthesized.ts';
import { ofGroups } from './update-pairs.ts';

const prod = synthesize({ env: { STAGE: 'prod', ALARM_EMAIL: 'ops@example.com', CUSTOM_DOMAIN: 'pay.example.com' } });
const dev = synthesize({ env: { STAGE: 'dev' } });
const RESOURCES_A_STACK = 450;

const table = (stage: typeof prod): Resource => stage.ofType('AWS::DynamoDB::Table')[0] as Resource;
const HOLDS_DATA = [
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::SecretsManager::Secret',
  'AWS::S3::Bucket',
  'AWS::Logs::LogGroup',
];

describe('the stored data of a stage', () => {
  test('stays after its stack is deleted in production, except after a failed creation', () => {
    for (const type of HOLDS_DATA) {
      expect(prod.ofType(type).length, type).toBeGreaterThan(0);
      expect(new Set(prod.ofType(type).map(({ DeletionPolicy }) => DeletionPolicy)), type).toEqual(
        new Set(['RetainExceptOnCreate']),
      );
      expect(new Set(dev.ofType(type).map(({ DeletionPolicy }) => DeletionPolicy)), type).toEqual(new Set(['Delete']));
    }
    expect(table(prod).Properties.DeletionProtectionEnabled).toBe(true);
    expect(table(dev).Properties.DeletionProtectionEnabled).toBe(false);
  });

  test('is one table with the schema’s keys: on demand, encrypted, restorable, with a stream and expiry', () => {
    const { Properties } = table(prod);
    expect(prod.ofType('AWS::DynamoDB::Table')).toHaveLength(1);
    expect(Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: TABLE.partitionKey, KeyType: 'HASH' },
        { AttributeName: TABLE.sortKey, KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: TABLE.ttl, Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    expect(Properties.GlobalSecondaryIndexes).toEqual(
      TABLE.indexes.map(({ name, partitionKey, sortKey, include }) => ({
        IndexName: name,
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
        Projection:
          include.length > 0
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] }
            : { ProjectionType: 'KEYS_ONLY' },
      })),
    );
  });

  test('has secrets for slots, receivers, guest tokens, ids and webhooks, and no secret value in a template', () => {
    expect(prod.ofType('AWS::SecretsManager::Secret')).toHaveLength(10);
    const configured = synthesize({
      endpoints: ofGroups('payments'),
      env: {
        PROVIDER_A: 'stripe',
        PROVIDER_A_API_KEY: 'sk_test_1',
        GUEST_TOKEN_SECRET: 'hush',
        ID_SECRET: 'hushed-id-secret-of-32-characters',
        EXTERNAL_WEBHOOKS_ENABLED: 'true',
        WEBHOOK_1_URL: 'https://hooks.example/T0KEN',
        WEBHOOK_1_SECRET: 'whsec_c2VjcmV0',
      },
    });
    expect(JSON.stringify(configured.resources)).not.toMatch(/sk_test_1|hush|T0KEN|whsec_c2VjcmV0/);
    expect(configured.functionOf('workers.deliver-webhook').Properties.Environment.Variables).toMatchObject({
      WEBHOOKS_SECRET_ARN: expect.anything(),
    });
    expect(configured.functionOf('payments.create-intent').Properties.Environment.Variables).toMatchObject({
      PROVIDER_A: 'stripe',
      PROVIDER_A_SECRET_ARN: expect.anything(),
      GUEST_TOKEN_SECRET_ARN: expect.anything(),
      ID_SECRET_ARN: expect.anything(),
      TABLE_NAME: expect.anything(),
    });
  });
});

describe('the logs', () => {
  const daysOf = (stage: typeof prod) =>
    stage.ofType('AWS::Logs::LogGroup').map(({ Properties }) => Properties.RetentionInDays);

  test.each([
    ['90 days', {}, 90],
    ['as long as the operator says', { STAGE: 'prod', LOG_RETENTION_DAYS: '365' }, 365],
  ])('are kept for %s', (_, env, days) => {
    const kept = daysOf(synthesize({ env, endpoints: ofGroups('payments') }));
    expect(kept.length).toBeGreaterThan(2);
    expect(new Set(kept)).toEqual(new Set([days]));
  });
});

describe('the encryption key', () => {
  const only = (found: readonly Resource[]): Resource => {
    expect(found).toHaveLength(1);
    return found[0] as Resource;
  };
  const key = only(prod.ofType('AWS::KMS::Key'));

  test('rotates automatically', () => {
    expect(key.Properties.EnableKeyRotation).toBe(true);
  });

  test('encrypts every secret, log, stored failure and the alarm topic', () => {
    const locked = [
      ...prod.ofType('AWS::SecretsManager::Secret').map(({ Properties }) => Properties.KmsKeyId),
      ...prod.ofType('AWS::Logs::LogGroup').map(({ Properties }) => Properties.KmsKeyId),
      ...prod.ofType('AWS::SNS::Topic').map(({ Properties }) => Properties.KmsMasterKeyId),
      ...prod
        .ofType('AWS::S3::Bucket')
        .map(
          ({ Properties }) =>
            Properties.BucketEncryption.ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault
              .KMSMasterKeyID,
        ),
    ];
    expect(locked.length).toBeGreaterThan(10);
    expect(new Set(locked.map(prod.words))).toEqual(new Set(['Key.Arn']));
  });

  test('is available to the account and to the services that write encrypted data', () => {
    const statements: readonly { Principal: Record<string, never>; Condition?: unknown }[] =
      key.Properties.KeyPolicy.Statement;
    const principals = statements.map(({ Principal }) => prod.words(Principal['Service'] ?? Principal['AWS'] ?? ''));
    expect(principals.sort()).toEqual([
      'arn:AWS::Partition:iam::AWS::AccountId:root',
      'cloudwatch.amazonaws.com',
      'logging.s3.amazonaws.com',
      'logs.AWS::Region.amazonaws.com',
    ]);
    const services = statements.filter(({ Principal }) => 'Service' in Principal);
    expect(services.every(({ Condition }) => Condition !== undefined)).toBe(true);
  });
});

describe('the backups of the table', () => {
  const copyTo = 'arn:aws:backup:eu-central-1:123456789012:backup-vault:payments-copies';
  const copied = synthesize({ env: { STAGE: 'prod', BACKUP_COPY_TO: copyTo }, endpoints: [] });
  const plan = (stage: typeof prod) => stage.ofType('AWS::Backup::BackupPlan')[0]?.Properties.BackupPlan;
  const kept = (days: number) => ({ DeleteAfterDays: days });

  test('are made daily for 35 days and weekly for a year, in production only', () => {
    expect(plan(prod).BackupPlanRule).toMatchObject([
      { RuleName: 'daily', ScheduleExpression: 'cron(0 3 * * ? *)', Lifecycle: kept(35) },
      { RuleName: 'weekly', ScheduleExpression: 'cron(0 4 ? * SUN *)', Lifecycle: kept(365) },
    ]);
    const [selection] = prod.ofType('AWS::Backup::BackupSelection');
    expect(selection?.Properties.BackupSelection.Resources.map(prod.words)).toEqual(['Table.Arn']);
    for (const type of ['Plan', 'Selection', 'Vault']) expect(dev.ofType(`AWS::Backup::Backup${type}`)).toEqual([]);
  });

  test('are encrypted with the stage’s key, and stay after their stack is deleted', () => {
    const [vault, ...more] = prod.ofType('AWS::Backup::BackupVault');
    expect(more).toEqual([]);
    expect(vault).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { BackupVaultName: 'payments-prod' },
    });
    expect(prod.words(vault?.Properties.EncryptionKeyArn)).toBe('Key.Arn');
  });

  test('are copied to the vault of BACKUP_COPY_TO, and kept there as long', () => {
    const copiesIn = (stage: typeof prod) =>
      plan(stage).BackupPlanRule.map(({ CopyActions = [] }: { CopyActions?: unknown[] }) => CopyActions);
    expect(copiesIn(prod)).toEqual([[], []]);
    expect(copiesIn(copied)).toEqual(
      [35, 365].map((days) => [{ DestinationBackupVaultArn: copyTo, Lifecycle: kept(days) }]),
    );
    const rights = copied.ofType('AWS::IAM::ManagedPolicy').find(({ logicalId }) => logicalId.startsWith('Backups'));
    expect(JSON.stringify(rights?.Properties.PolicyDocument)).toContain(copyTo);
  });

  test('have a role that may tag recovery points, so they copy the tags of the table', () => {
    const rights = prod.ofType('AWS::IAM::ManagedPolicy').find(({ logicalId }) => logicalId.startsWith('Backups'));
    expect(rights?.Properties.PolicyDocument.Statement).toContainEqual({
      Action: 'backup:TagResource',
      Effect: 'Allow',
      Resource: {
        'Fn::Join': [
          '',
          ['arn:', { Ref: 'AWS::Partition' }, ':backup:*:', { Ref: 'AWS::AccountId' }, ':recovery-point:*'],
        ],
      },
    });
  });

  test('cover the table in use, and their role may read no other table', () => {
    const arn = 'arn:aws:dynamodb:eu-west-1:123456789012:table/payments-restored';
    const restored = synthesize({
      endpoints: [],
      env: {
        STAGE: 'prod',
        TABLE_NAME_IN_USE: 'payments-restored',
        TABLE_STREAM_ARN_IN_USE: `${arn}/stream/2026-11-26T18:00:00.000`,
      },
    });
    const [selection] = restored.ofType('AWS::Backup::BackupSelection');
    expect(selection?.Properties.BackupSelection.Resources).toEqual([arn]);
    const rights = restored.ofType('AWS::IAM::ManagedPolicy').find(({ logicalId }) => logicalId.startsWith('Backups'));
    const tables: readonly Value[] = rights?.Properties.PolicyDocument.Statement.flatMap(
      ({ Action, Resource }: { Action: Value; Resource: Value }) =>
        JSON.stringify(Action).includes('dynamodb:') ? [Resource] : [],
    );
    expect(tables).toEqual([arn, `${arn}/backup/*`]);
    expect(table(restored).logicalId).toBe(table(prod).logicalId);
  });
});

describe('the stacks', () => {
  test('include the code of every function as assets', () => {
    const assets = dev.stacks.flatMap((stack) =>
      Object.entries<{ source: { path: string } }>(
        JSON.parse(readFileSync(join(dev.outDir, `${stack}.assets.json`), 'utf8')).files,
      ),
    );
    const folders = new Map(assets.map(([hash, { source }]) => [`${hash}.zip`, join(dev.outDir, source.path)]));
    const functions = dev.ofType('AWS::Lambda::Function');
    expect(functions.length).toBeGreaterThan(endpoints.length);
    for (const { logicalId, Properties } of functions) {
      const folder = folders.get(Properties.Code.S3Key);
      expect(folder && existsSync(join(folder, 'index.mjs')), logicalId).toBe(true);
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
      expect(Properties.LoggingConfig.LogGroup, logicalId).toBeDefined();
    }
  });

  test('use a custom domain if it is configured, and then disable the API’s default address', () => {
    expect(prod.ofType('AWS::ApiGatewayV2::DomainName').map(({ Properties }) => Properties.DomainName)).toEqual([
      'pay.example.com',
    ]);
    const { Variables } = prod.functionOf('payments.get').Properties.Environment;
    expect(Variables).toMatchObject({ STAGE: 'prod', PUBLIC_BASE_URL: 'https://pay.example.com' });
    expect(dev.ofType('AWS::ApiGatewayV2::DomainName')).toEqual([]);
    const closed = (stage: typeof prod) =>
      stage.ofType('AWS::ApiGatewayV2::Api')[0]?.Properties.DisableExecuteApiEndpoint;
    expect([closed(prod), closed(dev)]).toEqual([true, false]);
    expect(prod.ofType('AWS::ApiGatewayV2::ApiMapping')[0]?.Properties.ApiMappingKey).toBeUndefined();
  });

  test('use a path prefix of that domain if it is configured', () => {
    const shared = synthesize({
      endpoints: ofGroups('payments'),
      env: { CUSTOM_DOMAIN: 'api.example.com', BASE_PATH: '/pay/' },
    });
    expect(shared.ofType('AWS::ApiGatewayV2::ApiMapping')[0]?.Properties.ApiMappingKey).toBe('pay');
    const { Variables } = shared.functionOf('payments.get').Properties.Environment;
    expect(Variables).toMatchObject({ PUBLIC_BASE_URL: 'https://api.example.com/pay' });
    expect(shared.functionOf('api.default').Properties.Environment.Variables).toMatchObject({ BASE_PATH: '/pay' });
    const noDomain = readDeploymentSettings({ BASE_PATH: '/pay' });
    expect(noDomain.environment).not.toHaveProperty('BASE_PATH');
  });

  test('hold fewer than 450 resources each, even with 70 endpoints in one folder', () => {
    const [one] = endpoints;
    if (!one) throw new Error('no endpoint');
    const many = Array.from({ length: 70 }, (_, at) => ({ ...one, id: `many.n${at}`, path: `/many/n${at}` as const }));
    const grown = synthesize({ endpoints: many });
    for (const stage of [prod, dev, grown]) {
      const sizes = stage.stacks.map((name) => [name, stage.resources.filter(({ stack }) => stack === name).length]);
      expect(sizes.filter(([, size]) => Number(size) >= RESOURCES_A_STACK)).toEqual([]);
    }
    expect(grown.ofType('AWS::ApiGatewayV2::Route')).toHaveLength(many.length + 1);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../functions/catalogue.ts';
import { TABLE } from '../../shared/table/schema.ts';
import { type Resource, synthesize } from './synthesized.ts';

const prod = synthesize({ env: { STAGE: 'prod', ALARM_EMAIL: 'ops@example.com', CUSTOM_DOMAIN: 'pay.example.com' } });
const dev = synthesize({ env: { STAGE: 'dev' } });
const RESOURCES_A_STACK = 450;

const table = (stage: typeof prod): Resource => stage.ofType('AWS::DynamoDB::Table')[0] as Resource;
const HOLDS_DATA = ['AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret', 'AWS::S3::Bucket', 'AWS::Logs::LogGroup'];

describe('what is kept', () => {
  it('outlives its stack in production, and only there', () => {
    for (const type of HOLDS_DATA) {
      expect(prod.ofType(type).length, type).toBeGreaterThan(0);
      expect(new Set(prod.ofType(type).map(({ DeletionPolicy }) => DeletionPolicy)), type).toEqual(new Set(['Retain']));
      expect(new Set(dev.ofType(type).map(({ DeletionPolicy }) => DeletionPolicy)), type).toEqual(new Set(['Delete']));
    }
    expect(table(prod).Properties.DeletionProtectionEnabled).toBe(true);
    expect(table(dev).Properties.DeletionProtectionEnabled).toBe(false);
  });

  it('is the one table of the schema: on demand, encrypted, restorable, with its stream and expiry', () => {
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

  it('holds a secret a provider slot, one for guest tokens and one for webhooks, and no secret in any template', () => {
    expect(prod.ofType('AWS::SecretsManager::Secret')).toHaveLength(6);
    const told = synthesize({
      env: {
        PROVIDER_A: 'stripe',
        PROVIDER_A_API_KEY: 'sk_test_1',
        GUEST_TOKEN_SECRET: 'hush',
        EXTERNAL_WEBHOOKS_ENABLED: 'true',
        WEBHOOK_1_URL: 'https://hooks.example/T0KEN',
        WEBHOOK_1_SECRET: 'whsec_c2VjcmV0',
      },
    });
    expect(JSON.stringify(told.resources)).not.toMatch(/sk_test_1|hush|T0KEN|whsec_c2VjcmV0/);
    expect(told.functionOf('workers.deliver-webhook').Properties.Environment.Variables).toMatchObject({
      WEBHOOKS_SECRET_ARN: expect.anything(),
    });
    expect(told.functionOf('payments.create-intent').Properties.Environment.Variables).toMatchObject({
      PROVIDER_A: 'stripe',
      PROVIDER_A_SECRET_ARN: expect.anything(),
      GUEST_TOKEN_SECRET_ARN: expect.anything(),
      TABLE_NAME: expect.anything(),
    });
  });
});

describe('the stacks', () => {
  it('have the code of every function beside them', () => {
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

  it('name the alarm address and the domain where they are given', () => {
    expect(prod.ofType('AWS::SNS::Subscription').map(({ Properties }) => Properties.Endpoint)).toEqual([
      'ops@example.com',
    ]);
    expect(prod.ofType('AWS::ApiGatewayV2::DomainName').map(({ Properties }) => Properties.DomainName)).toEqual([
      'pay.example.com',
    ]);
    const { Variables } = prod.functionOf('payments.get').Properties.Environment;
    expect(Variables).toMatchObject({ STAGE: 'prod', PUBLIC_BASE_URL: 'https://pay.example.com' });
    expect(dev.ofType('AWS::SNS::Subscription')).toEqual([]);
    expect(dev.ofType('AWS::ApiGatewayV2::DomainName')).toEqual([]);
  });

  it('hold fewer than 450 resources each, even with 75 endpoints under one path', () => {
    const [one] = endpoints;
    if (!one) throw new Error('no endpoint');
    const many = Array.from({ length: 75 }, (_, at) => ({ ...one, id: `many.n${at}`, path: `/many/n${at}` as const }));
    const grown = synthesize({ endpoints: many });
    for (const stage of [prod, dev, grown]) {
      const sizes = stage.stacks.map((name) => [name, stage.resources.filter(({ stack }) => stack === name).length]);
      expect(sizes.filter(([, size]) => Number(size) >= RESOURCES_A_STACK)).toEqual([]);
    }
    expect(grown.ofType('AWS::ApiGatewayV2::Route')).toHaveLength(76);
  });
});

describe('cdk-nag', () => {
  const acknowledged = (): ReadonlyMap<string, readonly string[]> => {
    const reasons = new Map<string, string[]>();
    for (const { metadata } of prod.app.node.findAll().map(({ node }) => node)) {
      for (const { type, data } of metadata) {
        if (type !== Validations.ACKNOWLEDGED_RULES_METADATA_KEY) continue;
        for (const [id, reason] of Object.entries<string>(data)) {
          const rule = id.replace(/^\w+::/, '').replace(/\[.*/, '');
          reasons.set(rule, [...(reasons.get(rule) ?? []), reason]);
        }
      }
    }
    return reasons;
  };

  it('has nothing open in AwsSolutions', () => {
    for (const stage of [prod, dev])
      expect(new AwsSolutionsChecks(stage.app).validateScope(stage.app).violations).toEqual([]);
  });

  it('has few acknowledged rules, each with its reason', () => {
    const rules = acknowledged();
    expect([...rules.keys()].sort()).toEqual([
      'AwsSolutions-APIG4',
      'AwsSolutions-IAM5',
      'AwsSolutions-S1',
      'AwsSolutions-SMG4',
    ]);
    for (const reason of [...rules.values()].flat()) expect(reason.length).toBeGreaterThan(40);
  });

  it('sees what is wrong', () => {
    const app = new App();
    new Queue(new Stack(app, 'Wrong'), 'Queue');
    const { violations } = new AwsSolutionsChecks(app).validateScope(app);
    expect(violations.map(({ ruleName }) => ruleName)).toContain('AwsSolutions-SQS4');
  });
});

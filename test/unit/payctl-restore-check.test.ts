import { CloudFormationClient, DescribeStacksCommand, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { DescribeRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { GetEventSourceMappingCommand, GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Installation } from '../../infra/payctl/installation/installation.ts';
import { readWiring } from '../../infra/payctl/installation/stage-wiring.ts';
import { restoreCheck } from '../../infra/payctl/restore/restore-check.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { TABLE } from '../../shared/platform/keys.ts';
import type { ParsedJson } from '../flow/routes.ts';

const [dynamodb, documents] = [mockClient(DynamoDBClient), mockClient(DynamoDBDocumentClient)];
const [cloudFormation, lambda, eventBridge] = [
  mockClient(CloudFormationClient),
  mockClient(LambdaClient),
  mockClient(EventBridgeClient),
];

const NAME = 'payments-prod-restored';
const STREAM = `arn:aws:dynamodb:eu-west-1:1:table/${NAME}/stream/2026-11-26`;
const keys = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' as const },
  { AttributeName: sort, KeyType: 'RANGE' as const },
];
const WELL: TableDescription = {
  TableStatus: 'ACTIVE',
  KeySchema: keys('pk', 'sk'),
  GlobalSecondaryIndexes: TABLE.indexes.map(({ name, partitionKey, sortKey, include }) => ({
    IndexName: name,
    IndexStatus: 'ACTIVE',
    KeySchema: keys(partitionKey, sortKey),
    Projection:
      include.length > 0
        ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] }
        : { ProjectionType: 'KEYS_ONLY' },
  })),
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  LatestStreamArn: STREAM,
  DeletionProtectionEnabled: true,
};

const table = (changes: Partial<TableDescription> = {}): void => {
  dynamodb.on(DescribeTableCommand, { TableName: NAME }).resolves({ Table: { ...WELL, ...changes } });
};
const backups = (PointInTimeRecoveryStatus: 'ENABLED' | 'DISABLED'): void => {
  dynamodb.on(DescribeContinuousBackupsCommand).resolves({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus },
    },
  });
};
const expiry = (TimeToLiveStatus: 'ENABLED' | 'ENABLING' | 'DISABLED'): void => {
  dynamodb
    .on(DescribeTimeToLiveCommand)
    .resolves({ TimeToLiveDescription: { TimeToLiveStatus, AttributeName: 'ttl' } });
};

const RESOURCES: Readonly<Record<string, readonly (readonly [type: string, id: string, physical: string])[]>> = {
  'payments-prod-events': [
    ['AWS::Lambda::EventSourceMapping', 'WorkersPublishChangesSource1', 'uuid-publish'],
    ['AWS::Lambda::EventSourceMapping', 'WorkersProjectChangesSource1', 'uuid-project'],
    ['AWS::Lambda::EventSourceMapping', 'WorkersRunDueSource1', 'uuid-run-due'],
    ['AWS::Events::Rule', 'WorkersSweepDueSchedule1', 'sweep-rule'],
    ['AWS::Events::Rule', 'FollowPaymentQueueRule1', 'bus|follow-rule'],
  ],
  'payments-prod-api': [['AWS::Lambda::Function', 'PaymentsGetFunction1', 'payments-get']],
};

const deployed = (
  given: { readonly table?: string; readonly stream?: string; readonly due?: 'on' | 'half' | 'off' } = {},
) => {
  const { table: name = NAME, stream = STREAM, due = 'off' } = given;
  const stack = (StackName: string) => ({
    StackName,
    StackStatus: 'UPDATE_COMPLETE' as const,
    CreationTime: new Date(0),
  });
  cloudFormation
    .on(DescribeStacksCommand)
    .resolves({ Stacks: [...Object.keys(RESOURCES), 'payments-dev-api', 'another'].map(stack) });
  for (const [StackName, resources] of Object.entries(RESOURCES)) {
    cloudFormation.on(ListStackResourcesCommand, { StackName }).resolves({
      StackResourceSummaries: resources.map(([ResourceType, LogicalResourceId, PhysicalResourceId]) => ({
        ...{ ResourceType, LogicalResourceId, PhysicalResourceId },
        ...{ LastUpdatedTimestamp: new Date(0), ResourceStatus: 'CREATE_COMPLETE' as const },
      })),
    });
  }
  lambda.on(GetFunctionConfigurationCommand).resolves({ Environment: { Variables: { TABLE_NAME: name } } });
  for (const UUID of ['uuid-publish', 'uuid-project']) {
    lambda.on(GetEventSourceMappingCommand, { UUID }).resolves({ EventSourceArn: stream, State: 'Enabled' });
  }
  lambda
    .on(GetEventSourceMappingCommand, { UUID: 'uuid-run-due' })
    .resolves({ EventSourceArn: 'arn:aws:sqs:eu-west-1:1:run-due', State: due === 'on' ? 'Enabled' : 'Disabled' });
  eventBridge
    .on(DescribeRuleCommand, { Name: 'sweep-rule' })
    .resolves({ ScheduleExpression: 'rate(1 minute)', State: due === 'off' ? 'DISABLED' : 'ENABLED' });
  eventBridge.on(DescribeRuleCommand, { Name: 'follow-rule', EventBusName: 'bus' }).resolves({ State: 'ENABLED' });
};

/** The stage prod with the restored table and without providers. */
const stage = (more: Readonly<Record<string, unknown>> = {}): Installation =>
  ({
    name: 'prod',
    isLocal: false,
    settings: parseSettings({ TABLE_NAME: NAME }),
    dynamodb: new DynamoDBClient({}),
    documents: DynamoDBDocumentClient.from(new DynamoDBClient({})),
    now: () => Date.parse('2026-11-26T12:00:00Z'),
    deps: {
      now: () => Date.parse('2026-11-26T12:00:00Z'),
      providers: { find: async () => undefined },
      table: { countIndex: async () => ({ matching: 0, next: undefined }), get: async () => undefined },
    },
    wiring: () =>
      readWiring(
        {
          cloudFormation: new CloudFormationClient({}),
          lambda: new LambdaClient({}),
          eventBridge: new EventBridgeClient({}),
        },
        'prod',
      ),
    ...more,
  }) as unknown as Installation;

const RESTORED = { restoredTo: '2026-11-26T10:00:00Z' };

const checksOf = async (installation = stage(), time: { readonly restoredTo?: string } = RESTORED) => {
  const { json, exitCode } = await restoreCheck(installation, { ...time, erased: [] });
  const { checks } = json as ParsedJson;
  const failed = checks.filter(({ state }: ParsedJson) => state === 'fail');
  return { exitCode, failed: Object.fromEntries(failed.map((one: ParsedJson) => [one.check, one.detail])) };
};

beforeEach(() => {
  for (const mock of [dynamodb, documents, cloudFormation, lambda, eventBridge]) mock.reset();
  table();
  backups('ENABLED');
  expiry('ENABLED');
  deployed();
  documents.on(ScanCommand).resolves({ Items: [] });
  documents
    .on(ScanCommand, { FilterExpression: '#sk = :payment OR #sk = :subscription' })
    .resolves({ Items: [{ pk: 'SUB#1', sk: 'SUB', updatedAt: '2026-11-26T09:59:00.000Z' }] });
});

describe('restore-check of a stage', () => {
  test('has no finding if everything uses the restored table', async () => {
    expect(await checksOf()).toEqual({ exitCode: 0, failed: {} });
  });

  test('fails without the restore time, because the newest change may be from after the restore', async () => {
    const { exitCode, failed } = await checksOf(stage(), {});
    expect({ exitCode, failed }).toEqual({
      exitCode: 1,
      failed: {
        records:
          'the newest change was at 2026-11-26T09:59:00.000Z, perhaps after the restore; name the time that the table was restored to with --restored-to',
      },
    });
  });

  test('refuses a restore time in the future', async () => {
    await expect(checksOf(stage(), { restoredTo: '2026-11-26T17:00:00Z' })).rejects.toThrow(
      '2026-11-26T17:00:00Z is in the future',
    );
  });

  test('names each setting that an AWS restore does not copy', async () => {
    table({
      StreamSpecification: { StreamEnabled: false },
      LatestStreamArn: undefined,
      DeletionProtectionEnabled: false,
    });
    backups('DISABLED');
    expiry('DISABLED');
    expect(await checksOf()).toMatchObject({
      exitCode: 1,
      failed: {
        stream: 'the table has no stream',
        expiry: 'TTL on the attribute ttl is off',
        backups: 'point-in-time recovery is off',
        protection: 'deletion protection is off',
      },
    });
  });

  test('accepts a TTL that DynamoDB is still enabling, which takes up to an hour', async () => {
    expiry('ENABLING');
    expect(await checksOf()).toEqual({ exitCode: 0, failed: {} });
  });

  test('fails if only one of the two parts of due work is on', async () => {
    deployed({ due: 'half' });
    expect(await checksOf()).toEqual({
      exitCode: 1,
      failed: { 'due work': 'only WorkersSweepDueSchedule1 is on, so nothing is charged or looked up; deploy again' },
    });
    deployed({ due: 'on' });
    expect(await checksOf()).toEqual({ exitCode: 0, failed: {} });
  });

  test('needs no deletion protection outside prod', async () => {
    table({ DeletionProtectionEnabled: false });
    expect(await checksOf(stage({ name: 'dev' }))).toEqual({ exitCode: 0, failed: {} });
  });

  test('names a stream without old images, and a missing, different or unready index', async () => {
    const [owner, project, due] = WELL.GlobalSecondaryIndexes ?? [];
    table({
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
      GlobalSecondaryIndexes: [
        { ...owner, Projection: { ProjectionType: 'KEYS_ONLY' } },
        { ...due, IndexStatus: 'CREATING', KeySchema: project?.KeySchema },
      ],
    });
    expect((await checksOf()).failed).toMatchObject({
      table:
        'index owner has other attributes; index project is missing; index due is CREATING; index due has other keys',
      stream: 'the stream has NEW_IMAGE, not both images',
    });
  });

  test('names functions and readers of the stream that use another table', async () => {
    deployed({ table: 'payments-prod-data-Table1', stream: 'arn:aws:dynamodb:eu-west-1:1:table/old/stream/1' });
    expect((await checksOf()).failed).toEqual({
      functions: 'payments-get uses payments-prod-data-Table1',
      'event sources':
        'WorkersPublishChangesSource1 reads another stream; WorkersProjectChangesSource1 reads another stream',
    });
  });

  test('fails if due work is on and a payment could not be compared', async () => {
    deployed({ due: 'on' });
    const item = {
      ...{ pk: 'PAY#pay_000000000000000000000001', sk: 'PAY', status: 'succeeded', version: 3, attempt: 1 },
      ...{ totalCents: 2_500, currency: 'USD', providerId: 'provider_a', providerIntentId: 'pi_1' },
      ...{ createdAt: '2026-11-26T09:00:00.000Z', updatedAt: '2026-11-26T09:00:00.000Z' },
    };
    documents.on(ScanCommand, { FilterExpression: '#sk = :sk' }).resolves({ Items: [item] });
    const { exitCode, failed } = await checksOf();
    expect(exitCode).toBe(1);
    expect(failed).toEqual({
      providers: '1 payments could not be compared',
      'due work': 'on (WorkersSweepDueSchedule1, WorkersRunDueSource1), so renewals may be charged twice; stop it',
    });
  });
});

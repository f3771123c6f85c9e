import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { NotReachable } from '../../infra/payctl/installation/control.ts';
import { openSlotSecrets } from '../../infra/payctl/installation/secrets.ts';
import { readStage } from '../../infra/payctl/installation/stage.ts';
import { parseSettings } from '../../shared/core/settings.ts';

const cloudFormation = mockClient(CloudFormationClient);
const lambda = mockClient(LambdaClient);
const secretsManager = mockClient(SecretsManagerClient);
const sns = mockClient(SNSClient);
beforeEach(() => {
  for (const mock of [cloudFormation, lambda, secretsManager, sns]) mock.reset();
});

const QUEUES = ['ApplyProviderEvent', 'FollowPayment', 'RunDue', 'WebhookDispatch', 'WebhookDelivery'];
const outputs = [
  { OutputKey: 'OperatedFunction', OutputValue: 'run-due-1a2b' },
  ...QUEUES.flatMap((name) => [
    { OutputKey: `${name}QueueUrl`, OutputValue: `https://sqs/${name}` },
    { OutputKey: `${name}DeadLettersUrl`, OutputValue: `https://sqs/${name}-dead` },
  ]),
];
const clients = () => ({
  cloudFormation: new CloudFormationClient({}),
  eventBridge: new EventBridgeClient({}),
  lambda: new LambdaClient({}),
  secrets: new SecretsManagerClient({}),
  s3: new S3Client({}),
  sns: new SNSClient({}),
});
const resource = (ResourceType: string, LogicalResourceId: string, PhysicalResourceId: string) => ({
  ResourceType,
  LogicalResourceId,
  PhysicalResourceId,
  Timestamp: new Date(0),
  ResourceStatus: 'CREATE_COMPLETE' as const,
});

const deployed = (stage: string, Variables: Record<string, string> = {}): void => {
  cloudFormation.on(DescribeStacksCommand, { StackName: `payments-${stage}-events` }).resolves({
    Stacks: [{ StackName: 'x', StackStatus: 'UPDATE_COMPLETE', CreationTime: new Date(0), Outputs: outputs }],
  });
  lambda
    .on(GetFunctionConfigurationCommand, { FunctionName: 'run-due-1a2b' })
    .resolves({ Environment: { Variables: { TABLE_NAME: 'payments-table', STAGE: stage, ...Variables } } });
};

describe('a deployed stage', () => {
  test('is found by its stack, and gives the environment of its functions', async () => {
    deployed('prod');
    const site = await readStage('prod', clients());
    expect(site).toMatchObject({ name: 'prod', env: { TABLE_NAME: 'payments-table' }, control: undefined });
    expect(site.queueUrls).toHaveLength(QUEUES.length);
    expect(site.queueUrls).toContainEqual({
      queue: 'webhook-delivery',
      url: 'https://sqs/WebhookDelivery',
      deadLetterUrl: 'https://sqs/WebhookDelivery-dead',
    });
  });

  test('causes a clear error if it is missing or of another version', async () => {
    cloudFormation.on(DescribeStacksCommand).rejects(new Error('Stack with id payments-dev-events does not exist'));
    await expect(readStage('dev', clients())).rejects.toThrow(NotReachable);
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [] });
    await expect(readStage('dev', clients())).rejects.toThrow('has no output OperatedFunction');
  });

  test('keeps webhook targets and guest token secrets as secrets, which are read on demand', async () => {
    deployed('dev');
    const SecretString = JSON.stringify({
      EXTERNAL_WEBHOOKS_ENABLED: 'true',
      WEBHOOK_2_ENABLED: 'true',
      WEBHOOK_2_URL: 'https://t.example/',
      WEBHOOK_3_URL: 'https://three.example/',
    });
    secretsManager.on(GetSecretValueCommand, { SecretId: 'payments/dev/webhooks' }).resolves({ SecretString });
    cloudFormation.on(DescribeStackResourcesCommand, { StackName: 'payments-dev-data' }).resolves({
      StackResources: [
        resource('AWS::KMS::Key', 'GuestTokenSecretKey', 'no'),
        resource('AWS::SecretsManager::Secret', 'GuestTokenSecret1A2B', 'arn:guests'),
      ],
    });
    secretsManager.on(GetSecretValueCommand, { SecretId: 'arn:guests' }).resolves({ SecretString: 'one,two' });
    const site = await readStage('dev', clients());
    expect(secretsManager.calls()).toHaveLength(0);
    expect(await site.outbound()).toEqual({
      targets: ['WEBHOOK_2'],
      closed: undefined,
      switchesOff: ['WEBHOOK_3_ENABLED'],
    });
    expect(await site.whyNoGuestTokens()).toBeUndefined();
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: '' });
    expect(await site.outbound()).toMatchObject({
      targets: [],
      closed: expect.stringContaining('ENABLED is not true'),
    });
    expect(await site.whyNoGuestTokens()).toContain('GUEST_TOKEN_SECRET is empty');
    secretsManager.on(GetSecretValueCommand).resolves({ SecretString: '{"WEBHOOK_1_URL":"http://t.example/"}' });
    await expect(site.outbound()).rejects.toThrow('must begin with https://');
  });

  test('has a signature secret for each slot that receives events', async () => {
    deployed('dev');
    cloudFormation.on(DescribeStackResourcesCommand, { StackName: 'payments-dev-data' }).resolves({
      StackResources: ['A', 'B', 'C'].flatMap((letter) => [
        resource('AWS::SecretsManager::Secret', `Provider${letter}Secret1A2B`, 'arn:keys'),
        resource('AWS::SecretsManager::Secret', `Provider${letter}SignatureSecret1A2B`, `arn:${letter}`),
      ]),
    });
    const { signatureSecretArn } = await readStage('dev', clients());
    expect([await signatureSecretArn('provider_a'), await signatureSecretArn('provider_c')]).toEqual([
      'arn:A',
      'arn:C',
    ]);
  });

  test('counts the subscribers of its alarms', async () => {
    deployed('dev');
    cloudFormation.on(DescribeStackResourcesCommand, { StackName: 'payments-dev-data' }).resolves({
      StackResources: [resource('AWS::SNS::Topic', 'Alarms1A2B', 'arn:alarms')],
    });
    sns
      .on(GetTopicAttributesCommand, { TopicArn: 'arn:alarms' })
      .resolves({ Attributes: { SubscriptionsConfirmed: '1', SubscriptionsPending: '2' } });
    expect(await (await readStage('dev', clients())).alarmSubscriptions?.()).toEqual({ confirmed: 1, pending: 2 });
  });

  test('keeps its provider keys in secrets, each read once', async () => {
    secretsManager
      .on(GetSecretValueCommand, { SecretId: 'arn:a' })
      .resolves({ SecretString: '{"API_KEY":"sk_test_x"}' });
    const settings = parseSettings({ TABLE_NAME: 't', PROVIDER_A: 'stripe', PROVIDER_A_SECRET_ARN: 'arn:a' });
    const withSecrets = openSlotSecrets({
      slots: settings.slots,
      arnOf: async (slot) => settings.slots[slot].SECRET_ARN,
      open: () => new SecretsManagerClient({}),
    });
    expect([await withSecrets('provider_a'), await withSecrets('provider_a')]).toMatchObject([
      { API_KEY: 'sk_test_x' },
      { API_KEY: 'sk_test_x' },
    ]);
    expect(secretsManager.commandCalls(GetSecretValueCommand)).toHaveLength(1);
    expect(await withSecrets('provider_b')).toEqual(settings.slots.provider_b);
  });
});

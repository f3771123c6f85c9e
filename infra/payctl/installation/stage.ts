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
import * as z from 'zod';
import type { QueueName } from '../../../shared/core/rights.ts';
import { listSetting } from '../../../shared/core/setting.ts';
import type { PaymentSlot } from '../../../shared/core/settings.ts';
import {
  deadLettersOutput,
  FAILURE_BUCKET_OUTPUT,
  OPERATED_FUNCTION_OUTPUT,
  queueOutput,
  type Stage,
  stackName,
  webhookSecretName,
} from '../../deploy/stage/settings.ts';
import { readOutbound, whyNoGuestTokens } from '../../local/control/disabled-parts.ts';
import { NotReachable } from './control.ts';
import type { InstallationFacts } from './facts.ts';
import { type FailureClients, stageFailures } from './stage-failures.ts';
import { readWiring, type WiringClients } from './stage-wiring.ts';

const QUEUES: Readonly<Record<QueueName, true>> = {
  'apply-provider-event': true,
  'follow-payment': true,
  'run-due': true,
  'webhook-dispatch': true,
  'webhook-delivery': true,
};

interface Clients extends FailureClients, WiringClients {
  readonly secrets: Pick<SecretsManagerClient, 'send'>;
  readonly sns: Pick<SNSClient, 'send'>;
}

/**
 * Reads a deployed stage with the operator's AWS credentials. The events stack names the queues, and the environment of
 * `run-due` has the service's settings. So the operator repeats no setting.
 * @throws NotReachable
 */
export const readStage = async (stage: Stage, clients: Clients = openClients()): Promise<InstallationFacts> => {
  const StackName = stackName(stage, 'events');
  const described = await clients.cloudFormation
    .send(new DescribeStacksCommand({ StackName }))
    .catch(throwNotReachable);
  const outputs = new Map(
    described.Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const output = (name: string): string => {
    const value = outputs.get(name);
    if (value === undefined) throw new NotReachable(`${StackName} has no output ${name}; deploy this version first`);
    return value;
  };
  const FunctionName = output(OPERATED_FUNCTION_OUTPUT);
  const { Environment } = await clients.lambda
    .send(new GetFunctionConfigurationCommand({ FunctionName }))
    .catch(throwNotReachable);
  const env = Environment?.Variables ?? {};
  return {
    name: stage,
    env,
    queueUrls: Object.keys(QUEUES).map((queue) => ({
      queue,
      url: output(queueOutput(queue)),
      deadLetterUrl: output(deadLettersOutput(queue)),
    })),
    outbound: async () => {
      const text = await readSecret(clients, webhookSecretName(stage));
      return readOutbound(
        variablesSchema.parse(JSON.parse(text || '{}')),
        env['EXTERNAL_WEBHOOK_ALLOW_PRIVATE'] === 'true',
        stage,
      );
    },
    whyNoGuestTokens: async () => {
      const arn = await findResource(clients, stackName(stage, 'data'), GUEST_TOKEN_SECRET);
      return whyNoGuestTokens(listSetting().value(await readSecret(clients, arn)), stage);
    },
    signatureSecretArn: (slot) => findResource(clients, stackName(stage, 'data'), SIGNATURE_SECRETS[slot]),
    alarmSubscriptions: async () => {
      const TopicArn = await findResource(clients, stackName(stage, 'data'), ALARM_TOPIC);
      const { Attributes } = await clients.sns.send(new GetTopicAttributesCommand({ TopicArn }));
      const { SubscriptionsConfirmed: confirmed, SubscriptionsPending: pending } = topicSchema.parse(Attributes);
      return { confirmed, pending };
    },
    wiring: () => readWiring(clients, stage),
    closed: undefined,
    failures: stageFailures(clients, () => output(FAILURE_BUCKET_OUTPUT)),
    now: Date.now,
    control: undefined,
  };
};

const openClients = (): Clients => ({
  cloudFormation: new CloudFormationClient({}),
  eventBridge: new EventBridgeClient({}),
  lambda: new LambdaClient({}),
  s3: new S3Client({}),
  secrets: new SecretsManagerClient({}),
  sns: new SNSClient({}),
});

const topicSchema = z.object({ SubscriptionsConfirmed: z.coerce.number(), SubscriptionsPending: z.coerce.number() });

const variablesSchema = z.record(z.string(), z.string());

const readSecret = async ({ secrets }: Clients, SecretId: string): Promise<string> =>
  (await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '';

/** A stack resource by type and the start of its logical id. CDK appends a hash to the id. */
interface ResourceQuery {
  readonly type: string;
  readonly id: string;
}
export const ALARM_TOPIC: ResourceQuery = { type: 'AWS::SNS::Topic', id: 'Alarms' };
export const GUEST_TOKEN_SECRET: ResourceQuery = { type: 'AWS::SecretsManager::Secret', id: 'GuestTokenSecret' };
export const SIGNATURE_SECRETS: Readonly<Record<PaymentSlot, ResourceQuery>> = {
  provider_a: { type: 'AWS::SecretsManager::Secret', id: 'ProviderASignatureSecret' },
  provider_b: { type: 'AWS::SecretsManager::Secret', id: 'ProviderBSignatureSecret' },
  provider_c: { type: 'AWS::SecretsManager::Secret', id: 'ProviderCSignatureSecret' },
};

const findResource = async (
  { cloudFormation }: Clients,
  StackName: string,
  { type, id }: ResourceQuery,
): Promise<string> => {
  const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
  const found = StackResources.find(
    ({ ResourceType, LogicalResourceId }) => ResourceType === type && LogicalResourceId?.startsWith(id),
  );
  if (found?.PhysicalResourceId === undefined) throw new NotReachable(`${StackName} has no ${id}`);
  return found.PhysicalResourceId;
};

const throwNotReachable = (error: unknown): never => {
  throw new NotReachable(error instanceof Error ? error.message : String(error), { cause: error });
};

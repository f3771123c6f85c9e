import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Environment } from '../core/setting.ts';
import type { PutEvents } from './bus.ts';
import type { QueueOperations } from './queues.ts';
import { sdkOperations } from './sdk-operations.ts';

/** The services of AWS by its SDK. */
export const sdkDynamo = (env: Environment) => sdkOperations(sdkConfig(env, 'AWS_ENDPOINT_URL_DYNAMODB'));

export const sdkPutEvents = (env: Environment): PutEvents => {
  const client = new EventBridgeClient(sdkConfig(env, 'AWS_ENDPOINT_URL_EVENTBRIDGE'));
  return (input) => client.send(new PutEventsCommand(input));
};

export const sdkQueues = (env: Environment): QueueOperations => {
  const client = new SQSClient(sdkConfig(env, 'AWS_ENDPOINT_URL_SQS'));
  return {
    sendBatch: (input) => client.send(new SendMessageBatchCommand(input)),
    changeVisibility: (input) => client.send(new ChangeMessageVisibilityCommand(input)),
    attributes: (input) => client.send(new GetQueueAttributesCommand(input)),
  };
};

export const sdkReadSecret = (env: Environment) => {
  const client = new SecretsManagerClient(sdkConfig(env, 'AWS_ENDPOINT_URL_SECRETS_MANAGER'));
  return async (SecretId: string): Promise<string> =>
    (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '';
};

/** Where the environment names no endpoint, the SDK finds region and credentials itself. */
const sdkConfig = (env: Environment, endpointVariable: string) => {
  const { [endpointVariable]: endpoint, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = env;
  if (endpoint === undefined) return {};
  return {
    endpoint,
    region: AWS_REGION ?? 'us-east-1',
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID ?? 'local', secretAccessKey: AWS_SECRET_ACCESS_KEY ?? 'local' },
  };
};

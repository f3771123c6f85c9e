/**
 * @module The clients of the AWS SDK, all with the same retries and time-outs. On Lambda the SDK uses the function's
 * region, credentials and endpoints; in a tool it uses the operator's.
 */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Environment } from '../core/setting.ts';

/** Replaces HTTP for the requests of a client. */
export type AwsTransport = DynamoDBClient['config']['requestHandler'];

export interface AwsSite {
  readonly env: Environment;
  readonly transport?: AwsTransport | undefined;
}

export const openDynamo = (site: AwsSite): DynamoDBClient => {
  const client = new DynamoDBClient(settingsOf(site, 'AWS_ENDPOINT_URL_DYNAMODB'));
  // Saves the log copies, which would be discarded, and the user agent header, which nothing uses.
  client.middlewareStack.remove('loggerMiddleware');
  client.middlewareStack.remove('getUserAgentMiddleware');
  return client;
};

/** Items are plain objects; undefined fields are omitted. */
export const openDocumentClient = (site: AwsSite): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(openDynamo(site), { marshallOptions: { removeUndefinedValues: true } });

export const openEventBridge = (site: AwsSite): EventBridgeClient =>
  new EventBridgeClient(settingsOf(site, 'AWS_ENDPOINT_URL_EVENTBRIDGE'));

export const openSqs = (site: AwsSite): SQSClient => new SQSClient(settingsOf(site, 'AWS_ENDPOINT_URL_SQS'));

export const openSecretsManager = (site: AwsSite): SecretsManagerClient =>
  new SecretsManagerClient(settingsOf(site, 'AWS_ENDPOINT_URL_SECRETS_MANAGER'));

/** Including the first attempt. */
const MAX_ATTEMPTS = 4;
const CONNECTION_TIMEOUT_MS = 1_000;
/**
 * The maximum silence of a connection. A call with four such attempts fits into 10 s, the shortest time-out of a
 * function that uses the table. Functions with 5 s call no AWS service, except `GET /pay`, which reads a secret.
 */
const SOCKET_TIMEOUT_MS = 2_000;

const settingsOf = ({ env, transport }: AwsSite, endpointVariable: string) => ({
  retryMode: 'standard',
  maxAttempts: MAX_ATTEMPTS,
  requestHandler: transport ?? { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
  ...namedEndpoint(env, endpointVariable),
});

/**
 * The endpoint that the variable names, if any. The local host sets it, because the SDK itself reads only the process
 * environment.
 */
const namedEndpoint = (env: Environment, endpointVariable: string) => {
  const { [endpointVariable]: endpoint, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = env;
  if (endpoint === undefined) return {};
  return {
    endpoint,
    region: AWS_REGION ?? 'us-east-1',
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID ?? 'local', secretAccessKey: AWS_SECRET_ACCESS_KEY ?? 'local' },
  };
};

/**
 * @module Sends the AWS SDK's requests to the host's own bus and queues without a network connection. Checks the rights
 * of the running function first.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AwsTransport } from '../../../shared/platform/aws-clients.ts';
import { answerAws, type Operations } from './aws-protocol.ts';
import type { Access } from './rights.ts';

/** A request to an AWS service, with its body as one string. */
export interface AwsRequest {
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
export interface AwsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
export type AwsSend = (request: AwsRequest) => Promise<AwsResponse>;

/**
 * An SDK transport over `send`. The SDK retries failures of `send` like failures over HTTP.
 * @param require throws unless the running function has these rights
 */
export const awsTransport = (send: AwsSend, require: (accesses: readonly Access[]) => void): AwsTransport => ({
  handle: async ({ protocol, hostname, port, path, headers, body }) => {
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    require([{ action: actionOf(headers['x-amz-target'] ?? '', text) }]);
    const host = port === undefined ? hostname : `${hostname}:${port}`;
    const received = await send({ url: `${protocol}//${host}${path}`, headers, body: text });
    return {
      response: { statusCode: received.status, headers: { ...received.headers }, body: Buffer.from(received.body) },
    };
  },
  updateHttpClientConfig: () => undefined,
  httpHandlerConfigs: () => ({}),
});

/** SQS requires the same right for single messages and batches. */
const actionOf = (target: string, body: string): string => {
  const [service, operation = ''] = target.split('.');
  if (service === 'AWSEvents') return `events:${operation}`;
  const { QueueUrl = '' }: { readonly QueueUrl?: string } = JSON.parse(body);
  return `sqs:${operation.replace(/Batch$/, '')} on ${QueueUrl.split('/').at(-1)}`;
};

/** Runs AWS's side of a request outside the sending function, without that function's rights and actor. */
export const sendInProcess = (operations: () => Operations): AwsSend => {
  const outside = AsyncLocalStorage.snapshot();
  return async ({ headers, body }) => {
    // Respond in a later turn of the event loop, as over a network.
    await new Promise((resolve) => setImmediate(resolve));
    const response = await outside(() => answerAws(operations(), { headers, body: Buffer.from(body) }));
    return { status: response.status, headers: { ...response.headers }, body: response.body };
  };
};

import type { Environment } from '../core/setting.ts';
import type { AwsSite } from './aws-service.ts';
import type { PutEvents } from './bus.ts';
import type { DynamoOperations } from './dynamo-operations.ts';
import type { QueueOperations } from './queues.ts';
import { sdkDynamo, sdkPutEvents, sdkQueues, sdkReadSecret } from './sdk-clients.ts';
import { thinDynamo, thinPutEvents, thinQueues, thinReadSecret } from './thin-clients.ts';

/**
 * Which client calls AWS. The build of the functions replaces `process.env['BUNDLED_AWS_CLIENT']` by its value, so that a
 * bundle holds one client. The local host sets `AWS_CLIENT`; tools set nothing and use the SDK.
 */
interface ClientSite extends AwsSite {
  /** Called before each request of a function to the bus or a queue. @throws where the function may not make it */
  readonly check?: ((action: string, queueUrl?: string) => void) | undefined;
}

export const openDynamo = (env: Environment): DynamoOperations =>
  (process.env['BUNDLED_AWS_CLIENT'] ?? env['AWS_CLIENT']) === 'thin' ? thinDynamo({ env }) : sdkDynamo(env);

export const openPutEvents = ({ check, ...site }: ClientSite): PutEvents => {
  const putEvents =
    (process.env['BUNDLED_AWS_CLIENT'] ?? site.env['AWS_CLIENT']) === 'thin'
      ? thinPutEvents(site)
      : sdkPutEvents(site.env);
  return async (input) => {
    check?.('events:PutEvents');
    return putEvents(input);
  };
};

export const openQueueOperations = ({ check, ...site }: ClientSite): QueueOperations => {
  const operations =
    (process.env['BUNDLED_AWS_CLIENT'] ?? site.env['AWS_CLIENT']) === 'thin' ? thinQueues(site) : sdkQueues(site.env);
  return {
    sendBatch: async (input) => {
      check?.('sqs:SendMessage', input.QueueUrl);
      return operations.sendBatch(input);
    },
    changeVisibility: async (input) => {
      check?.('sqs:ChangeMessageVisibility', input.QueueUrl);
      return operations.changeVisibility(input);
    },
    attributes: async (input) => {
      check?.('sqs:GetQueueAttributes', input.QueueUrl);
      return operations.attributes(input);
    },
  };
};

export const openReadSecret = (env: Environment): ((arn: string) => Promise<string>) =>
  (process.env['BUNDLED_AWS_CLIENT'] ?? env['AWS_CLIENT']) === 'thin' ? thinReadSecret({ env }) : sdkReadSecret(env);

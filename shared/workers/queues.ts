import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { QueueName } from '../core/rights.ts';

const BATCH = 10;

export type Queues = ReturnType<typeof openQueues>;

export const openQueues = (client: SQSClient, urls: Readonly<Record<string, string>>) => {
  const urlOf = (queue: QueueName): string => {
    const url = urls[queue];
    if (!url) throw new Error(`no URL is set for queue ${queue}`);
    return url;
  };

  /** Sends all bodies; @throws where one could not be sent. */
  const send = async (queue: QueueName, bodies: readonly string[]): Promise<void> => {
    for (let start = 0; start < bodies.length; start += BATCH) {
      const { Failed = [] } = await client.send(
        new SendMessageBatchCommand({
          QueueUrl: urlOf(queue),
          Entries: bodies.slice(start, start + BATCH).map((MessageBody, index) => ({ Id: String(index), MessageBody })),
        }),
      );
      if (Failed.length > 0) throw new Error(`${Failed.length} messages were not taken by ${queue}`);
    }
  };

  /** When a message that is being handled comes back, should it fail. */
  const comeBack = async (queue: QueueName, receiptHandle: string, seconds: number): Promise<void> => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: urlOf(queue),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };

  return { send, comeBack };
};

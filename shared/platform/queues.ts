/** @module Sends messages to the SQS queues, delays repeated deliveries, and reads the number of waiting messages. */

import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueueName } from '../core/rights.ts';
import { type Waits, waitForAttempt } from './waits.ts';

const BATCH = 10;
/** The same waits as the AWS SDK's after a whole call was throttled. */
const WAITS: Waits = { attempts: 4, firstMs: 1_000 };

/** A message for a fair queue. A slow group of messages does not delay the other groups. */
export interface GroupedMessage {
  readonly body: string;
  readonly group: string;
  /** Delays the first delivery by up to 15 minutes. */
  readonly delaySeconds?: number;
}

export type Queues = ReturnType<typeof openQueues>;

export const openQueues = (client: SQSClient, urls: Readonly<Record<string, string>>) => {
  const urlOf = (queue: QueueName): string => {
    const url = urls[queue];
    if (!url) throw new Error(`no URL is set for queue ${queue}`);
    return url;
  };

  /** Retries messages not accepted by the queue, after a wait. @throws if a message could not be sent */
  const send = async (queue: QueueName, messages: readonly (string | GroupedMessage)[]): Promise<void> => {
    for (let start = 0; start < messages.length; start += BATCH) {
      await sendBatch(queue, messages.slice(start, start + BATCH).map(entryOf));
    }
  };

  const sendBatch = async (queue: QueueName, entries: readonly SendMessageBatchRequestEntry[]): Promise<void> => {
    let pending = entries;
    for (let made = 1; ; made += 1) {
      const command = new SendMessageBatchCommand({ QueueUrl: urlOf(queue), Entries: [...pending] });
      const { Failed = [] } = await client.send(command);
      if (Failed.length === 0) return;
      const isFinal = Failed.some(({ SenderFault }) => SenderFault);
      if (isFinal || !(await waitForAttempt(made, WAITS))) {
        throw new Error(`queue ${queue} did not accept ${Failed.length} messages`);
      }
      const failed = new Set(Failed.map(({ Id }) => Id));
      pending = pending.filter(({ Id }) => failed.has(Id));
    }
  };

  /** Sets the time until the queue redelivers a message. */
  const retryAfter = async (queue: QueueName, receiptHandle: string, seconds: number): Promise<void> => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: urlOf(queue),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };

  /** The approximate number of waiting messages. */
  const depth = async (queue: QueueName): Promise<number> => {
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames: ['ApproximateNumberOfMessages'] }),
    );
    return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
  };

  return { send, retryAfter, depth };
};

const entryOf = (message: string | GroupedMessage, index: number): SendMessageBatchRequestEntry => ({
  Id: String(index),
  ...(typeof message === 'string'
    ? { MessageBody: message }
    : {
        MessageBody: message.body,
        MessageGroupId: message.group,
        ...(message.delaySeconds !== undefined && { DelaySeconds: message.delaySeconds }),
      }),
});

/** @module SQS's operations over the local queues, for the SDK. */

import * as z from 'zod';
import { AwsError, type Operation, type Operations, operation } from '../machine/aws-protocol.ts';
import type { Clock } from '../machine/clock.ts';
import type { Throttling } from '../machine/throttling.ts';
import type { Message, NewMessage, QueueStore } from './queue-store.ts';
import { type LocalQueues, md5, type Queue, queueArn, receiptOf, systemAttributes } from './queues.ts';
import { moveTaskOperations } from './sqs-move-tasks.ts';

const MAX_MESSAGE_BYTES = 1_048_576;
const MAX_DELAY_SECONDS = 900;
const MAX_VISIBILITY_SECONDS = 43_200;
const MAX_WAIT_SECONDS = 20;
const LOOK_AGAIN_MS = 20;

export interface SqsOptions {
  readonly queues: LocalQueues;
  readonly store: QueueStore;
  readonly clock: Pick<Clock, 'now' | 'wake'>;
  readonly urlOf: (queue: string) => string;
  readonly throttling?: Pick<Throttling, 'strikes'>;
}

const attributeValue = z.object({
  DataType: z.string(),
  StringValue: z.string().optional(),
  BinaryValue: z.string().optional(),
});
const sendSchema = z.object({
  MessageBody: z.string().min(1),
  DelaySeconds: z.int().optional(),
  MessageAttributes: z.record(z.string(), attributeValue).optional(),
  MessageGroupId: z.string().max(128).optional(),
});
const queueUrl = { QueueUrl: z.string() };
const receipt = { ReceiptHandle: z.string() };
const sendBatchSchema = z.object({
  ...queueUrl,
  Entries: z
    .array(sendSchema.extend({ Id: z.string() }))
    .min(1)
    .max(10),
});
const visibilitySchema = z.object({ ...receipt, VisibilityTimeout: z.int() });

export const sqsOperations = (options: SqsOptions): Operations => {
  const { queues, urlOf } = options;
  const queueOf = (url: string): Queue => {
    const queue = queues.find(url.split('/').at(-1) ?? '');
    if (queue) return queue;
    throw new AwsError('com.amazonaws.sqs#QueueDoesNotExist', 'The specified queue does not exist.', {
      queryCode: 'AWS.SimpleQueueService.NonExistentQueue',
    });
  };
  const named: Operations = {
    ...sending(options, queueOf),
    ...receiving(options, queueOf),
    ...changing(options, queueOf),
    ...moveTaskOperations({ queues, clock: options.clock, queueOf }),
    GetQueueUrl: operation(z.object({ QueueName: z.string() }), (input) => ({
      QueueUrl: urlOf(queueOf(input.QueueName).name),
    })),
    ListQueues: operation(z.object({ QueueNamePrefix: z.string().default('') }), (input) => ({
      QueueUrls: queues.all
        .map(({ name }) => name)
        .filter((name) => name.startsWith(input.QueueNamePrefix))
        .map(urlOf),
    })),
    GetQueueAttributes: operation(z.object(queueUrl), (input) => ({
      Attributes: attributesOf(queues, queueOf(input.QueueUrl)),
    })),
  };
  return Object.fromEntries(Object.entries(named).map(([name, run]) => [`AmazonSQS.${name}`, run]));
};

type QueueOf = (url: string) => Queue;

const sending = ({ queues, throttling }: SqsOptions, queueOf: QueueOf): Operations => {
  const send = (queue: Queue, messages: readonly z.infer<typeof sendSchema>[]) =>
    queues
      .send(queue.name, messages.map(newMessage))
      .map((id, index) => ({ MessageId: id, MD5OfMessageBody: md5(messages[index]?.MessageBody ?? '') }));
  return {
    SendMessage: operation(sendSchema.extend(queueUrl), (input) => send(queueOf(input.QueueUrl), [input])[0]),
    SendMessageBatch: operation(sendBatchSchema, ({ QueueUrl, Entries }) => {
      const refused = throttling?.strikes('SendMessageBatch') ? Entries.slice(-1) : [];
      const accepted = Entries.slice(0, Entries.length - refused.length);
      return {
        Successful: send(queueOf(QueueUrl), accepted).map((sent, index) => ({ ...sent, Id: accepted[index]?.Id })),
        Failed: refused.map(({ Id }) => ({ Id, SenderFault: false, Code: 'RequestThrottled', Message: 'Try again' })),
      };
    }),
  };
};

const newMessage = (input: z.infer<typeof sendSchema>): NewMessage => {
  if (Buffer.byteLength(input.MessageBody) > MAX_MESSAGE_BYTES) {
    throw invalidParameter(`One or more parameters are invalid. A message holds at most ${MAX_MESSAGE_BYTES} bytes.`);
  }
  return {
    body: input.MessageBody,
    delayMs: inRange('DelaySeconds', input.DelaySeconds ?? 0, MAX_DELAY_SECONDS) * 1_000,
    attributes: JSON.stringify(input.MessageAttributes ?? {}),
    ...(input.MessageGroupId !== undefined && { group: input.MessageGroupId }),
  };
};

const invalidParameter = (message: string): AwsError =>
  new AwsError('com.amazonaws.sqs#InvalidParameterValueException', message, { queryCode: 'InvalidParameterValue' });

const inRange = (name: string, value: number, max: number): number => {
  if (value >= 0 && value <= max) return value;
  throw invalidParameter(`Value ${value} for parameter ${name} is invalid. Reason: Must be between 0 and ${max}.`);
};

const receiving = ({ queues }: SqsOptions, queueOf: QueueOf): Operations => ({
  ReceiveMessage: operation(
    z.object({
      ...queueUrl,
      MaxNumberOfMessages: z.int().min(1).max(10).default(1),
      VisibilityTimeout: z.int().optional(),
      WaitTimeSeconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0),
    }),
    async (input) => {
      const queue = queueOf(input.QueueUrl);
      const asked = input.VisibilityTimeout;
      const visibilityMs =
        asked === undefined ? queue.visibilityMs : inRange('VisibilityTimeout', asked, MAX_VISIBILITY_SECONDS) * 1_000;
      const deadline = performance.now() + input.WaitTimeSeconds * 1_000;
      for (;;) {
        const messages = queues.receive(queue, input.MaxNumberOfMessages, visibilityMs);
        if (messages.length > 0 || performance.now() >= deadline) return { Messages: messages.map(received) };
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      }
    },
  ),
});

const received = (message: Message) => ({
  MessageId: message.id,
  ReceiptHandle: receiptOf(message),
  MD5OfBody: md5(message.body),
  Body: message.body,
  Attributes: systemAttributes(message),
  MessageAttributes: z.record(z.string(), attributeValue).parse(JSON.parse(message.attributes)),
});

/** Deletions and visibility changes, single and in batches. */
const changing = ({ store, clock, queues }: SqsOptions, queueOf: QueueOf): Operations => {
  const remove = (handle: string): void => void store.remove(idOf(handle).id);
  const changeVisibility = (input: z.infer<typeof visibilitySchema>): void => {
    const seconds = inRange('VisibilityTimeout', input.VisibilityTimeout, MAX_VISIBILITY_SECONDS);
    const { id, receives } = idOf(input.ReceiptHandle);
    const message = store.find(id);
    if (message?.receives !== receives) {
      throw new AwsError('com.amazonaws.sqs#MessageNotInflight', 'The message is not in flight.');
    }
    const visibleAt = clock.now() + seconds * 1_000;
    if (visibleAt - (message.received_at ?? clock.now()) > MAX_VISIBILITY_SECONDS * 1_000) {
      throw invalidParameter(
        `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [${MAX_VISIBILITY_SECONDS} seconds].`,
      );
    }
    store.setVisible(id, visibleAt);
    // Skip messages held by the poller; only the poller handles them.
    if (message.held === 0) queues.look(message.queue);
    clock.wake();
  };
  return {
    DeleteMessage: operation(z.object({ ...queueUrl, ...receipt }), (input) => {
      queueOf(input.QueueUrl);
      remove(input.ReceiptHandle);
    }),
    DeleteMessageBatch: inBatch(z.object(receipt), queueOf, (entry) => remove(entry.ReceiptHandle)),
    ChangeMessageVisibility: operation(visibilitySchema.extend(queueUrl), (input) => {
      queueOf(input.QueueUrl);
      changeVisibility(input);
    }),
    ChangeMessageVisibilityBatch: inBatch(visibilitySchema, queueOf, changeVisibility),
  };
};

/** Runs each entry separately, and returns lists of successful and failed entries. */
const inBatch = <Entry>(entry: z.ZodType<Entry>, queueOf: QueueOf, run: (entry: Entry) => void): Operation => {
  const schema = z.object({
    ...queueUrl,
    Entries: z
      .array(z.intersection(entry, z.object({ Id: z.string() })))
      .min(1)
      .max(10),
  });
  return operation(schema, ({ QueueUrl, Entries }) => {
    queueOf(QueueUrl);
    const successful: { Id: string }[] = [];
    const failed: { Id: string; SenderFault: boolean; Code: string; Message: string }[] = [];
    for (const one of Entries) {
      try {
        run(one);
        successful.push({ Id: one.Id });
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        failed.push({ Id: one.Id, SenderFault: true, Code: error.type, Message: error.message });
      }
    }
    return { Successful: successful, Failed: failed };
  });
};

const idOf = (handle: string): { readonly id: string; readonly receives: number } => {
  const [id, receives] = Buffer.from(handle, 'base64url').toString('utf8').split(':');
  if (id && receives) return { id, receives: Number(receives) };
  throw new AwsError('com.amazonaws.sqs#ReceiptHandleIsInvalid', 'The input receipt handle is invalid.');
};

const attributesOf = (queues: LocalQueues, queue: Queue): Record<string, string> => {
  const counts = queues.counts()[queue.name];
  return {
    QueueArn: queueArn(queue.name),
    VisibilityTimeout: String(queue.visibilityMs / 1_000),
    ApproximateNumberOfMessages: String(counts?.visible ?? 0),
    ApproximateNumberOfMessagesDelayed: String(counts?.delayed ?? 0),
    ApproximateNumberOfMessagesNotVisible: String(counts?.in_flight ?? 0),
    ...(queue.deadLetter && {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: queueArn(queue.deadLetter.queue),
        maxReceiveCount: queue.deadLetter.maxReceives,
      }),
    }),
  };
};

import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda';
import type { QueueName } from '../core/rights.ts';
import { errorFields, type Log } from '../observability/logger.ts';
import type { Queues } from './queues.ts';

/**
 * Consumers take one message or record at a time. A throw means: again later. An answer means done, unless it names when
 * the message shall come back.
 */
export type Handled = 'done' | { readonly comeBackInSeconds: number };

/** Which message it is, and how often it has been received. */
export interface Receive {
  readonly messageId: string;
  /** Counted from 1. */
  readonly count: number;
}

export interface ConsumerDeps {
  readonly log: Log;
}

export const queueConsumer =
  <D extends ConsumerDeps & { readonly queues: Queues }>(
    queue: QueueName,
    depsOf: () => D,
    handle: (deps: D, body: unknown, receive: Receive) => Promise<Handled>,
  ): ((event: SQSEvent) => Promise<SQSBatchResponse>) =>
  async (event) => {
    const deps = depsOf();
    const failed: string[] = [];
    for (const record of event.Records) {
      if (!(await consume(deps, queue, record, handle))) failed.push(record.messageId);
    }
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  };

/** The same for what is done with many messages at once: all that could be read are done together, or come back together. */
export const batchConsumer =
  <D extends ConsumerDeps, T>(
    queue: QueueName,
    depsOf: () => D,
    read: (body: unknown) => T,
    handle: (deps: D, messages: readonly T[]) => Promise<void>,
  ): ((event: SQSEvent) => Promise<SQSBatchResponse>) =>
  async (event) => {
    const deps = depsOf();
    const readable: { readonly id: string; readonly message: T }[] = [];
    const failed: string[] = [];
    for (const { messageId, body } of event.Records) {
      try {
        readable.push({ id: messageId, message: read(JSON.parse(body)) });
      } catch (error) {
        deps.log.error('consumer failed', { trigger: queue, ...errorFields(error) });
        failed.push(messageId);
      }
    }
    try {
      await handle(
        deps,
        readable.map(({ message }) => message),
      );
    } catch (error) {
      deps.log.error('consumer failed', { trigger: queue, ...errorFields(error) });
      failed.push(...readable.map(({ id }) => id));
    }
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  };

const consume = async <D extends ConsumerDeps & { readonly queues: Queues }>(
  deps: D,
  queue: QueueName,
  record: SQSRecord,
  handle: (deps: D, body: unknown, receive: Receive) => Promise<Handled>,
): Promise<boolean> => {
  try {
    const receive = { messageId: record.messageId, count: Number(record.attributes.ApproximateReceiveCount) };
    const handled = await handle(deps, JSON.parse(record.body), receive);
    if (handled === 'done') return true;
    await deps.queues.comeBack(queue, record.receiptHandle, handled.comeBackInSeconds);
    return false;
  } catch (error) {
    deps.log.error('consumer failed', { trigger: queue, ...errorFields(error) });
    return false;
  }
};

/** Reads a stream in order: stops at the first record that fails, and says which. */
export const streamConsumer =
  <D extends ConsumerDeps>(
    name: string,
    depsOf: () => D,
    handle: (deps: D, records: readonly DynamoDBRecord[]) => Promise<string | undefined>,
  ): ((event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>) =>
  async (event) => {
    const deps = depsOf();
    try {
      const failedAt = await handle(deps, event.Records);
      return { batchItemFailures: failedAt === undefined ? [] : [{ itemIdentifier: failedAt }] };
    } catch (error) {
      deps.log.error('consumer failed', { trigger: name, ...errorFields(error) });
      const first = event.Records[0]?.dynamodb?.SequenceNumber;
      return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
    }
  };

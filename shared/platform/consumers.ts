/** @module Consumers of queues and the stream. Every failure is logged and reported to Lambda, which retries. */

import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda';
import { runAs } from '../core/actor.ts';
import { errorFields, type Log } from '../core/logger.ts';
import type { QueueName } from '../core/rights.ts';
import { runInSpan } from '../core/trace.ts';
import { atDoor, newSpan, type Timed, traceOfMessage } from './doors.ts';
import type { Queues } from './queues.ts';

/** The result of a message, with the delay of the next delivery if it is not done. A throw means a retry. */
export type Handled = 'done' | { readonly retryAfterSeconds: number };

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
  ): Consumer<SQSEvent, SQSBatchResponse> =>
  (event, context) =>
    atDoor(context, newSpan(undefined), async () => {
      const deps = depsOf();
      const failed: string[] = [];
      for (const record of event.Records) {
        const span = newSpan(traceOfBody(record), record.messageId);
        const isDone = await runInSpan(span, () => consume(deps, { queue, record, handle }));
        if (!isDone) failed.push(record.messageId);
      }
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
    });

const traceOfBody = ({ body }: SQSRecord) => {
  try {
    return traceOfMessage(JSON.parse(body));
  } catch {
    // The body is not JSON. `consume` reports the message as failed.
    return undefined;
  }
};

/** The handler of a function. Lambda passes both parameters. */
type Consumer<Event, Response> = (event: Event, context?: Timed) => Promise<Response>;

interface BatchHandler<D, T> {
  readonly read: (body: unknown) => T;
  readonly handle: (deps: D, messages: readonly T[]) => Promise<void>;
}

/** Handles a batch's messages together. All readable messages succeed or are retried together. */
export const batchConsumer =
  <D extends ConsumerDeps, T>(
    queue: QueueName,
    depsOf: () => D,
    { read, handle }: BatchHandler<D, T>,
  ): Consumer<SQSEvent, SQSBatchResponse> =>
  (event, context) =>
    atDoor(context, newSpan(undefined), async () => {
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
    });

interface Consumed<D> {
  readonly queue: QueueName;
  readonly record: SQSRecord;
  readonly handle: (deps: D, body: unknown, receive: Receive) => Promise<Handled>;
}

/** @returns true if the message was handled */
const consume = async <D extends ConsumerDeps & { readonly queues: Queues }>(
  deps: D,
  { queue, record, handle }: Consumed<D>,
): Promise<boolean> => {
  try {
    const receive = { messageId: record.messageId, count: Number(record.attributes.ApproximateReceiveCount) };
    const work = { requestId: record.messageId, actor: { type: 'system', id: queue } } as const;
    const handled = await runAs(work, async () => handle(deps, JSON.parse(record.body), receive));
    if (handled === 'done') return true;
    await deps.queues.retryAfter(queue, record.receiptHandle, handled.retryAfterSeconds);
    return false;
  } catch (error) {
    deps.log.error('consumer failed', { trigger: queue, ...errorFields(error) });
    return false;
  }
};

/** Handles a stream in order. Stops at the first failed record and returns its sequence number. */
export const streamConsumer =
  <D extends ConsumerDeps>(
    name: string,
    depsOf: () => D,
    handle: (deps: D, records: readonly DynamoDBRecord[]) => Promise<string | undefined>,
  ): Consumer<DynamoDBStreamEvent, DynamoDBBatchResponse> =>
  (event, context) =>
    atDoor(context, newSpan(undefined), async () => {
      const deps = depsOf();
      try {
        const failedAt = await handle(deps, event.Records);
        return { batchItemFailures: failedAt === undefined ? [] : [{ itemIdentifier: failedAt }] };
      } catch (error) {
        deps.log.error('consumer failed', { trigger: name, ...errorFields(error) });
        const first = event.Records[0]?.dynamodb?.SequenceNumber;
        return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
      }
    });

/** The handler of a schedule. */
export const scheduledJob =
  <D>(depsOf: () => D, run: (deps: D) => Promise<void>): ((event: unknown, context?: Timed) => Promise<void>) =>
  (_, context) =>
    atDoor(context, newSpan(undefined), () => run(depsOf()));

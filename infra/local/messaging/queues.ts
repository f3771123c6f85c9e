/**
 * @module A local SQS with standard queues and dead-letter queues, timed by the host's clock. Every queue of the
 * catalogue has a poller that invokes its handler. Only messages reported as failed by the handler return to the queue.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { QueueTrigger } from '../../../shared/platform/trigger.ts';
import type { Clock, TimedWork } from '../machine/clock.ts';
import { ACCOUNT, REGION } from '../machine/environment.ts';
import type { Invoke } from '../machine/invoke.ts';
import { watchEmptiness, watchGroups } from './fair-turns.ts';
import type { Message, Moved, NewMessage, QueueCounts, QueueStore } from './queue-store.ts';

export interface Queue {
  readonly name: string;
  readonly visibilityMs: number;
  /** The dead-letter queue for exhausted messages. Undefined if this queue is a dead-letter queue. */
  readonly deadLetter: { readonly queue: string; readonly maxReceives: number } | undefined;
  readonly trigger: QueueTrigger | undefined;
}

export interface LocalQueues extends TimedWork {
  readonly all: readonly Queue[];
  find(name: string): Queue | undefined;
  send(queue: string, messages: readonly NewMessage[]): readonly string[];
  /** Receives for SQS clients. The host's own pollers receive messages directly. */
  receive(queue: Queue, max: number, visibilityMs: number): readonly Message[];
  /** Moves the messages of a dead-letter queue to `destination`; without it, each to its source queue. */
  move(deadLetterQueue: string, destination?: string): Moved;
  /** Moves all messages of a dead-letter queue back. @returns the number of moved messages */
  redrive(deadLetterQueue: string): number;
  /** Tells the poller that a message of this queue became visible. */
  look(queue: string): void;
  counts(): Readonly<Record<string, QueueCounts>>;
  start(): void;
  /** Stops receiving messages and waits for running handlers. */
  stop(): Promise<void>;
}

export interface QueuesOptions {
  readonly triggers: readonly QueueTrigger[];
  readonly store: QueueStore;
  readonly clock: Pick<Clock, 'now' | 'wake'>;
  readonly invoke: Invoke;
  readonly log: (line: string) => void;
}

const DEAD_LETTER = '-dlq';
const DEFAULT_VISIBILITY_MS = 30_000;

export const queueArn = (name: string): string => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;
/** Identifies a message and one receive of it. */
export const receiptOf = (message: Message): string =>
  Buffer.from(`${message.id}:${message.receives}`).toString('base64url');
export const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

export const createQueues = (options: QueuesOptions): LocalQueues => {
  const { store, clock } = options;
  const all = options.triggers.flatMap(queueWithDeadLetter);
  const byName = new Map(all.map((queue) => [queue.name, queue]));
  const pollers = all.flatMap((queue) =>
    queue.trigger && !queue.trigger.isPaused ? [createPoller(options, queue, queue.trigger)] : [],
  );
  const byQueue = new Map(pollers.map((poller) => [poller.queue, poller]));
  const pumpAll = () => {
    for (const poller of pollers) poller.pump();
  };
  store.releaseAll(clock.now());

  const look = (queue: string): void => byQueue.get(queue)?.look();
  const move = (deadLetterQueue: string, destination?: string): Moved => {
    const moved = store.moveAll(deadLetterQueue, destination, clock.now());
    for (const { name } of all) look(name);
    clock.wake();
    return moved;
  };
  const redrive = (deadLetterQueue: string): number => {
    const source = all.find((queue) => queue.deadLetter?.queue === deadLetterQueue);
    return source ? move(deadLetterQueue, source.name).moved : 0;
  };

  return {
    name: 'queues',
    all,
    find: (name) => byName.get(name),
    send: (queue, messages) => {
      const ids = store.addAll(queue, messages, clock.now());
      byQueue.get(queue)?.arrived(messages);
      clock.wake();
      return ids;
    },
    receive: ({ name, deadLetter }, max, visibilityMs) =>
      store.take(name, { now: clock.now(), max, visibilityMs, held: false, deadLetter }),
    move,
    redrive,
    look,
    counts: () => Object.fromEntries(all.map(({ name }) => [name, store.count(name, clock.now())])),
    nextDueAt: () => {
      const dues = pollers.map((poller) => store.nextVisibleAt(poller.queue)).filter((due) => due !== undefined);
      return dues.length === 0 ? undefined : Math.min(...dues);
    },
    runDue: async () => pumpAll(),
    idle: () =>
      pollers.every((poller) => poller.idle() && (store.nextVisibleAt(poller.queue) ?? Infinity) > clock.now()),
    start: () => {
      for (const poller of pollers) poller.start();
    },
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
};

const queueWithDeadLetter = (trigger: QueueTrigger): readonly Queue[] => {
  const deadLetterName = `${trigger.queue}${DEAD_LETTER}`;
  return [
    {
      name: trigger.queue,
      visibilityMs: trigger.visibilitySeconds * 1_000,
      deadLetter: { queue: deadLetterName, maxReceives: trigger.maxReceives },
      trigger,
    },
    { name: deadLetterName, visibilityMs: DEFAULT_VISIBILITY_MS, deadLetter: undefined, trigger: undefined },
  ];
};

/** Invokes one queue's handler, up to its maximum concurrency. */
const createPoller = ({ store, clock, invoke, log }: QueuesOptions, queue: Queue, trigger: QueueTrigger) => {
  const running = new Set<Promise<void>>();
  const groups = watchGroups();
  const emptiness = watchEmptiness();
  let open = false;

  const work = async (messages: readonly Message[]): Promise<void> => {
    const failed = await failedOf(messages).catch((error: unknown) => {
      log(`${trigger.id} failed, so its messages return to the queue: ${describe(error)}`);
      return new Set(messages.map((message) => message.id));
    });
    for (const { id, grp } of messages) {
      if (!failed.has(id)) store.remove(id);
      else emptiness.arrived(grp, store.release(id), clock.now());
    }
  };
  const failedOf = async (messages: readonly Message[]): Promise<ReadonlySet<string>> => {
    const event = { Records: messages.map((message) => recordOf(queue.name, message)) };
    const answer = answerSchema.parse((await invoke(trigger.id, event, trigger.timeoutSeconds)) ?? {});
    const failed = answer.batchItemFailures.map((failure) => failure.itemIdentifier);
    const known = new Set(messages.map((message) => message.id));
    // As on AWS, naming a message outside the batch fails the whole batch.
    return failed.every((id) => known.has(id)) ? new Set(failed) : known;
  };
  const pump = (): void => {
    while (open && running.size < trigger.maxConcurrency) {
      const messages = takeBatch();
      if (messages.length === 0) return;
      const taken = messages.map(({ grp }) => grp);
      groups.begin(taken);
      const run = work(messages).finally(() => {
        running.delete(run);
        groups.end(taken);
        pump();
        clock.wake();
      });
      running.add(run);
    }
  };
  const takeBatch = (): readonly Message[] => {
    const now = clock.now();
    const busyGroups = groups.busy(trigger.maxConcurrency - running.size);
    if (emptiness.holds(busyGroups, now)) return [];
    const messages = store.take(queue.name, {
      now,
      max: trigger.batchSize,
      visibilityMs: queue.visibilityMs,
      held: true,
      deadLetter: queue.deadLetter,
      busyGroups,
    });
    if (messages.length === 0) emptiness.found(busyGroups, store.nextVisibleAfter(queue.name, now) ?? Infinity);
    return messages;
  };

  return {
    queue: queue.name,
    pump,
    arrived: (messages: readonly NewMessage[]): void => {
      const now = clock.now();
      for (const { group = '', delayMs = 0 } of messages) emptiness.arrived(group, now + delayMs, now);
      pump();
    },
    look: (): void => {
      emptiness.forget();
      pump();
    },
    idle: () => running.size === 0,
    start: () => {
      open = true;
      pump();
    },
    stop: async () => {
      open = false;
      await Promise.all(running);
    },
  };
};

const answerSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

const attributesSchema = z.record(
  z.string(),
  z.object({ DataType: z.string(), StringValue: z.string().optional(), BinaryValue: z.string().optional() }),
);

/** Converts a message to the form received by a Lambda function. */
const recordOf = (queue: string, message: Message) => ({
  messageId: message.id,
  receiptHandle: receiptOf(message),
  body: message.body,
  attributes: systemAttributes(message),
  messageAttributes: Object.fromEntries(
    Object.entries(attributesSchema.parse(JSON.parse(message.attributes))).map(([name, value]) => [
      name,
      {
        stringValue: value.StringValue,
        binaryValue: value.BinaryValue,
        stringListValues: [],
        binaryListValues: [],
        dataType: value.DataType,
      },
    ]),
  ),
  md5OfBody: md5(message.body),
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn(queue),
  awsRegion: REGION,
});

export const systemAttributes = (message: Message): Record<string, string> => ({
  ApproximateReceiveCount: String(message.receives),
  SentTimestamp: String(message.sent_at),
  SenderId: ACCOUNT,
  ApproximateFirstReceiveTimestamp: String(message.first_received_at ?? message.sent_at),
  ...(message.grp !== '' && { MessageGroupId: message.grp }),
  ...(message.source !== null && { DeadLetterQueueSourceArn: queueArn(message.source) }),
});

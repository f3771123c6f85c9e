import {
  ListMessageMoveTasksCommand,
  type ListMessageMoveTasksResultEntry,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { NotReachable } from '../installation/control.ts';
import type { QueueUrls } from '../installation/facts.ts';
import type { Installation } from '../installation/installation.ts';
import { readQueueAttributes, selectQueues } from './dead-letters.ts';
import { columns, type Progress, progress, type Report } from './report.ts';

/** The result of one queue's redrive. */
interface Redriven {
  readonly queue: string;
  readonly moved: number;
  /** The reason if SQS stopped before it moved all messages. */
  readonly failure?: string;
}

const LOOK_EVERY_MS = 1_000;

/** Moves dead letters back to their queue, where each gets all its retries again. Waits until SQS is done. */
export const redrive = async (
  installation: Installation,
  queue?: string,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<Report> => {
  const bar = progress('messages');
  const queues: Redriven[] = [];
  try {
    for (const urls of selectQueues(installation, queue))
      queues.push(await redriveOne(installation, urls, { bar, lookEveryMs }));
  } finally {
    bar.stop();
  }
  const total = queues.reduce((sum, { moved }) => sum + moved, 0);
  return {
    json: { total, queues },
    lines: [
      ...columns(queues.map(({ queue: name, moved, failure = '' }) => [name, String(moved), failure])),
      `${total} messages moved back`,
    ],
    exitCode: queues.some(({ failure }) => failure !== undefined) ? 1 : 0,
  };
};

interface WatchOptions {
  readonly bar: Progress;
  readonly lookEveryMs: number;
}

/**
 * Names the queue as the destination of the move, because SQS knows the origin only of the messages that SQS itself
 * moved. The bus sends its undeliverable events directly to the dead-letter queue.
 */
const redriveOne = async (
  installation: Installation,
  { queue, url, deadLetterUrl }: QueueUrls,
  watching: WatchOptions,
): Promise<Redriven> => {
  const { count, arn: SourceArn } = await readQueueAttributes(installation, deadLetterUrl);
  if (count === 0) return { queue, moved: 0 };
  const { arn: DestinationArn } = await readQueueAttributes(installation, url);
  const before = await newestTask(installation, SourceArn);
  await installation.sqs.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn }));
  watching.bar.expect(count);
  const task = await awaitTask(installation, { SourceArn, startedAfter: before?.StartedTimestamp ?? 0 }, watching);
  const moved = task.ApproximateNumberOfMessagesMoved ?? 0;
  if (task.Status === 'COMPLETED') return { queue, moved };
  return { queue, moved, failure: [task.Status, task.FailureReason].filter(Boolean).join(': ') };
};

const ENDS = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);
const MOST_UNLISTED = 60;

interface StartedTask {
  readonly SourceArn: string;
  readonly startedAfter: number;
}

/** @returns the ended task. @throws NotReachable if SQS never lists it. */
const awaitTask = async (
  installation: Installation,
  started: StartedTask,
  { bar, lookEveryMs }: WatchOptions,
): Promise<ListMessageMoveTasksResultEntry> => {
  let [shown, unlisted] = [0, 0];
  while (unlisted <= MOST_UNLISTED) {
    const task = await findTask(installation, started);
    const moved = task?.ApproximateNumberOfMessagesMoved ?? 0;
    for (; shown < moved; shown += 1) bar.done();
    if (task && ENDS.has(task.Status ?? '')) return task;
    if (!task) unlisted += 1;
    if (unlisted <= MOST_UNLISTED) await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  throw new NotReachable(`SQS does not list the task that empties ${started.SourceArn}`);
};

const findTask = async (
  installation: Installation,
  { SourceArn, startedAfter }: StartedTask,
): Promise<ListMessageMoveTasksResultEntry | undefined> => {
  const task = await newestTask(installation, SourceArn);
  return (task?.StartedTimestamp ?? 0) > startedAfter ? task : undefined;
};

const newestTask = async (
  { sqs }: Installation,
  SourceArn: string,
): Promise<ListMessageMoveTasksResultEntry | undefined> => {
  const { Results = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }));
  return Results[0];
};

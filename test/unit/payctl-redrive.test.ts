import {
  GetQueueAttributesCommand,
  ListMessageMoveTasksCommand,
  type ListMessageMoveTasksResultEntry,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { redrive } from '../../infra/payctl/commands/redrive.ts';
import type { Installation } from '../../infra/payctl/installation/installation.ts';

const sqs = mockClient(SQSClient);
const QUEUE = { queue: 'run-due', url: 'https://sqs/run-due', deadLetterUrl: 'https://sqs/dead' };
const place = { sqs: new SQSClient({}), queueUrls: [QUEUE] } as unknown as Installation;

/** The responses of the task list, in order. */
const tasks = (...looks: readonly (ListMessageMoveTasksResultEntry | undefined)[]): void => {
  let answers = sqs.on(ListMessageMoveTasksCommand);
  for (const look of looks) answers = answers.resolvesOnce({ Results: look ? [look] : [] });
};

beforeEach(() => {
  sqs.reset();
  const attributes = (QueueArn: string, count: number) => ({
    Attributes: { QueueArn, ApproximateNumberOfMessages: String(count) },
  });
  sqs.on(GetQueueAttributesCommand, { QueueUrl: QUEUE.url }).resolves(attributes('arn:queue', 0));
  sqs.on(GetQueueAttributesCommand, { QueueUrl: QUEUE.deadLetterUrl }).resolves(attributes('arn:dead', 3));
  sqs.on(StartMessageMoveTaskCommand).resolves({ TaskHandle: 'task' });
});

describe('the redrive command', () => {
  const earlier: ListMessageMoveTasksResultEntry = { Status: 'COMPLETED', StartedTimestamp: 10 };

  test('waits for the task that it started, even if the task is listed late', async () => {
    const running = { Status: 'RUNNING', StartedTimestamp: 20, ApproximateNumberOfMessagesMoved: 1 };
    tasks(earlier, earlier, running, { ...running, Status: 'COMPLETED', ApproximateNumberOfMessagesMoved: 3 });
    expect(await redrive(place, undefined, 0)).toMatchObject({
      json: { total: 3, queues: [{ queue: 'run-due', moved: 3 }] },
      exitCode: 0,
    });
    expect(sqs.commandCalls(StartMessageMoveTaskCommand)[0]?.args[0].input).toEqual({
      SourceArn: 'arn:dead',
      DestinationArn: 'arn:queue',
    });
  });

  test('fails if the task is never listed', async () => {
    sqs.on(ListMessageMoveTasksCommand).resolves({ Results: [earlier] });
    await expect(redrive(place, undefined, 0)).rejects.toThrow('does not list the task');
  });

  test.each([
    ['FAILED', 'AccessDenied', 'FAILED: AccessDenied'],
    ['CANCELLED', undefined, 'CANCELLED'],
  ])('reports that the task ended early (%s)', async (Status, FailureReason, failure) => {
    const ended = { Status, FailureReason, StartedTimestamp: 20, ApproximateNumberOfMessagesMoved: 2 };
    tasks(undefined, ended as ListMessageMoveTasksResultEntry);
    expect(await redrive(place, 'run-due', 0)).toMatchObject({
      json: { total: 2, queues: [{ moved: 2, failure }] },
      exitCode: 1,
    });
  });
});

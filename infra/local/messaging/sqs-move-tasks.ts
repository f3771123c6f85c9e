/**
 * @module SQS's move tasks, which empty dead-letter queues. At the local host, a task ends within the call that starts
 * it. As on AWS, the origin of a message is known only if SQS itself moved the message to the dead-letter queue. Other
 * messages need a destination.
 */

import * as z from 'zod';
import { AwsError, type Operations, operation } from '../machine/aws-protocol.ts';
import type { Clock } from '../machine/clock.ts';
import { type LocalQueues, type Queue, queueArn } from './queues.ts';

interface MoveTask {
  readonly Status: 'COMPLETED' | 'FAILED';
  readonly SourceArn: string;
  readonly DestinationArn: string | undefined;
  readonly ApproximateNumberOfMessagesMoved: number;
  readonly ApproximateNumberOfMessagesToMove: number;
  readonly FailureReason: string | undefined;
  readonly StartedTimestamp: number;
}

export interface MoveTaskOptions {
  readonly queues: LocalQueues;
  readonly clock: Pick<Clock, 'now'>;
  /** @throws AwsError */
  readonly queueOf: (url: string) => Queue;
}

const MOST_LISTED = 10;

export const moveTaskOperations = ({ queues, clock, queueOf }: MoveTaskOptions): Operations => {
  /** Newest first. */
  let tasks: readonly MoveTask[] = [];
  const named = (arn: string): Queue => queueOf(arn.replaceAll(':', '/'));
  const start = (source: Queue, destination: Queue | undefined): MoveTask => {
    const count = queues.counts()[source.name]?.visible ?? 0;
    const { moved, isOriginUnknown } = queues.move(source.name, destination?.name);
    return {
      Status: isOriginUnknown ? 'FAILED' : 'COMPLETED',
      SourceArn: queueArn(source.name),
      DestinationArn: destination && queueArn(destination.name),
      ApproximateNumberOfMessagesMoved: moved,
      ApproximateNumberOfMessagesToMove: count,
      FailureReason: isOriginUnknown ? 'CouldNotDetermineMessageSource' : undefined,
      // Start times must differ, even if the clock is frozen.
      StartedTimestamp: Math.max(clock.now(), 1 + (tasks[0]?.StartedTimestamp ?? 0)),
    };
  };
  return {
    StartMessageMoveTask: operation(
      z.object({ SourceArn: z.string(), DestinationArn: z.string().optional() }),
      ({ SourceArn, DestinationArn }) => {
        const source = named(SourceArn);
        if (source.deadLetter) {
          throw new AwsError(
            'com.amazonaws.sqs#InvalidParameterValueException',
            'Source queue must be configured as a Dead Letter Queue.',
            { queryCode: 'InvalidParameterValue' },
          );
        }
        tasks = [start(source, DestinationArn === undefined ? undefined : named(DestinationArn)), ...tasks];
        return { TaskHandle: Buffer.from(`${SourceArn} ${tasks.length}`).toString('base64url') };
      },
    ),
    ListMessageMoveTasks: operation(
      z.object({ SourceArn: z.string(), MaxResults: z.int().min(1).max(MOST_LISTED).default(1) }),
      ({ SourceArn, MaxResults }) => {
        named(SourceArn);
        return { Results: tasks.filter((task) => task.SourceArn === SourceArn).slice(0, MaxResults) };
      },
    ),
  };
};

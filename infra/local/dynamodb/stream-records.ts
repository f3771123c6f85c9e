import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import { REGION } from '../machine/environment.ts';
import type { StreamRecord } from './streams-api.ts';

/** Stream records in the JSON that a Lambda function receives, with binary values as base64 text. */
export type LambdaRecord = ReturnType<typeof lambdaRecord>;

/** A consumer's response. */
export const streamAnswerSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

export const sequenceOf = (record: StreamRecord): string => record.dynamodb?.SequenceNumber ?? '';

/** True for INSERT and MODIFY of items with one of the trigger's sort keys, and for the removals that it declares. */
export const isWanted = (trigger: StreamTrigger, record: StreamRecord): boolean => {
  const { eventName, dynamodb } = record;
  const sortKey = dynamodb?.Keys?.['sk']?.S ?? '';
  const isOf = (kinds: readonly string[] = []): boolean => kinds.includes(sortKey);
  if (eventName === 'REMOVE') return isOf(trigger.removalsOf);
  if (eventName !== 'INSERT' && eventName !== 'MODIFY') return false;
  if (!isOf(trigger.sortKeys)) return false;
  // The local engine records a put that changes nothing, but DynamoDB does not.
  return eventName === 'INSERT' || !isDeepStrictEqual(dynamodb?.OldImage, dynamodb?.NewImage);
};

export const lambdaRecord = (record: StreamRecord, streamArn: string, nowMs: number) => ({
  eventID: record.eventID ?? '',
  eventName: record.eventName ?? '',
  eventVersion: record.eventVersion ?? '1.1',
  eventSource: 'aws:dynamodb',
  awsRegion: REGION,
  dynamodb: {
    // Whole seconds of the host's clock, because the engine uses real time.
    ApproximateCreationDateTime: Math.floor(nowMs / 1_000),
    Keys: record.dynamodb?.Keys ?? {},
    ...(record.dynamodb?.NewImage && { NewImage: record.dynamodb.NewImage }),
    ...(record.dynamodb?.OldImage && { OldImage: record.dynamodb.OldImage }),
    SequenceNumber: sequenceOf(record),
    SizeBytes: record.dynamodb?.SizeBytes ?? 0,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  },
  eventSourceARN: streamArn,
});

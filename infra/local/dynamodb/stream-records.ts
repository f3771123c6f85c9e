import * as z from 'zod';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import { REGION } from '../machine/environment.ts';

/** Attribute values in DynamoDB's JSON, with binary values as base64 text. */
export type Image = Readonly<Record<string, { readonly S?: string }>>;

export interface StreamRecord {
  readonly eventID?: string;
  readonly eventName?: string;
  readonly eventVersion?: string;
  readonly dynamodb?: {
    readonly Keys?: Image;
    readonly NewImage?: Image;
    readonly OldImage?: Image;
    readonly SequenceNumber?: string;
    readonly SizeBytes?: number;
  };
}

/** Stream records in the JSON that a Lambda function receives, with binary values as base64 text. */
export type LambdaRecord = ReturnType<typeof lambdaRecord>;

/** A consumer's response. */
export const streamAnswerSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

export const sequenceOf = (record: StreamRecord): string => record.dynamodb?.SequenceNumber ?? '';

/** True for insertions and changes under the trigger's sort keys, and for the trigger's declared removals. */
export const isWanted = (trigger: StreamTrigger, record: StreamRecord): boolean => {
  const { eventName, dynamodb } = record;
  const sortKey = dynamodb?.Keys?.['sk']?.S ?? '';
  const isOf = (kinds: readonly string[] = []): boolean => kinds.includes(sortKey);
  if (eventName === 'REMOVE') return isOf(trigger.removalsOf);
  return (eventName === 'INSERT' || eventName === 'MODIFY') && isOf(trigger.sortKeys);
};

export const lambdaRecord = (record: StreamRecord, streamArn: string, nowMs: number) => ({
  eventID: record.eventID ?? '',
  eventName: record.eventName ?? '',
  eventVersion: record.eventVersion ?? '1.1',
  eventSource: 'aws:dynamodb',
  awsRegion: REGION,
  dynamodb: {
    // Whole seconds of the host's clock.
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

import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue, _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams';
import * as z from 'zod';
import type { StreamTrigger } from '../../../shared/messaging/trigger.ts';
import { REGION } from '../machine/environment.ts';

/** Stream records as a Lambda function receives them: JSON, with binary values as base64 text. */
export type LambdaRecord = ReturnType<typeof lambdaRecord>;

/** A consumer's answer. */
export const streamAnswerSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

export const sequenceOf = (record: StreamRecord): string => record.dynamodb?.SequenceNumber ?? '';

/** INSERT and MODIFY of items with one of the trigger's sort keys. */
export const isWanted = (trigger: StreamTrigger, record: StreamRecord): boolean => {
  const { eventName, dynamodb } = record;
  if (eventName !== 'INSERT' && eventName !== 'MODIFY') return false;
  if (!trigger.sortKeys.includes(dynamodb?.Keys?.['sk']?.S ?? '')) return false;
  // The local engine records a put that changes nothing, DynamoDB does not.
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
    Keys: image(record.dynamodb?.Keys),
    ...(record.dynamodb?.NewImage && { NewImage: image(record.dynamodb.NewImage) }),
    ...(record.dynamodb?.OldImage && { OldImage: image(record.dynamodb.OldImage) }),
    SequenceNumber: sequenceOf(record),
    SizeBytes: record.dynamodb?.SizeBytes ?? 0,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  },
  eventSourceARN: streamArn,
});

const image = (attributes: Record<string, AttributeValue> | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(attributes ?? {}).map(([name, value]) => [name, jsonValue(value)]));

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const jsonValue = (value: AttributeValue): unknown => {
  if (value.B !== undefined) return { B: base64(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(base64) };
  if (value.M !== undefined) return { M: image(value.M) };
  if (value.L !== undefined) return { L: value.L.map(jsonValue) };
  return value;
};

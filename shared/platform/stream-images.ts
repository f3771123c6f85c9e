/** @module Reads items from records of the table's stream. */

import type { AttributeValue as SdkValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { Item } from './table.ts';

export interface ItemChange {
  readonly sequenceNumber: string;
  readonly before: Item | undefined;
  readonly after: Item;
}

/** Binary values arrive as base64 in a function's event. */
const sdkValue = (value: AttributeValue): SdkValue => {
  if (value.B !== undefined) return { B: Buffer.from(value.B, 'base64') };
  if (value.M !== undefined) return { M: sdkImage(value.M) };
  if (value.L !== undefined) return { L: value.L.map(sdkValue) };
  if (value.S !== undefined) return { S: value.S };
  if (value.N !== undefined) return { N: value.N };
  if (value.BOOL !== undefined) return { BOOL: value.BOOL };
  if (value.SS !== undefined) return { SS: value.SS };
  if (value.NS !== undefined) return { NS: value.NS };
  return { NULL: true };
};
const sdkImage = (image: Readonly<Record<string, AttributeValue>>): Record<string, SdkValue> =>
  Object.fromEntries(Object.entries(image).map(([name, value]) => [name, sdkValue(value)]));

/** The removed item; undefined if the stream record is not a removal. */
export const removedItem = ({ eventName, dynamodb }: DynamoDBRecord): Item | undefined =>
  eventName === 'REMOVE' && dynamodb?.OldImage ? unmarshall(sdkImage(dynamodb.OldImage)) : undefined;

export const changeOf = (record: DynamoDBRecord): ItemChange | undefined => {
  const { NewImage, OldImage, SequenceNumber } = record.dynamodb ?? {};
  if (!NewImage || !SequenceNumber) return undefined;
  return {
    sequenceNumber: SequenceNumber,
    before: OldImage && unmarshall(sdkImage(OldImage)),
    after: unmarshall(sdkImage(NewImage)),
  };
};

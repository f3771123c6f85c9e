import { marshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { Item } from '../../shared/platform/table.ts';

/** A change of an item as the table's stream reports it to a function. A change without `after` is a removal. */
export const streamRecord = (sequence: number, before: Item | undefined, after: Item | undefined): DynamoDBRecord => {
  const { pk, sk } = after ?? before ?? {};
  return {
    eventName: before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY',
    dynamodb: {
      Keys: image({ pk, sk }),
      ...(before && { OldImage: image(before) }),
      ...(after && { NewImage: image(after) }),
      SequenceNumber: String(sequence),
    },
  };
};

/** The item as JSON, without binary values. */
const image = (item: Item): Record<string, AttributeValue> =>
  JSON.parse(JSON.stringify(marshall(item, { removeUndefinedValues: true })));

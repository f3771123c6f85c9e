import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Installation } from './installation.ts';

/**
 * Scans the whole table with consistent reads, page by page.
 * @param sk the sort key of the items
 * @param anomaly only items with this mark
 */
export async function* scanItems(
  { documents, settings }: Pick<Installation, 'documents' | 'settings'>,
  sk: string,
  anomaly?: string,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let after: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await documents.send(
      new ScanCommand({
        TableName: settings.TABLE_NAME,
        ConsistentRead: true,
        FilterExpression: anomaly === undefined ? '#sk = :sk' : '#sk = :sk AND #anomaly = :anomaly',
        ExpressionAttributeNames: { '#sk': 'sk', ...(anomaly !== undefined && { '#anomaly': 'anomaly' }) },
        ExpressionAttributeValues: { ':sk': sk, ...(anomaly !== undefined && { ':anomaly': anomaly }) },
        ...(after && { ExclusiveStartKey: after }),
      }),
    );
    yield* Items;
    after = LastEvaluatedKey;
  } while (after);
}

import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { derivedId } from '../../shared/core/ids.ts';
import { iso } from '../../shared/core/time.ts';
import { customerShape } from '../../shared/customers/customer.ts';
import { recordItem } from '../../shared/table/record-store.ts';
import type { TestHost } from './host.ts';

/** As many as a transaction takes. */
const BATCH = 100;

/** Customers as the service would have stored them, written past it: each makes one event. @returns their ids. */
export const storeCustomers = async (service: TestHost, count: number): Promise<readonly string[]> => {
  const { dynamoEndpoint, env } = service.host();
  const client = new DynamoDBClient({
    endpoint: dynamoEndpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const at = iso(service.now());
  const ids = Array.from({ length: count }, (_, index) => derivedId('customer', 'many', String(index)));
  const put = (id: string) => ({
    Put: {
      TableName: env['TABLE_NAME'],
      Item: marshall(
        recordItem(customerShape, {
          id,
          version: 1,
          createdAt: at,
          updatedAt: at,
          providerId: 'provider_a',
          providerCustomerId: `cus_${id}`,
          userId: 'user_1',
        }),
        { removeUndefinedValues: true },
      ),
    },
  });
  for (let from = 0; from < count; from += BATCH) {
    await client.send(new TransactWriteItemsCommand({ TransactItems: ids.slice(from, from + BATCH).map(put) }));
  }
  client.destroy();
  return ids;
};

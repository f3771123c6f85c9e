import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Host } from '../../infra/local/host/host.ts';
import { derivedId } from '../../shared/core/ids.ts';
import { iso } from '../../shared/core/time.ts';
import { customerShape } from '../../shared/customers/customer.ts';
import { recordItem } from '../../shared/table/record-store.ts';
import type { Item } from '../../shared/table/table.ts';

/** As many as a transaction takes. */
const BATCH = 100;

/** Customers as the service would have stored them, written past it: each makes one event. @returns their ids. */
export const storeCustomers = async (
  { dynamoEndpoint, env, clock }: Pick<Host, 'dynamoEndpoint' | 'env' | 'clock'>,
  names: readonly string[],
): Promise<readonly string[]> => {
  const client = new DynamoDBClient({
    endpoint: dynamoEndpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const ids = names.map((name) => derivedId('customer', name));
  for (let from = 0; from < ids.length; from += BATCH) {
    const at = iso(clock.now());
    const TransactItems = ids.slice(from, from + BATCH).map((id) => {
      const Item = marshall(customerItem(id, at), { removeUndefinedValues: true });
      return { Put: { TableName: env['TABLE_NAME'], Item } };
    });
    await client.send(new TransactWriteItemsCommand({ TransactItems }));
  }
  client.destroy();
  return ids;
};

const customerItem = (id: string, at: string): Item =>
  recordItem(customerShape, {
    id,
    version: 1,
    createdAt: at,
    updatedAt: at,
    providerId: 'provider_a',
    providerCustomerId: `cus_${id}`,
    userId: 'user_1',
  });

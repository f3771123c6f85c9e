import { type DynamoDBClient, TransactWriteItemsCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { keyedId } from '../../shared/core/ids.ts';
import { DAY_MS, type Instant, iso } from '../../shared/core/time.ts';
import type { Payment, PaymentStatus } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { additionsOf, type Share, sharesOf } from '../../shared/payments/summary-sums.ts';
import type { Item } from '../../shared/platform/table.ts';
import { openClient, type Service } from './service.ts';

/** Payments of one owner with their sums, in the service's own form, written directly to the table. */
export interface Seeding {
  readonly userId: string;
  readonly count: number;
  /** Creation times are evenly distributed from `from` over `days`. */
  readonly from: Instant;
  readonly days: number;
}

/** The status of one payment in a thousand. */
export const RARE: PaymentStatus = 'pending';
const RARE_EVERY = 1_000;
/** A search text in one payment of a hundred. */
export const TERM = 'festival';
const TERM_EVERY = 100;

/** The maximum items of a transaction. The engine is four times as fast with transactions as with BatchWriteItem. */
const BATCH = 100;
/** Two lanes, so that one prepares a transaction while the other writes. */
const LANES = 2;

/** @param shares the payments' contributions to the sums, including those of earlier calls */
export const seed = async (service: Service, seedings: readonly Seeding[], shares: Share[] = []): Promise<void> => {
  await withoutStream(service);
  for (const seeding of seedings) await writeItems(service, itemsOf(seeding, shares));
  await writeItems(
    service,
    additionsOf(shares).map(({ key, add }) => ({ ...key, ...add })),
  );
};

/** Turns off the stream. No scenario reads the history, and writing it would nearly double the time. */
export const withoutStream = async (service: Service): Promise<void> => {
  const client = openClient(service.dynamoEndpoint);
  const StreamSpecification = { StreamEnabled: false };
  await client.send(new UpdateTableCommand({ TableName: service.tableName, StreamSpecification }));
  client.destroy();
};

export const writeItems = async (service: Service, items: Iterable<Item>): Promise<void> => {
  const client = openClient(service.dynamoEndpoint);
  await write(client, service.tableName, items);
  client.destroy();
};

const write = async (client: DynamoDBClient, tableName: string, all: Iterable<Item>): Promise<void> => {
  const put = (items: readonly Item[]) => {
    const writes = items.map((item) => marshall(item, { removeUndefinedValues: true }));
    const TransactItems = writes.map((Item) => ({ Put: { TableName: tableName, Item } }));
    return client.send(new TransactWriteItemsCommand({ TransactItems }));
  };
  const batches = batchesOf(all);
  const lane = async (): Promise<void> => {
    for (const batch of batches) await put(batch);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};

/** All items in batches, generated on demand. */
function* batchesOf(items: Iterable<Item>): Generator<readonly Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function* itemsOf(seeding: Seeding, shares: Share[]): Generator<Item> {
  for (let index = 0; index < seeding.count; index += 1) {
    const payment = seededPayment(seeding, index);
    shares.push(...sharesOf(payment, payment.id));
    yield paymentItem(payment, instantAfter(seeding));
  }
}

const instantAfter = ({ from, days }: Seeding): Instant => from + days * DAY_MS;

/** A single seeded payment. */
export const seededPayment = ({ userId, count, from, days }: Seeding, index: number): Payment => {
  const at = iso(from + Math.floor((index * days * DAY_MS) / count));
  const totalCents = 100 + ((index * 7_919) % 99_900);
  return {
    id: keyedId('seed', 'payment', 'bench', userId, String(index)),
    version: 3,
    status: statusOf(index),
    createdAt: at,
    updatedAt: at,
    subtotalCents: totalCents,
    taxCents: 0,
    discountCents: 0,
    totalCents,
    currency: 'EUR',
    userId,
    userEmail: `${userId}@example.com`,
    providerId: 'provider_a',
    providerIntentId: `pi_3MtwBwLkdIwHu7ix${String(index).padStart(8, '0')}`,
    description: `Order ${String(index).padStart(6, '0')}${index % TERM_EVERY === 0 ? ` ${TERM}` : ' two tickets'}`,
    attempt: 1,
    cause: 'answer',
  };
};

const statusOf = (index: number): PaymentStatus => {
  if (index % RARE_EVERY === RARE_EVERY - 1) return RARE;
  return index % 5 === 0 ? 'failed' : index % 5 === 1 ? 'canceled' : 'succeeded';
};

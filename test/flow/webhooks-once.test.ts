import { afterEach, describe, expect, test } from 'vitest';
import type { Connection } from '../../shared/platform/connection.ts';
import { freePort } from '../builders/free-port.ts';
import { storeCustomers } from '../builders/many-customers.ts';
import { itemsOf } from './flow.ts';
import { withHost } from './host.ts';
import { deliveredTo, nodesAt } from './targets.ts';

/** The key prefixes of items that the table refuses to write, like a throttled table. */
const throttled = new Set<string>();
const THROTTLING = { name: 'ProvisionedThroughputExceededException' };
const between = (connection: Connection): Connection => ({
  ...connection,
  putItem: async (item, clauses) => {
    if ([...throttled].some((prefix) => String(item['pk']).startsWith(prefix))) {
      throw Object.assign(new Error('refused by a test'), THROTTLING);
    }
    return connection.putItem(item, clauses);
  },
});

const port = await freePort();
const service = withHost({ frozen: true, port, env: nodesAt(port, { target: {} }), between });
afterEach(() => throttled.clear());

const logged = async (customer: string | undefined) => {
  const entries = await itemsOf(service, 'LOG#');
  return entries
    .filter(({ payload }) => JSON.stringify(payload).includes(String(customer)))
    .map(({ attempt, status, response }) => [attempt, status, response.http_status])
    .toSorted();
};
const posts = async (customer: string | undefined): Promise<number> =>
  (await deliveredTo(service, 'target')).filter(({ raw }) => raw.includes(String(customer))).length;

describe('a table that refuses the log entry after the POST', () => {
  test('causes no second POST, and the log shows the success once the table is available', async () => {
    throttled.add('LOG#');
    const [customer] = await storeCustomers(service.host(), ['delivered']);
    await service.settle();
    expect(await posts(customer)).toBe(1);
    expect(await logged(customer)).toEqual([]);
    throttled.clear();
    await service.advance(60);
    expect(await logged(customer)).toEqual([[1, 'success', 200]]);
    expect(await posts(customer)).toBe(1);
    expect(await service.queues()).toMatchObject({
      'webhook-delivery': { visible: 0, delayed: 0, in_flight: 0 },
      'webhook-delivery-dlq': { visible: 0 },
    });
  });

  test('leaves the entry in the dead-letter queue, and a redrive writes the entry', async () => {
    throttled.add('LOG#');
    const [customer] = await storeCustomers(service.host(), ['long']);
    await service.advance(3_600);
    expect(await service.queues()).toMatchObject({ 'webhook-delivery-dlq': { visible: 1 } });
    throttled.clear();
    await service.redrive('webhook-delivery-dlq');
    await service.settle();
    expect(await logged(customer)).toEqual([[1, 'success', 200]]);
    expect(await posts(customer)).toBe(1);
  });

  test('does not delay the retry of a failed attempt', async () => {
    throttled.add('LOG#');
    await service.control('POST', '/sink/target/behaviour', { status: 500, times: 1 });
    const [customer] = await storeCustomers(service.host(), ['failed']);
    await service.settle();
    expect(await posts(customer)).toBe(1);
    await service.advance(5);
    expect(await posts(customer)).toBe(2);
    throttled.clear();
    await service.advance(60);
    expect(await logged(customer)).toEqual([
      [1, 'failed', 500],
      [2, 'success', 200],
    ]);
    expect(await posts(customer)).toBe(2);
  });
});

test('a table that refuses to store the delivery causes a retry before the POST', async () => {
  throttled.add('DLV#');
  const [customer] = await storeCustomers(service.host(), ['unsent']);
  await service.settle();
  expect(await posts(customer)).toBe(0);
  throttled.clear();
  await service.advance(600);
  expect(await posts(customer)).toBe(1);
  expect(await logged(customer)).toEqual([[2, 'success', 200]]);
});

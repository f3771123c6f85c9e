/** @module The wire protocol, tested with the AWS SDK. Both engines respond the same and count the same capacity. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onDynoxide } from '../../engine/engine-database.ts';
import { startTestHost, type TestHost } from '../host.ts';
import { ENGINES } from './engines.ts';

const KILOBYTE = 1_024;
const text = (kilobytes: number): string => 'x'.repeat(kilobytes * KILOBYTE);
const KEY = { pk: 'A', sk: 'X' };
const LISTED = { owner: 'O', sort: '1', f: { s: 'a' }, due: 'DUE#0', due_at: '2026-01-01' };
const TableName = 'payments';
const WITH_CAPACITY = { TableName, ReturnConsumedCapacity: 'INDEXES' } as const;

const names = { ExpressionAttributeNames: { '#v': 'version' } };
const isVersion = (version: number) => ({
  ConditionExpression: '#v = :v',
  ...names,
  ExpressionAttributeValues: { ':v': version },
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

type Step = readonly [name: string, send: (client: DynamoDBDocumentClient) => Promise<unknown>];
const STEPS: readonly Step[] = [
  ['put', (client) => client.send(new PutCommand({ ...WITH_CAPACITY, Item: { ...KEY, version: 1 } }))],
  [
    'put of 3 KB in two indexes',
    (client) =>
      client.send(new PutCommand({ ...WITH_CAPACITY, Item: { ...KEY, ...LISTED, version: 2, text: text(3) } })),
  ],
  [
    'put that changes nothing',
    (client) =>
      client.send(new PutCommand({ ...WITH_CAPACITY, Item: { ...KEY, ...LISTED, version: 2, text: text(3) } })),
  ],
  ['put that is refused', (client) => client.send(new PutCommand({ ...WITH_CAPACITY, Item: KEY, ...isVersion(1) }))],
  [
    'put that returns the previous item',
    (client) =>
      client.send(
        new PutCommand({
          ...WITH_CAPACITY,
          ReturnValues: 'ALL_OLD',
          Item: { ...KEY, ...LISTED, version: 2, text: text(2) },
        }),
      ),
  ],
  [
    'update of the list fields',
    (client) =>
      client.send(
        new UpdateCommand({
          ...WITH_CAPACITY,
          Key: KEY,
          UpdateExpression: 'SET f.s = :s ADD #v :one',
          ...names,
          ExpressionAttributeValues: { ':s': 'b', ':one': 1 },
          ReturnValues: 'ALL_NEW',
        }),
      ),
  ],
  [
    'update that moves an index row',
    (client) =>
      client.send(
        new UpdateCommand({
          ...WITH_CAPACITY,
          Key: KEY,
          UpdateExpression: 'SET due_at = :at',
          ExpressionAttributeValues: { ':at': '2026-01-02' },
        }),
      ),
  ],
  [
    'update that removes an index row',
    (client) => client.send(new UpdateCommand({ ...WITH_CAPACITY, Key: KEY, UpdateExpression: 'REMOVE due, due_at' })),
  ],
  ['get', (client) => client.send(new GetCommand({ ...WITH_CAPACITY, Key: KEY }))],
  ['consistent get', (client) => client.send(new GetCommand({ ...WITH_CAPACITY, Key: KEY, ConsistentRead: true }))],
  ['get of nothing', (client) => client.send(new GetCommand({ ...WITH_CAPACITY, Key: { pk: 'none', sk: 'X' } }))],
  [
    'batch of puts',
    (client) =>
      client.send(
        new BatchWriteCommand({
          ReturnConsumedCapacity: 'INDEXES',
          RequestItems: {
            [TableName]: [1, 2].map((n) => ({
              PutRequest: { Item: { pk: 'B', sk: `S#${n}`, ...LISTED, text: text(5) } },
            })),
          },
        }),
      ),
  ],
  [
    'batch of gets',
    (client) =>
      client.send(
        new BatchGetCommand({
          ReturnConsumedCapacity: 'INDEXES',
          RequestItems: { [TableName]: { Keys: [KEY, { pk: 'B', sk: 'S#1' }, { pk: 'none', sk: 'X' }] } },
        }),
      ),
  ],
  [
    'query of the table',
    (client) =>
      client.send(
        new QueryCommand({
          ...WITH_CAPACITY,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
          ExpressionAttributeValues: { ':pk': 'B', ':sk': 'S#' },
          ConsistentRead: true,
        }),
      ),
  ],
  [
    'query of an index',
    (client) =>
      client.send(
        new QueryCommand({
          ...WITH_CAPACITY,
          IndexName: 'owner',
          KeyConditionExpression: '#o = :o',
          FilterExpression: 'f.s = :s',
          ExpressionAttributeNames: { '#o': 'owner' },
          ExpressionAttributeValues: { ':o': 'O', ':s': 'a' },
        }),
      ),
  ],
  [
    'count of an index',
    (client) =>
      client.send(
        new QueryCommand({
          ...WITH_CAPACITY,
          IndexName: 'owner',
          Select: 'COUNT',
          KeyConditionExpression: '#o = :o',
          ExpressionAttributeNames: { '#o': 'owner' },
          ExpressionAttributeValues: { ':o': 'O' },
        }),
      ),
  ],
  [
    'query without a match',
    (client) =>
      client.send(
        new QueryCommand({
          ...WITH_CAPACITY,
          IndexName: 'due',
          KeyConditionExpression: 'due = :d',
          ExpressionAttributeValues: { ':d': 'DUE#9' },
        }),
      ),
  ],
  [
    'scan with a filter',
    (client) =>
      client.send(
        new ScanCommand({
          ...WITH_CAPACITY,
          FilterExpression: 'pk = :a AND (#v >= :one OR NOT attribute_exists(#v)) AND sk IN (:x, :y)',
          ...names,
          ExpressionAttributeValues: { ':a': 'A', ':one': 1, ':x': 'X', ':y': 'Y' },
        }),
      ),
  ],
  [
    'transaction',
    (client) =>
      client.send(
        new TransactWriteCommand({
          ReturnConsumedCapacity: 'INDEXES',
          TransactItems: [
            {
              Update: {
                TableName,
                Key: KEY,
                UpdateExpression: 'ADD #v :one',
                ...names,
                ExpressionAttributeValues: { ':one': 1 },
              },
            },
            { Put: { TableName, Item: { pk: 'C', sk: 'X', text: text(1) } } },
            { ConditionCheck: { TableName, Key: { pk: 'B', sk: 'S#1' }, ConditionExpression: 'attribute_exists(pk)' } },
          ],
        }),
      ),
  ],
  [
    'transaction that is refused',
    (client) =>
      client.send(
        new TransactWriteCommand({
          ReturnConsumedCapacity: 'INDEXES',
          TransactItems: [
            { Put: { TableName, Item: KEY, ...isVersion(1) } },
            { Delete: { TableName, Key: { pk: 'C', sk: 'X' } } },
          ],
        }),
      ),
  ],
  [
    'delete',
    (client) =>
      client.send(new DeleteCommand({ ...WITH_CAPACITY, Key: { pk: 'B', sk: 'S#1' }, ReturnValues: 'ALL_OLD' })),
  ],
  ['delete of nothing', (client) => client.send(new DeleteCommand({ ...WITH_CAPACITY, Key: { pk: 'B', sk: 'S#1' } }))],
  [
    'expression with a syntax error',
    (client) =>
      client.send(new DeleteCommand({ ...WITH_CAPACITY, Key: KEY, ConditionExpression: 'attribute_exists(pk' })),
  ],
  ['table that does not exist', (client) => client.send(new GetCommand({ TableName: 'other', Key: KEY }))],
];

/**
 * The fields that are not compared. Connection data and error texts differ between the engines. Dynoxide also repeats a
 * transaction's units under another name.
 */
const LEFT_OUT = ['$metadata', 'Message', 'WriteCapacityUnits'];
const answerOf = async (send: () => Promise<unknown>): Promise<unknown> => {
  try {
    return plain(await send());
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { CancellationReasons, Item } = error as { CancellationReasons?: object[]; Item?: unknown };
    return plain({ refused: error.name, CancellationReasons, Item });
  }
};
const plain = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (name, value) => (LEFT_OUT.includes(name) ? undefined : value));

describe('the wire protocol', () => {
  const hosts: TestHost[] = [];
  const clients: DynamoDBDocumentClient[] = [];
  beforeAll(async () => {
    for (const engine of ENGINES) {
      const service = await startTestHost({ ...(engine === 'dynoxide' && { openDatabase: onDynoxide }), frozen: true });
      hosts.push(service);
      const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
      const dynamo = new DynamoDBClient({ endpoint: service.host().dynamoEndpoint, region: 'local', credentials });
      clients.push(DynamoDBDocumentClient.from(dynamo));
      for (const { pk, sk } of (await service.host().connection.scan({ after: undefined, limit: 100 })).items) {
        await service.host().connection.deleteItem({ pk: String(pk), sk: String(sk) }, []);
      }
    }
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    for (const service of hosts) await service.stop();
  });

  // Sequential, because each request depends on the state left by the requests before it.
  test.each(STEPS)('matches the other engine’s response (%s), with the same capacity', async (_name, send) => {
    const [ours, theirs] = await Promise.all(clients.map((client) => answerOf(() => send(client))));
    expect(ours).toEqual(theirs);
  });
});

/** @module Checks a restored table's settings, because a restore on AWS omits several of them. */

import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type GlobalSecondaryIndexDescription,
  type KeySchemaElement,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../../shared/platform/keys.ts';
import { type Check, runCheck } from '../commands/checks.ts';
import type { Installation } from '../installation/installation.ts';

type Reader = Pick<Installation, 'dynamodb' | 'settings' | 'isLocal' | 'name'>;

export interface CheckedTable {
  readonly checks: readonly Check[];
  /** Undefined if the table has no stream or cannot be read. */
  readonly streamArn: string | undefined;
}

export const checkTable = async (reader: Reader): Promise<CheckedTable> => {
  const { dynamodb, settings, isLocal, name } = reader;
  const TableName = settings.TABLE_NAME;
  let table: TableDescription | undefined;
  const shape = await runCheck('table', async () => {
    table = (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table;
    const wrong = table ? mistakesOf(table) : ['it does not exist'];
    return verdict('table', wrong, `${TableName} is ACTIVE and has its keys and its ${TABLE.indexes.length} indexes`);
  });
  const stream = verdict('stream', streamMistakes(table), 'on, with new and old images');
  const streamArn = table?.LatestStreamArn;
  if (isLocal) return { checks: [shape, stream], streamArn };
  const checks = [
    shape,
    stream,
    await runCheck('expiry', async () => {
      const { TimeToLiveDescription: ttl } = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }));
      const isOn = TTL_ON.includes(ttl?.TimeToLiveStatus ?? '') && ttl?.AttributeName === TABLE.ttl;
      return verdict('expiry', isOn ? [] : [`TTL on the attribute ${TABLE.ttl} is off`], `TTL is on ${TABLE.ttl}`);
    }),
    await runCheck('backups', async () => {
      const { ContinuousBackupsDescription: backups } = await dynamodb.send(
        new DescribeContinuousBackupsCommand({ TableName }),
      );
      const status = backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
      return verdict(
        'backups',
        status === 'ENABLED' ? [] : ['point-in-time recovery is off'],
        'point-in-time recovery is on',
      );
    }),
    name === 'prod'
      ? verdict('protection', table?.DeletionProtectionEnabled ? [] : ['deletion protection is off'], 'on')
      : ({ check: 'protection', state: 'ok', detail: 'only prod needs it' } as const),
  ];
  return { checks, streamArn };
};

/** DynamoDB needs up to an hour to enable TTL. */
const TTL_ON: readonly string[] = ['ENABLED', 'ENABLING'];

export const verdict = (check: string, wrong: readonly string[], well: string): Check =>
  wrong.length === 0 ? { check, state: 'ok', detail: well } : { check, state: 'fail', detail: wrong.join('; ') };

const mistakesOf = (table: TableDescription): readonly string[] => [
  ...(table.TableStatus === 'ACTIVE' ? [] : [`it is ${table.TableStatus}`]),
  ...(hasKeys(table.KeySchema, TABLE.partitionKey, TABLE.sortKey) ? [] : ['its keys differ']),
  ...TABLE.indexes.flatMap((wanted) => {
    const found = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === wanted.name);
    return indexMistakes(wanted, found).map((mistake) => `index ${wanted.name} ${mistake}`);
  }),
];

const indexMistakes = (
  { partitionKey, sortKey, include }: (typeof TABLE.indexes)[number],
  found: GlobalSecondaryIndexDescription | undefined,
): readonly string[] => {
  if (!found) return ['is missing'];
  const { ProjectionType: type, NonKeyAttributes: others = [] } = found.Projection ?? {};
  const isSame =
    type === (include.length === 0 ? 'KEYS_ONLY' : 'INCLUDE') &&
    others.toSorted().join() === [...include].toSorted().join();
  return [
    ...(found.IndexStatus === 'ACTIVE' ? [] : [`is ${found.IndexStatus}`]),
    ...(hasKeys(found.KeySchema, partitionKey, sortKey) ? [] : ['has other keys']),
    ...(isSame ? [] : ['has other attributes']),
  ];
};

const hasKeys = (schema: readonly KeySchemaElement[] = [], partitionKey: string, sortKey: string): boolean =>
  schema
    .map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`)
    .toSorted()
    .join() === [`HASH ${partitionKey}`, `RANGE ${sortKey}`].join();

const streamMistakes = (table: TableDescription | undefined): readonly string[] => {
  const { StreamEnabled: isOn, StreamViewType: images } = table?.StreamSpecification ?? {};
  if (!isOn || table?.LatestStreamArn === undefined) return ['the table has no stream'];
  return images === 'NEW_AND_OLD_IMAGES' ? [] : [`the stream has ${images}, not both images`];
};

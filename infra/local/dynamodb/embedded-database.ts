import { epochSeconds, HOUR_MS } from '../../../shared/core/time.ts';
import { everyDueShard } from '../../../shared/platform/keys.ts';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import type { DataFolder } from '../machine/data-folder.ts';
import { ACCOUNT, REGION } from '../machine/environment.ts';
import { openEmbeddedTable } from '../table/embedded-table.ts';
import { wireOperations } from '../table-wire/wire.ts';
import { type Database, DUE_INDEX, earliest } from './database.ts';
import { createEmbeddedStream } from './embedded-stream.ts';

/** The table's file in the data folder. */
export const TABLE_FILE = 'table.db';
/** Items are deleted two days after they expire, because DynamoDB deletes an expired item within two days. */
const EXPIRED_SECONDS = 2 * 86_400;
const CLEAN_EVERY_MS = HOUR_MS;

export interface EmbeddedDatabaseOptions {
  readonly place: DataFolder;
  readonly tableName: string;
  readonly triggers: readonly StreamTrigger[];
  /** The URL of the host's AWS operations for other processes. */
  readonly endpoint: string;
}

/** @throws StartError if the folder holds data of another version. */
export const openEmbeddedDatabase = ({ place, tableName, triggers, endpoint }: EmbeddedDatabaseOptions): Database => {
  const recorded = new Set<string>(triggers.flatMap(({ sortKeys }) => sortKeys));
  const table = openEmbeddedTable({
    file: place.file(TABLE_FILE),
    isRecorded: (sortKey) => recorded.has(sortKey),
    onFailedWrite: place.onFailedWrite,
  });
  const clean = (): void => table.deleteExpired(epochSeconds(Date.now()) - EXPIRED_SECONDS);
  clean();
  const timer = setInterval(clean, CLEAN_EVERY_MS).unref();
  const arn = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${tableName}/stream/embedded`;
  return {
    endpoint,
    operations: wireOperations(table, { tableName, streamArn: arn }),
    stream: createEmbeddedStream(table, arn),
    earliestDue: async () => earliest(table.firstSortKeys(DUE_INDEX, everyDueShard)),
    connect: table.connect,
    close: () => {
      clearInterval(timer);
      table.close();
    },
  };
};

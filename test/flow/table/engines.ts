/** @module The table engines without a host. The clock is fixed at noon. Dynoxide is called through the AWS SDK. */

import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../../../infra/local/dynamodb/database.ts';
import { openEmbeddedDatabase } from '../../../infra/local/dynamodb/embedded-database.ts';
import { openDataFolder } from '../../../infra/local/machine/data-folder.ts';
import type { Connection } from '../../../shared/platform/connection.ts';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import { NOON } from '../../builders/payment.ts';
import { onDynoxide } from '../../engine/engine-database.ts';
import { STREAMED } from './sort-keys.ts';

export const ENGINES = ['embedded', 'dynoxide'] as const;
type EngineName = (typeof ENGINES)[number];

export const NOW_SECONDS = NOON / 1_000;

export interface TestTable {
  readonly database: Database;
  readonly connection: Connection;
}

const TRIGGER: StreamTrigger = {
  kind: 'stream',
  id: 'test.stream',
  summary: '',
  sortKeys: [STREAMED],
  batchSize: 100,
  batchesAtOnce: 1,
  uses: [],
  timeoutSeconds: 1,
  memoryMb: 256,
  impact: '',
};

/** Starts an engine with an empty table for a `describe` block or a file. */
export const withTable = (engine: EngineName): (() => TestTable) => {
  const closing: (() => unknown)[] = [];
  let opened: TestTable | undefined;
  beforeAll(async () => {
    const onClose = (step: () => unknown) => closing.push(step);
    const onLoss = (): void => undefined;
    const site = { tableName: 'payments', onLoss, onClose };
    const place = openDataFolder(':memory:', site);
    const database =
      engine === 'embedded'
        ? openEmbeddedDatabase({ ...site, place, triggers: [TRIGGER], endpoint: '' })
        : await onDynoxide({ ...site, place });
    onClose(database.close);
    opened = { database, connection: database.connect(() => NOON) };
  });
  afterAll(async () => {
    for (const step of closing.splice(0).reverse()) await step();
  });
  return () => {
    if (!opened) throw new Error('the table is open within tests only');
    return opened;
  };
};

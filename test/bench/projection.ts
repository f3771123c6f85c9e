import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBRecord } from 'aws-lambda';
import { openEmbeddedTable } from '../../infra/local/table/embedded-table.ts';
import { iso } from '../../shared/core/time.ts';
import { type Payment, paymentOf } from '../../shared/payments/payment.ts';
import { projectionOf, projectionSteps } from '../../shared/payments/payment-history.ts';
import { paymentItem } from '../../shared/payments/payment-store.ts';
import type { Connection } from '../../shared/platform/connection.ts';
import { changeOf } from '../../shared/platform/stream-images.ts';
import { openTable, type Table } from '../../shared/platform/table.ts';
import { writePaymentEntries } from '../../shared/queries/payment-entry.ts';
import { type ProjectDeps, projectChanges } from '../../shared/workers/project-changes.ts';
import { logLines } from '../builders/log-lines.ts';
import { NOON, payment } from '../builders/payment.ts';
import { streamRecord } from '../builders/stream-record.ts';
import { inRounds, median, medianRatio } from './median.ts';
import { say, sheet } from './sheet.ts';

/**
 * Compares the changes of payments per second that `project-changes` projects with one transaction per change, by
 * turns. Every request to the table takes 5 ms, about as long as a request to DynamoDB, so that the round trips of a
 * batch decide, not this machine. The last columns show the local host's table in a file.
 * @returns whether every batch keeps within its bound.
 */
export const benchProjection = async (): Promise<boolean> => {
  const rows: Row[] = [];
  for (const scenario of SCENARIOS) rows.push(await measured(scenario));
  sheet(
    [
      'a batch of 100 changes',
      'transactions',
      'before',
      'changes a second',
      'before',
      'ratio',
      'on the local host',
      'before',
      'ratio',
    ],
    rows.map(cellsOf),
  );
  const slow = rows.filter(
    ({ scenario, batched, ratio }) => batched.transactions > scenario.transactions || ratio < MIN_RATIO,
  );
  say(slow.length === 0 ? '\nAll keep within.' : `\nEXCEEDED: ${slow.map(({ scenario }) => scenario.name).join(', ')}`);
  return slow.length === 0;
};

const MIN_RATIO = 7;
const BATCH = 100;
const REQUEST_MS = 5;
/** Until all code has run often. */
const WARM = 20;
const ROUNDS = { least: 5, most: 15 } as const;

interface Scenario {
  readonly name: string;
  readonly ownerOf: (index: number) => string;
  /** The most transactions for a batch. */
  readonly transactions: number;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'of as many owners', ownerOf: (index) => `user_${index}`, transactions: 4 },
  { name: 'of ten owners', ownerOf: (index) => `user_${index % 10}`, transactions: 2 },
  { name: 'of one owner', ownerOf: () => 'user_1', transactions: 2 },
];

type Project = (deps: ProjectDeps, records: readonly DynamoDBRecord[]) => Promise<unknown>;

/** One transaction per change, for comparison. */
const oneByOne: Project = async ({ table }, records) => {
  const changed: Payment[] = [];
  for (const record of records) {
    const change = changeOf(record);
    if (!change) continue;
    const after = paymentOf(change.after);
    const projection = projectionOf(change.before && paymentOf(change.before), after);
    if (!projection) continue;
    await table.transact(projectionSteps([projection]));
    changed.push(after);
  }
  await writePaymentEntries(table, changed);
};

interface Figures {
  readonly transactions: number;
  readonly perSecond: number[];
  readonly local: number[];
}
interface Row {
  readonly scenario: Scenario;
  readonly batched: Figures;
  readonly before: Figures;
  readonly ratio: number;
}

const measured = async (scenario: Scenario): Promise<Row> => {
  const figures = async (project: Project): Promise<Figures> => ({
    transactions: await transactionsOf(project, recordsOf(scenario, 'counted')),
    perSecond: [],
    local: [],
  });
  const [batched, before] = [await figures(projectChanges), await figures(oneByOne)];
  for (let warm = 0; warm < WARM; warm += 1) await rate(projectChanges, recordsOf(scenario, `warm ${warm}`), 0);
  let round = 0;
  const ratio = (): number => medianRatio(batched.perSecond, before.perSecond);
  await inRounds(
    ROUNDS,
    async () => {
      round += 1;
      for (const [project, { perSecond, local }] of [
        [projectChanges, batched],
        [oneByOne, before],
      ] as const) {
        const records = recordsOf(scenario, `round ${round}`);
        perSecond.push(await rate(project, records, REQUEST_MS));
        local.push(await rate(project, records, 0));
      }
    },
    () => ratio() < MIN_RATIO,
  );
  return { scenario, batched, before, ratio: ratio() };
};

const recordsOf = ({ ownerOf }: Scenario, round: string): readonly DynamoDBRecord[] =>
  Array.from({ length: BATCH }, (_, index) => {
    const before = payment({ id: `pay_${round}_${index}`, userId: ownerOf(index), paymentMethodId: `pm_${index}` });
    const after: Payment = { ...before, status: 'succeeded', version: 2, completedAt: iso(NOON), cause: 'answer' };
    return streamRecord(index, paymentItem(before, NOON), paymentItem(after, NOON));
  });

const transactionsOf = async (project: Project, records: readonly DynamoDBRecord[]): Promise<number> => {
  let count = 0;
  await withTable(undefined, async (connection) => {
    const counted: Connection = {
      ...connection,
      transact: (steps) => {
        count += 1;
        return connection.transact(steps);
      },
    };
    await project(depsOf(counted), records);
  });
  return count;
};

const rate = async (project: Project, records: readonly DynamoDBRecord[], delayMs: number): Promise<number> => {
  let perSecond = 0;
  await withTable(delayMs === 0 ? 'table.db' : undefined, async (connection) => {
    const deps = depsOf(delayMs === 0 ? connection : delayed(connection, delayMs));
    const startedAt = performance.now();
    await project(deps, records);
    perSecond = (records.length * 1_000) / (performance.now() - startedAt);
  });
  return perSecond;
};

const depsOf = (connection: Connection): { readonly table: Table; readonly log: ProjectDeps['log'] } => ({
  table: openTable(connection, () => NOON),
  log: logLines().log,
});

/** Each request takes this long; concurrent requests wait together. */
const delayed = (connection: Connection, ms: number): Connection => {
  const wait = async <T>(request: Promise<T>): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return request;
  };
  return {
    ...connection,
    getBatch: (...given) => wait(connection.getBatch(...given)),
    putItem: (...given) => wait(connection.putItem(...given)),
    transact: (...given) => wait(connection.transact(...given)),
  };
};

/** @param file in its own folder; undefined for a table in memory */
const withTable = async (file: string | undefined, work: (connection: Connection) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-projection-'));
  const path = file === undefined ? ':memory:' : join(folder, file);
  const table = openEmbeddedTable({ file: path, isRecorded: () => false });
  try {
    await work(table.connect(() => NOON));
  } finally {
    table.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const cellsOf = ({ scenario, batched, before, ratio }: Row): readonly string[] => [
  scenario.name,
  String(batched.transactions),
  String(before.transactions),
  median(batched.perSecond).toFixed(0),
  median(before.perSecond).toFixed(0),
  ratio.toFixed(1),
  median(batched.local).toFixed(0),
  median(before.local).toFixed(0),
  medianRatio(batched.local, before.local).toFixed(1),
];

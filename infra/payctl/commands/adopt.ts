/** @module Imports the customers of another integration through the API, and writes a report. */

import { type ImportedRow, importAnswer } from '../../../shared/admin/import-requests.ts';
import type { ProviderSlot } from '../../../shared/core/settings.ts';
import {
  type AdoptionReport,
  type OwnerLine,
  openReport,
  readMap,
  readPriceProducts,
} from '../compare/adoption-files.ts';
import { type Api, ApiRefusal } from '../installation/api.ts';
import { columns, type Progress, progress, type Report } from './report.ts';

export interface AdoptOptions {
  readonly slot: ProviderSlot;
  readonly map: string;
  readonly products?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly overwriteMetadata?: boolean | undefined;
  readonly report?: string | undefined;
}

const ROWS_PER_CALL = 20;
/** The API accepts 30 calls per minute. */
const PAUSE_MS = 2_100;
const MOST_PAUSES = 60;
/** Maximum attempts per row, if the provider times out or is unavailable. */
const TRIES = 3;

/**
 * Requires the scope imports:write. A later run skips the customers that the report shows as fully imported. A dry run
 * skips no customer.
 */
export const adopt = async (api: Api, options: AdoptOptions): Promise<Report> => {
  const { slot, map, products, dryRun = false, overwriteMetadata = false } = options;
  const file = options.report ?? (dryRun ? 'adopt-dry-run.csv' : 'adopt-report.csv');
  const report = openReport(file, !dryRun);
  const lines = readMap(map);
  const left = lines.filter((line) => !report.isDone(line));
  const fields = {
    provider_id: slot,
    dry_run: dryRun,
    overwrite_metadata: overwriteMetadata,
    products: products === undefined ? {} : readPriceProducts(products),
  };
  const bar = progress('customers');
  bar.expect(left.length);
  const rows = await sendAll(api, left, { fields, report, bar });
  bar.stop();
  return reportAdoption(rows, { file, skipped: lines.length - left.length, dryRun });
};

interface Sending {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly report: AdoptionReport;
  readonly bar: Progress;
}

const sendAll = async (
  api: Api,
  lines: readonly OwnerLine[],
  { fields, report, bar }: Sending,
): Promise<readonly ImportedRow[]> => {
  const all: ImportedRow[] = [];
  for (let start = 0; start < lines.length; start += ROWS_PER_CALL) {
    const rows = await sendUntilReached(api, fields, lines.slice(start, start + ROWS_PER_CALL));
    report.add(rows);
    all.push(...rows);
    for (const _ of rows) bar.done();
  }
  return all;
};

const AGAIN: readonly (string | null)[] = ['not_reached', 'provider_unavailable'];

const sendUntilReached = async (
  api: Api,
  fields: Sending['fields'],
  lines: readonly OwnerLine[],
): Promise<readonly ImportedRow[]> => {
  let left = lines;
  const done: ImportedRow[] = [];
  for (let tries = 1; left.length > 0; tries += 1) {
    const rows = await send(api, { ...fields, rows: left });
    const isLast = tries === TRIES;
    const missed = isLast ? [] : rows.filter(({ records }) => records.some(({ reason }) => AGAIN.includes(reason)));
    done.push(...rows.filter((row) => !missed.includes(row)));
    left = missed.map(({ provider_customer_id, owner }) => ({ provider_customer_id, owner }));
  }
  return done;
};

/** Waits and retries while the API's rate limit refuses the call. */
const send = async (api: Api, body: unknown): Promise<readonly ImportedRow[]> => {
  for (let pauses = 0; ; pauses += 1) {
    try {
      const { data } = await api.post('/admin/imports', body);
      return importAnswer().parse(data).rows;
    } catch (error) {
      const isBusy = error instanceof ApiRefusal && error.code === 'RATE_LIMITED' && pauses < MOST_PAUSES;
      if (!isBusy) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
};

interface AdoptionFacts {
  readonly file: string;
  readonly skipped: number;
  readonly dryRun: boolean;
}

const reportAdoption = (rows: readonly ImportedRow[], { file, skipped, dryRun }: AdoptionFacts): Report => {
  const records = rows.flatMap((row) => row.records);
  const counts = { adopted: 0, known: 0, refused: 0, manual: 0 };
  const reasons = new Map<string, number>();
  for (const { outcome, kind, reason } of records) {
    counts[outcome] += 1;
    if (reason !== null)
      reasons.set(`${kind} ${outcome} ${reason}`, (reasons.get(`${kind} ${outcome} ${reason}`) ?? 0) + 1);
  }
  const needsAttention = counts.refused + counts.manual > 0;
  return {
    json: {
      dry_run: dryRun,
      customers: rows.length,
      skipped,
      counts,
      reasons: Object.fromEntries(reasons),
      report: file,
    },
    lines: [
      `${rows.length} customers${dryRun ? ', nothing was stored' : ''}${skipped > 0 ? `, ${skipped} were done before` : ''}`,
      ...columns(Object.entries(counts).map(([outcome, count]) => [outcome, String(count)])),
      ...columns([...reasons].toSorted().map(([reason, count]) => [`  ${reason}`, String(count)])),
      `report: ${file}`,
    ],
    exitCode: needsAttention ? 1 : 0,
  };
};

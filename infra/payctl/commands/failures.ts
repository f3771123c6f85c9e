import type { FailedChange } from '../installation/failure-store.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, progress, type Report } from './report.ts';

const MOST_SHOWN = 100;

export const listFailures = async ({ failures }: Installation): Promise<Report> => {
  const shown: FailedChange[] = [];
  let total = 0;
  for await (const id of failures.ids()) {
    total += 1;
    if (shown.length < MOST_SHOWN) shown.push(await failures.read(id));
  }
  const more = total > shown.length ? [`… and ${total - shown.length} more`] : [];
  return {
    json: {
      total,
      failures: shown.map(({ id, reader, failedAt, about }) => ({ id, reader, failed_at: failedAt, about })),
    },
    lines: [
      ...columns(shown.map(({ reader, failedAt, about }) => [failedAt, reader, describeItems(about)])),
      ...more,
      `${total} given up`,
    ],
    exitCode: total === 0 ? 0 : 1,
  };
};

const describeItems = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`;

export interface RedoOptions {
  readonly dryRun?: boolean | undefined;
}

/**
 * Sends each change to the same reader again. Repeats are harmless, because a repeated event keeps its id, and each
 * version of a record is counted once.
 */
export const redoFailures = async ({ failures }: Installation, { dryRun = false }: RedoOptions): Promise<Report> => {
  const counts = new Map<string, number>();
  const left: { readonly id: string; readonly reason: string }[] = [];
  const bar = progress('failures');
  try {
    for await (const id of failures.ids()) {
      bar.expect(1);
      const { reader } = await failures.read(id);
      const reason = dryRun ? undefined : await failures.redo(id);
      if (reason === undefined) counts.set(reader, (counts.get(reader) ?? 0) + 1);
      else left.push({ id, reason });
      bar.done();
    }
  } finally {
    bar.stop();
  }
  const byReader = [...counts].toSorted();
  const count = byReader.reduce((sum, [, number]) => sum + number, 0);
  return {
    json: { dry_run: dryRun, count, by_reader: Object.fromEntries(byReader), left },
    lines: [
      ...columns(byReader.map(([reader, number]) => [reader, String(number)])),
      ...columns(left.map(({ id, reason }) => [id, `remains: ${reason}`])),
      dryRun ? `${count} would be retried` : `${count} done, ${left.length} remain`,
    ],
    exitCode: left.length === 0 ? 0 : 1,
  };
};

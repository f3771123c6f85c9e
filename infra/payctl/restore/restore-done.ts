/** @module Ends a restore: the restored table becomes a table of its own, and its due work runs. */

import { acceptCopy, originalOf } from '../../../shared/platform/copied-table.ts';
import type { Report } from '../commands/report.ts';
import type { Installation } from '../installation/installation.ts';
import { type RestoreCheckOptions, restoreCheck } from './restore-check.ts';

interface RestoreDoneOptions extends RestoreCheckOptions {
  /** Accepts the table although a check fails. */
  readonly anyway?: boolean | undefined;
}

export const restoreDone = async (installation: Installation, options: RestoreDoneOptions): Promise<Report> => {
  const named = { table: installation.deps.table, tableName: installation.settings.TABLE_NAME };
  const original = await originalOf(named);
  if (original === undefined)
    return reportOf(false, [`${named.tableName} is not a restored table whose due work is held`]);
  const { lines, exitCode } = await restoreCheck(installation, options);
  if (exitCode !== 0 && options.anyway !== true) {
    return {
      ...reportOf(false, [...lines, `${named.tableName} stays held; --anyway accepts it as it is`]),
      exitCode: 1,
    };
  }
  await acceptCopy(named);
  return reportOf(true, [
    ...lines,
    `${named.tableName}, a copy of ${original}, is accepted; its due work runs once it is on`,
  ]);
};

const reportOf = (accepted: boolean, lines: readonly string[]): Report => ({ json: { accepted }, lines, exitCode: 0 });

/** @module Ends a restore. The restored table stops counting as a copy, and its due work runs. */

import { acceptCopy, originalOf } from '../../../shared/platform/copied-table.ts';
import type { Report } from '../commands/report.ts';
import type { Installation } from '../installation/installation.ts';
import { type RestoreCheckOptions, restoreCheck } from './restore-check.ts';

interface RestoreDoneOptions extends RestoreCheckOptions {
  /** Accepts the table despite failed checks. */
  readonly anyway?: boolean | undefined;
}

/**
 * Runs the restore check, also for a table without held due work. Such a table needs no acceptance, so the exit code is
 * the exit code of the check.
 */
export const restoreDone = async (installation: Installation, options: RestoreDoneOptions): Promise<Report> => {
  const named = { table: installation.deps.table, tableName: installation.settings.TABLE_NAME };
  const original = await originalOf(named);
  const { json, lines, exitCode } = await restoreCheck(installation, options);
  if (original === undefined) {
    const line = `${named.tableName} is not a restored table whose due work is held, so there is nothing to accept`;
    return { json: { accepted: false, check: json }, lines: [...lines, line], exitCode };
  }
  const accepted = exitCode === 0 || options.anyway === true;
  if (accepted) await acceptCopy(named);
  const line = accepted
    ? `${named.tableName}, a copy of ${original}, is accepted; its due work runs once it is on`
    : `${named.tableName} stays held; --anyway accepts it as it is`;
  return { json: { accepted, check: json }, lines: [...lines, line], exitCode: accepted ? 0 : 1 };
};

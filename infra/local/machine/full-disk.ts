/**
 * @module Detects a full disk. The host then ends, because it cannot store what it would confirm. All confirmed writes
 * are on disk, so the next start continues from there.
 */

import * as z from 'zod';

const CODES = ['ENOSPC', 'EDQUOT'] as const;
/** SQLITE_FULL; see sqlite.org/rescode.html. */
const SQLITE_FULL = 13;

const full = z.union([z.object({ code: z.enum(CODES) }), z.object({ errcode: z.literal(SQLITE_FULL) })]);

export const isFullDisk = (error: unknown): boolean => full.safeParse(error).success;

/** Called for every failed write to the data folder. */
export type OnFailedWrite = (error: unknown) => void;

export const fullDiskLine = (path: string): string =>
  `DATA_DIR: the disk of ${path} is full; free some space and start again, or set another DATA_DIR`;

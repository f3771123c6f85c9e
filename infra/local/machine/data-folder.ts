import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fullDiskLine, isFullDisk, type OnFailedWrite } from './full-disk.ts';
import { checkOwn, HELD, isHeld, openState, type State } from './sqlite.ts';
import { StartError } from './start-error.ts';

/** The folder in which a host keeps its data. */
export interface DataFolder {
  /** True for a temporary folder, created on first use and removed when the host stops. */
  readonly temporary: boolean;
  readonly folder: string;
  readonly state: State;
  /** The path of this SQLite file, or `:memory:`. */
  file(name: string): string;
  readonly onFailedWrite?: OnFailedWrite;
}

const MEMORY = ':memory:';
const SHARED_MEMORY = '/dev/shm';
const ROOM_BYTES = 2 ** 30;

const STATE_FILE = 'host.db';
/** The databases with a host's data. The state file is not listed, because it exists even without data. */
const DATA_FILES = ['table.db', 'simulator.db', 'dynamodb.db'];
/** For each database file, a table that only a host creates. A file without this table is never deleted. */
const OWN_TABLES = [
  ['table.db', 'shape'],
  ['simulator.db', 'idempotency'],
  ['dynamodb.db', '_stream_records'],
  [STATE_FILE, 'kept'],
] as const;
/** Suffixes of a database file and of SQLite's files next to it. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];
/** The changes that a stream consumer gave up on. */
const FAILURES = 'failures';
const FAILURES_ENDING = '.jsonl';
/** Marker file of a folder with incomplete first data or unfinished clearing. */
const UNFINISHED = 'unfinished';

/** True if the folder does not contain a host's data yet. */
export const isNewFolder = (dataDir: string): boolean =>
  dataDir === MEMORY || DATA_FILES.every((file) => !existsSync(join(resolve(dataDir), file)));

/** True if a host stopped while it created the first data. The data are incomplete and include no outside request. */
export const isUnfinished = (dataDir: string): boolean =>
  dataDir !== MEMORY && existsSync(join(resolve(dataDir), UNFINISHED));

/**
 * Marks the data as incomplete until `finish`. Call it only for a locked folder without data, because the next start
 * deletes the data of a marked folder.
 * @throws StartError if the folder has data already, or the mark cannot be written.
 */
export const begin = (dataDir: string): void => {
  if (dataDir === MEMORY) return;
  if (!isNewFolder(dataDir)) {
    throw new StartError('another local host has just created data in this DATA_DIR; start again');
  }
  mark(resolve(dataDir));
};

/** Marks the data as complete, so later starts keep them. */
export const finish = (dataDir: string): void => {
  if (dataDir !== MEMORY) rmSync(join(resolve(dataDir), UNFINISHED), { force: true });
};

/**
 * Removes a host's files from the folder, and nothing else. After an interrupted removal, the mark makes the next start
 * clear the rest.
 * @throws StartError if a host uses the folder or a file is not a host's. Nothing is removed then.
 */
export const clearDataFolder = (dataDir: string): void => {
  const folder = resolve(dataDir);
  const exists = (name: string): boolean => existsSync(join(folder, name));
  if (dataDir === MEMORY || ![...DATA_FILES, STATE_FILE, FAILURES, UNFINISHED].some(exists)) return;
  for (const [file, table] of OWN_TABLES) {
    if (exists(file)) checkOwn(join(folder, file), table);
  }
  if (exists(STATE_FILE) && isHeld(join(folder, STATE_FILE))) throw new StartError(HELD);
  mark(folder);
  clearFailures(join(folder, FAILURES));
  // Remove the state file last, because it is the lock.
  for (const file of [...DATA_FILES, STATE_FILE]) {
    for (const suffix of SUFFIXES) rmSync(join(folder, `${file}${suffix}`), { force: true });
  }
  finish(dataDir);
};

const clearFailures = (folder: string): void => {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (name.endsWith(FAILURES_ENDING)) rmSync(join(folder, name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
};

const mark = (folder: string): void => {
  const path = join(folder, UNFINISHED);
  try {
    writeFileSync(path, '');
  } catch (error) {
    throw unusable(path, error);
  }
};

/**
 * @param onLoss gets a line for the operator when the folder's disk is full
 * @throws StartError if the folder cannot be created or another host uses it.
 */
export const openDataFolder = (
  dataDir: string,
  { onClose, onLoss }: { readonly onClose: (step: () => unknown) => void; readonly onLoss: (line: string) => void },
): DataFolder => {
  const temporary = dataDir === MEMORY;
  const folder = temporary ? join(temporaryFolder(), `payments-${randomUUID()}`) : makeFolder(resolve(dataDir));
  if (temporary) onClose(() => rm(folder, { recursive: true, force: true }));
  const file = (name: string): string => (temporary ? MEMORY : join(folder, name));
  const onFailedWrite: OnFailedWrite = (error) => {
    if (isFullDisk(error)) onLoss(fullDiskLine(folder));
  };
  const state = openState(file(STATE_FILE), onFailedWrite);
  onClose(state.close);
  return { temporary, folder, state, file, onFailedWrite };
};

/** Uses shared memory, unless TMPDIR names another folder or shared memory is too small, as in many containers. */
const temporaryFolder = (): string => {
  const usual = tmpdir();
  if (usual !== '/tmp') return usual;
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize < ROOM_BYTES ? usual : SHARED_MEMORY;
  } catch {
    return usual;
  }
};

const makeFolder = (folder: string): string => {
  try {
    // Avoid `recursive`, because Node would then retry forever under /proc.
    for (const each of missingFolders(folder)) mkdirSync(each);
    return folder;
  } catch (error) {
    throw unusable(folder, error);
  }
};

/** The missing folders on the path, outermost first. */
const missingFolders = (folder: string): readonly string[] => {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...missingFolders(parent), folder];
};

const unusable = (path: string, error: unknown): StartError => {
  const reason = error instanceof Error ? error.message : error;
  return new StartError(
    isFullDisk(error) ? fullDiskLine(path) : `DATA_DIR: ${path} cannot be created: ${reason}`,
    error,
  );
};

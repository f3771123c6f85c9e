import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { HELD, isHeld, openState, type State } from './sqlite.ts';
import { StartError } from './start-error.ts';

/** Where a host keeps its data. */
export interface DataFolder {
  /** The folder is made when it is first needed, and removed when the host stops. */
  readonly temporary: boolean;
  readonly folder: string;
  readonly state: State;
  /** The path of a SQLite file of that name, or `:memory:`. */
  file(name: string): string;
}

const MEMORY = ':memory:';
const SHARED_MEMORY = '/dev/shm';
const ROOM_BYTES = 2 ** 30;

const STATE_FILE = 'host.db';
/** What a host keeps: SQLite's files, with those beside them, and the changes that a stream reader gave up. */
const KEPT = [STATE_FILE, 'table.db', 'simulator.db', 'dynamodb.db'].flatMap((file) =>
  ['', '-wal', '-shm', '-journal'].map((suffix) => `${file}${suffix}`),
);
const FAILURES = 'failures';
/** Exists while the first data of a folder are made. */
const UNFINISHED = 'unfinished';

/** True if no host has kept data there yet. */
export const isNewFolder = (dataDir: string): boolean =>
  dataDir === MEMORY || !existsSync(join(resolve(dataDir), STATE_FILE));

/** True if a host stopped while it made the first data: they are incomplete, and no request from outside was served. */
export const isUnfinished = (dataDir: string): boolean =>
  dataDir !== MEMORY && existsSync(join(resolve(dataDir), UNFINISHED));

/** Marks the data as incomplete until `finish`. @throws StartError where the folder cannot be created. */
export const begin = (dataDir: string): { readonly finish: () => void } => {
  if (dataDir === MEMORY) return { finish: () => undefined };
  const mark = join(makeFolder(resolve(dataDir)), UNFINISHED);
  try {
    writeFileSync(mark, '');
  } catch (error) {
    throw unusable(mark, error);
  }
  return { finish: () => rmSync(mark, { force: true }) };
};

/** Removes what a host has kept there, and nothing else. @throws StartError where a host uses the folder. */
export const clearDataFolder = (dataDir: string): void => {
  if (isNewFolder(dataDir)) return;
  const folder = resolve(dataDir);
  if (isHeld(join(folder, STATE_FILE))) throw new StartError(HELD);
  for (const file of KEPT) rmSync(join(folder, file), { force: true });
  rmSync(join(folder, FAILURES), { recursive: true, force: true });
};

/** @throws StartError where the folder cannot be created, or another host uses it. */
export const openDataFolder = (dataDir: string, onClose: (step: () => unknown) => void): DataFolder => {
  const temporary = dataDir === MEMORY;
  const folder = temporary ? join(temporaryFolder(), `payments-${randomUUID()}`) : makeFolder(resolve(dataDir));
  if (temporary) onClose(() => rm(folder, { recursive: true, force: true }));
  const file = (name: string): string => (temporary ? MEMORY : join(folder, name));
  const state = openState(file(STATE_FILE));
  onClose(state.close);
  return { temporary, folder, state, file };
};

/** In memory, unless TMPDIR names a folder or shared memory has no room, as in many containers. */
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
    // Not by `recursive`: under /proc, Node then tries forever.
    for (const each of missingFolders(folder)) mkdirSync(each);
    return folder;
  } catch (error) {
    throw unusable(folder, error);
  }
};

/** The folders to create, outermost first. */
const missingFolders = (folder: string): readonly string[] => {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...missingFolders(parent), folder];
};

const unusable = (path: string, error: unknown): StartError =>
  new StartError(`DATA_DIR: ${path} cannot be created: ${error instanceof Error ? error.message : error}`, error);

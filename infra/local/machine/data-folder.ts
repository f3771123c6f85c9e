import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openState, type State } from './sqlite.ts';
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

/** True if no host has kept data there yet. */
export const isNewFolder = (dataDir: string): boolean =>
  dataDir === MEMORY || !existsSync(join(resolve(dataDir), STATE_FILE));

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
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch (error) {
    throw new StartError(
      `DATA_DIR ${folder} cannot be created: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
};

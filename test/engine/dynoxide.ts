/**
 * @module dynoxide is a DynamoDB engine from another project. It runs as a child process of the host, with its own
 * file, and ends with the host.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface Engine {
  readonly endpoint: string;
  /** Keeps writes with a stream fast for any number of records. The table's stream must already exist. */
  indexStreamRecords(): void;
  /** A number that changes with every write; cheap to read. */
  writeMark(): number;
  /** The first sort key of each given partition of an index. Far cheaper than one query per partition. */
  firstSortKeys(
    index: { readonly table: string; readonly index: string },
    partitions: readonly string[],
  ): readonly string[];
  stop(): Promise<void>;
}

export interface EngineOptions {
  readonly folder: string;
  /** True if the folder is removed when the engine ends. */
  readonly temporary: boolean;
  /** Called if the engine ends unexpectedly. */
  readonly onLoss: (line: string) => void;
}

const ENGINE_FILE = 'dynamodb.db';
const PORT_TRIES = 5;
/** The engine's messages for a file that a retry cannot open either. */
const NO_DATABASE = /not a valid SQLite database|unable to open database/;
const START_TIMEOUT_MS = 10_000;
/** The engine's prefix of a string key. */
const TEXT = 'S:';

/**
 * Runs the engine as a child of a shell. The shell's standard input closes however the host ends. The shell then stops
 * the engine and removes a temporary folder. The shell prints nothing, because its standard error may be closed by
 * then.
 */
const GUARD = `
exec 3<&0 4>&2 2>/dev/null
"$ENGINE" --port "$PORT" --db-path "$FILE" 2>&4 3<&- 4>&- </dev/null &
engine=$!
exec 4>&-
{ read -r _ <&3; kill "$engine" 2>/dev/null; } &
wait "$engine"
code=$?
if [ -n "$TEMPORARY" ]; then rm -rf "$TEMPORARY"; fi
exit "$code"`;

/** @throws if this platform has no engine, or the engine does not start */
export const startEngine = async (options: EngineOptions): Promise<Engine> => {
  const binary = findBinary();
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    // Needed for a new temporary folder, and after a failed try has removed the folder.
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const file = join(options.folder, ENGINE_FILE);
    const child = spawn('/bin/sh', ['-c', GUARD], {
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        ENGINE: binary,
        PORT: String(port),
        FILE: file,
        TEMPORARY: options.temporary ? options.folder : '',
      },
      stdio: ['pipe', 'ignore', 'pipe'],
      // A separate process group, because Ctrl-C must reach only the host, which stops the engine last.
      detached: true,
    });
    const failure = await becomesReady(child);
    if (failure === undefined) return runningEngine(child, { port, file, onLoss: options.onLoss });
    // A retry helps if another process has taken the port in the meantime.
    if (tries === PORT_TRIES || NO_DATABASE.test(failure)) {
      throw new Error(`the DynamoDB engine does not start with ${file}: ${failure}`);
    }
  }
};

const findBinary = (): string => {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')), 'dynoxide');
  } catch (error) {
    throw new Error(`dynoxide has no binary for ${process.platform} ${process.arch}`, { cause: error });
  }
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = addressOf(server.address());
      server.close(() => resolve(port));
    });
  });

const addressOf = (address: AddressInfo | string | null): AddressInfo => {
  if (address === null || typeof address === 'string') throw new Error('a TCP address was expected');
  return address;
};

/** @returns the failure; undefined once the engine listens */
const becomesReady = (child: ChildProcess): Promise<string | undefined> =>
  new Promise((resolve) => {
    let said = '';
    const end = (failure: string | undefined) => {
      clearTimeout(timer);
      child.stderr?.removeAllListeners('data');
      child.removeAllListeners();
      // Keeps reading further output, which would otherwise fill up the pipe.
      child.stderr?.resume();
      if (failure !== undefined) child.stdin?.destroy();
      resolve(failure);
    };
    const timer = setTimeout(() => end(`no response within ${START_TIMEOUT_MS / 1_000} s`), START_TIMEOUT_MS);
    child.on('error', (error) => end(error.message));
    child.on('exit', () => end(said.trim().split('\n').at(-1) || 'it ends immediately'));
    child.stderr?.on('data', (text: Buffer) => {
      said += text.toString('utf8');
      if (said.includes('listening on')) end(undefined);
    });
  });

const runningEngine = (
  child: ChildProcess,
  { port, file, onLoss }: { readonly port: number; readonly file: string; readonly onLoss: (line: string) => void },
): Engine => {
  let stopping = false;
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => {
      if (!stopping) onLoss('the DynamoDB engine has ended');
      resolve();
    });
  });
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 5000');
  const version = database.prepare('PRAGMA data_version');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    indexStreamRecords: () =>
      database.exec(
        'CREATE INDEX IF NOT EXISTS stream_records_by_position ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
      ),
    writeMark: () => Number(version.get()?.['data_version']),
    firstSortKeys: ({ table, index }, partitions) => {
      const first = database.prepare(`SELECT min(gsi_sk) AS first FROM "${table}::gsi::${index}" WHERE gsi_pk = ?`);
      return partitions.flatMap((partition) => {
        const key = first.get(`${TEXT}${partition}`)?.['first'];
        return typeof key === 'string' ? [key.slice(TEXT.length)] : [];
      });
    },
    stop: async () => {
      stopping = true;
      database.close();
      child.stdin?.end();
      await ended;
    },
  };
};

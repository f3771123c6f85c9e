import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import pg from 'pg';
import { freePort } from '../../builders/free-port.ts';

/** Debian's PostgreSQL with its own defaults, in a folder of its own, on this machine alone. */
export interface Postgres {
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

/** @returns undefined if PostgreSQL is not installed. */
export const startPostgres = async (): Promise<Postgres | undefined> => {
  const programs = programsFolder();
  if (programs === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'payments-postgres-'));
  const as = await ownUser(folder);
  const run = { ...as, cwd: folder, stdio: 'ignore' as const };
  const port = await freePort();
  execFileSync(join(programs, 'initdb'), ['-D', `${folder}/data`, '-U', 'bench', '-A', 'trust'], run);
  const options = ['-D', `${folder}/data`, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  const server = spawn(join(programs, 'postgres'), options, run);
  const ended = once(server, 'exit');
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  const version = await versionOnce(url);
  return {
    url,
    version,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const DEBIAN = '/usr/lib/postgresql';

/** The folder of the newest version. */
const programsFolder = (): string | undefined => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(DEBIAN, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
};

/** PostgreSQL refuses to run as root; it then runs as its Debian user. */
const ownUser = async (folder: string): Promise<{ readonly uid?: number; readonly gid?: number }> => {
  if (getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  return { uid, gid };
};

const TRIES = 100;

const versionOnce = async (url: string): Promise<string> => {
  for (let tries = 1; ; tries += 1) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      return rows[0]?.server_version ?? '';
    } catch (error) {
      if (tries >= TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
};

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { freePort } from '../../builders/free-port.ts';

/** Debian's PostgreSQL with default settings, in a separate folder, reachable only from this machine. */
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
  await accepts(programs, port);
  return {
    url,
    version: versionOf(programs),
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const DEBIAN = '/usr/lib/postgresql';

/** The folder of the newest installed version. */
const programsFolder = (): string | undefined => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(DEBIAN, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
};

/** PostgreSQL refuses to run as root. For root, uses Debian's `postgres` user. */
const ownUser = async (folder: string): Promise<{ readonly uid?: number; readonly gid?: number }> => {
  if (getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  return { uid, gid };
};

const TRIES = 100;

/** @throws if PostgreSQL does not accept connections in time */
const accepts = async (programs: string, port: number): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    const { status } = spawnSync(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]);
    if (status === 0) return;
    if (tries >= TRIES) throw new Error('PostgreSQL does not accept connections');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

/** The version of the installed PostgreSQL, such as 15.18. */
const versionOf = (programs: string): string =>
  execFileSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' }).match(/[\d.]+/)?.[0] ?? '';

/** @module Helpers for restore tests. The providers' ledger is a separate file and is not restored. */

import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { confirm, createIntent, read, signIn, type User } from './flow.ts';
import { startTestHost, type TestHost, type TestHostOptions } from './host.ts';

const TABLE_FILES = ['table.db', 'table.db-wal', 'table.db-shm'];

export interface RestoreDrill {
  /** The running host. */
  readonly service: () => TestHost;
  /** Copies the data folder, and restarts the host. */
  readonly copy: () => Promise<void>;
  /** Restores only the table from the copy, and restarts the host with these settings. */
  readonly restore: (env?: TestHostOptions['env']) => Promise<void>;
  readonly restart: (env?: TestHostOptions['env']) => Promise<void>;
  readonly end: () => Promise<void>;
}

export const startRestorable = async (options: Omit<TestHostOptions, 'dataDir'> = {}): Promise<RestoreDrill> => {
  const folder = await mkdtemp(join(tmpdir(), 'restore-'));
  const [dataDir, copyDir] = [join(folder, 'data'), join(folder, 'copy')];
  const start = (env: TestHostOptions['env'] = {}): Promise<TestHost> =>
    startTestHost({ ...options, dataDir, env: { ...options.env, ...env } });
  let service = await start();
  const between = async (work: () => Promise<void>, env?: TestHostOptions['env']): Promise<void> => {
    await service.stop();
    await work();
    service = await start(env);
  };
  return {
    service: () => service,
    copy: () => between(() => cp(dataDir, copyDir, { recursive: true })),
    restore: (env) =>
      between(async () => {
        for (const file of TABLE_FILES) {
          await rm(join(dataDir, file), { force: true });
          await cp(join(copyDir, file), join(dataDir, file)).catch(() => undefined);
        }
      }, env),
    restart: (env) => between(async () => undefined, env),
    end: async () => {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Creates and confirms a payment. @returns the payment as its user reads it */
export const payAt = async (
  service: TestHost,
  user: User,
  {
    paying: [provider, method],
    ...fields
  }: { readonly paying: readonly [string, string]; readonly total_cents?: number; readonly description?: string },
) => {
  const intent = await createIntent(service, user, { provider_id: provider, payment_method_id: method, ...fields });
  await confirm(service, intent.id, user.options);
  await service.settle();
  return read(service, intent.id, user.options);
};

export const signInForYear = (service: TestHost): Promise<User> => signIn(service, { expires_in: 366 * 86_400 });

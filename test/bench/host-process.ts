import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { startHost } from '../../infra/local/host/host.ts';
import { onDynoxide, onEngineAt } from '../engine/engine-database.ts';
import { ready, type StartedProcess, settingsOfProcess, startProcess } from './processes.ts';

/**
 * The whole service on one machine, in its own process, with its data in a file. The setting TABLE_ENGINE names another
 * engine for the table: DYNOXIDE, or the URL of an engine that runs already.
 */
export const DYNOXIDE = 'dynoxide';

const saidSchema = z.object({ baseUrl: z.string(), env: z.record(z.string(), z.string()) });
export type HostProcess = z.infer<typeof saidSchema> & Pick<StartedProcess, 'stop'>;

export const startHostProcess = async (settings: Readonly<Record<string, string>> = {}): Promise<HostProcess> => {
  const { said, stop } = await startProcess(import.meta.filename, settings);
  return { ...saidSchema.parse(said), stop };
};

/** The provider's webhooks would be work for one side of a comparison only. */
export const dropProviderEvents = async ({ baseUrl }: HostProcess): Promise<void> => {
  await fetch(`${baseUrl}/_local/simulator/webhooks`, { method: 'POST', body: JSON.stringify({ mode: 'drop' }) });
};

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  const { TABLE_ENGINE: engine, ...env } = settingsOfProcess();
  const openDatabase = engine === DYNOXIDE ? onDynoxide : engine && onEngineAt(engine);
  const host = await startHost({ dataDir, env, ...(openDatabase && { openDatabase }) });
  await host.warm();
  ready({ baseUrl: host.baseUrl, env: host.env }, async () => {
    await host.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
};

if (import.meta.main) await main();

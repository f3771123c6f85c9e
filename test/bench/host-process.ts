/**
 * @module Runs the whole service in its own process on this machine, with its data in a file. The setting TABLE_ENGINE
 * selects the table engine: DYNOXIDE, or the URL of a running engine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { startHost } from '../../infra/local/host/host.ts';
import { onDynoxide, onEngineAt } from '../engine/engine-database.ts';
import { ready, type StartedProcess, settingsOfProcess, startProcess } from './processes.ts';

export const DYNOXIDE = 'dynoxide';

const saidSchema = z.object({ baseUrl: z.string(), env: z.record(z.string(), z.string()) });
export type HostProcess = z.infer<typeof saidSchema> & Pick<StartedProcess, 'stop'>;

export const startHostProcess = async (settings: Readonly<Record<string, string>> = {}): Promise<HostProcess> => {
  const { said, stop } = await startProcess(import.meta.filename, settings);
  return { ...saidSchema.parse(said), stop };
};

/** Drops the provider's webhooks, because they would cause work on only one side of a comparison. */
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder for the files of stack tests. It is removed after the run. */
    infraFolder: string;
  }
}

export const setup = (project: TestProject): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-infra-'));
  project.provide('infraFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
};

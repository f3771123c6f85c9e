import { defineConfig } from 'vitest/config';

const SECOND_MS = 1_000;

interface More {
  readonly include?: string[];
  readonly globalSetup?: string;
  readonly provide?: { readonly scale: number };
}

const project = (name: string, testTimeout: number, more: More = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: 2 * testTimeout, ...more },
});

/** Files share their processes, one after another in each: what a file starts (a flow test a whole host), it stops. */
export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    // To load the CDK, or the service, takes longer than most tests.
    isolate: false,
    // One more than the cores that are counted on: there is always one that waits for an answer.
    maxWorkers: 3,
    restoreMocks: true,
    projects: [
      project('unit', 10 * SECOND_MS),
      project('flow', 30 * SECOND_MS, { provide: { scale: 1 } }),
      // What flow tests do with a part of the load: no part of `npm test`.
      project('long', 600 * SECOND_MS, { include: ['test/flow/**/*-scale.test.ts'], provide: { scale: 10 } }),
      project('contract', 30 * SECOND_MS),
      project('infra', 30 * SECOND_MS, { globalSetup: 'test/infra/temporary.ts' }),
    ],
  },
});

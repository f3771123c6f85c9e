import { defineConfig } from 'vitest/config';

const SECOND_MS = 1_000;

interface More {
  readonly include?: string[];
  readonly globalSetup?: string;
  readonly provide?: { readonly scale: number };
}

/** Does more with `npm run test:long` than with `npm test`. */
const SCALED = [
  'test/flow/**/*-scale.test.ts',
  'test/flow/**/*-stopped.test.ts',
  'test/flow/organizations-deletion.test.ts',
  'test/flow/organizations-races.test.ts',
  'test/unit/**/*-laws.test.ts',
];

/**
 * A time limit is ten times what the slowest test under it takes on a quiet machine: it ends a test that hangs, and says
 * nothing about speed.
 */
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
    // With V8's default young generation, a fifth of a flow test's processor time is garbage collection.
    execArgv: ['--max-semi-space-size=64'],
    // One more than the cores that are counted on: there is always one that waits for an answer.
    maxWorkers: 3,
    restoreMocks: true,
    projects: [
      project('unit', 60 * SECOND_MS, { provide: { scale: 1 } }),
      project('flow', 120 * SECOND_MS, { provide: { scale: 1 } }),
      // The whole load, of which `npm test` takes a part.
      project('long', 600 * SECOND_MS, { include: SCALED, provide: { scale: 10 } }),
      project('contract', 60 * SECOND_MS),
      project('infra', 120 * SECOND_MS, { globalSetup: 'test/infra/temporary.ts' }),
    ],
  },
});

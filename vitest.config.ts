import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SECOND_MS = 1_000;
const BROWSER = 'test/browser/install.ts';
const INFRA = 'test/infra/temporary.ts';

interface More {
  readonly include?: string[];
  readonly exclude?: string[];
  readonly globalSetup?: string | string[];
  readonly provide?: { readonly scale: number };
  readonly sequence?: { readonly groupOrder: number };
}

/** Tests of rare faults, long sequences, the browser and whole processes run with `npm run test:long` only. */
const LONG = 'test/**/*.long.test.ts';

/** Tests that run their full load with `npm run test:long` and a part of it with `npm test`. */
const SCALED = [
  'test/flow/authorization-matrix.test.ts',
  'test/flow/**/*-scale.test.ts',
  'test/flow/**/*-stopped.test.ts',
  'test/simulation/simulation.test.ts',
];

const LONGEST = ['test/flow/holds-captures.test.ts', 'test/flow/authorization-matrix.test.ts'];

const isLongest = ({ moduleId }: TestSpecification): boolean => LONGEST.some((file) => moduleId.endsWith(file));

/** Starts the longest tests first, because by default a long test may start late and run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

/** `testTimeout` stops hanging tests. It is ten times the duration of the slowest test on an idle machine. */
const project = (name: string, testTimeout: number, more: More = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: 2 * testTimeout, ...more },
});

/** Several test files run one after another in one process, so a file must stop what it starts (a flow test: a host). */
export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    // Loading the CDK or the service takes longer than most tests.
    isolate: false,
    // Three workers for two cores, because tests often wait. Each worker imports the whole service.
    maxWorkers: 3,
    restoreMocks: true,
    sequence: { sequencer: LongestFirst },
    projects: [
      project('unit', 60 * SECOND_MS, { exclude: [LONG], provide: { scale: 1 } }),
      project('flow', 120 * SECOND_MS, { exclude: [LONG], provide: { scale: 1 } }),
      project('long', 1_800 * SECOND_MS, {
        include: [LONG, ...SCALED],
        globalSetup: [BROWSER, INFRA],
        provide: { scale: 10 },
      }),
      project('shots', 300 * SECOND_MS, { globalSetup: BROWSER }),
      project('contract', 60 * SECOND_MS, { exclude: [LONG] }),
      // Runs after all other tests, because its processes use both cores.
      project('simulation', 120 * SECOND_MS, {
        exclude: [LONG],
        provide: { scale: 1 },
        sequence: { groupOrder: 1 },
      }),
      project('infra', 120 * SECOND_MS, { exclude: [LONG], globalSetup: INFRA }),
    ],
  },
});

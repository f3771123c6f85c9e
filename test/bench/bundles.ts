import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpoints } from '../../functions/api/catalogue.ts';
import { type Bundle, build, DEFAULT_ID } from '../../infra/deploy/build.ts';
import { say, sheet } from './sheet.ts';

/**
 * Measures the sizes of the deployed functions, and checks that read-only functions contain no adapters and senders.
 * @returns whether all functions are within budget
 */
export const benchBundles = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-bench-'));
  try {
    const bundles = await build(folder);
    print(bundles);
    const problems = bundles.flatMap((bundle) => problemsOf(bundle).map((problem) => `${bundle.id}: ${problem}`));
    say(
      problems.length === 0 ? `\nAll ${bundles.length} functions keep within.` : `\nEXCEEDED\n${problems.join('\n')}`,
    );
    return problems.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const LARGEST_BYTES = 896 * 1_024;
/** The maximum KB that these functions load at their start, because a user waits for their cold start. */
const LARGEST_STARTS: ReadonlyMap<string, number> = new Map([
  ['payments.get', 500],
  ['payments.create-intent', 515],
  ['payments.confirm', 530],
  [DEFAULT_ID, 26],
]);
/** Provider adapters and senders, which a read-only function must not contain. */
const NOT_FOR_READERS = /^(stripe|braintree|shared\/providers|@aws-sdk\/client-(sqs|eventbridge))$/;

/**
 * In bytes. If a bundle contains at most this much of a module, it contains only the module's constants, for schemas.
 */
const CONSTANTS = 1_024;

const readers: ReadonlySet<string> = new Set(endpoints.filter(({ method }) => method === 'GET').map(({ id }) => id));

/** The bundle's size plus the size of its largest loadable adapter. */
const loadedBytes = ({ bytes, adapters }: Bundle): number => bytes + Math.max(0, ...adapters.values());

const problemsOf = (bundle: Bundle): readonly string[] => {
  const bytes = loadedBytes(bundle);
  const idle = readers.has(bundle.id)
    ? [...bundle.parts, ...bundle.adapters].filter(([part, size]) => NOT_FOR_READERS.test(part) && size > CONSTANTS)
    : [];
  const start = LARGEST_STARTS.get(bundle.id) ?? Number.POSITIVE_INFINITY;
  return [
    ...(bundle.bytes > start * 1_024 ? [`${kilobytes(bundle.bytes)} KB at its start, at most ${start} may be`] : []),
    ...(bytes > LARGEST_BYTES ? [`${bytes} bytes, at most ${LARGEST_BYTES} may be`] : []),
    ...idle.map(([part]) => `only reads, and holds ${part}`),
  ];
};

const LARGEST_PARTS = 3;

const print = (bundles: readonly Bundle[]): void => {
  say(
    `Bundles in KB (1,024 bytes), at most ${LARGEST_BYTES / 1_024} with the largest adapter that is loaded beside them\n`,
  );
  sheet(
    ['function', 'KB', 'adapters', '', 'largest parts'],
    bundles.map((bundle) => [
      bundle.id,
      kilobytes(bundle.bytes),
      [...bundle.adapters].map(([name, bytes]) => `${name} ${kilobytes(bytes)}`).join(', '),
      problemsOf(bundle).length > 0 ? 'EXCEEDED' : readers.has(bundle.id) ? 'reads' : '',
      [...bundle.parts]
        .slice(0, LARGEST_PARTS)
        .map(([part, bytes]) => `${part} ${kilobytes(bytes)}`)
        .join(', '),
    ]),
  );
};

const kilobytes = (bytes: number): string => (bytes / 1_024).toFixed(1);

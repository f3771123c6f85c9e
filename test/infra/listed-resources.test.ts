import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { synthesize } from './synthesized.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The maximum of CloudFormation's unpaged DescribeStackResources. */
const MOST_DESCRIBED = 100;

/** The stacks whose resources `payctl` describes. */
const DESCRIBED_BY_CODE: readonly string[] = ['data'];

/** The name parts of the stacks whose resources the commands in this text describe. */
const describedIn = (text: string): readonly string[] =>
  [...text.matchAll(/describe-stack-resources --stack-name "?payments-[^-\s"]+-(?<part>[a-z-]+)/g)].flatMap(
    ({ groups }) => groups?.['part'] ?? [],
  );

describe('a stack that payctl or a documented command describes', () => {
  const { resources } = synthesize();
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).map((page) => readFileSync(join(ROOT, page), 'utf8'));
  const described = new Set([...DESCRIBED_BY_CODE, ...pages.flatMap(describedIn)]);

  test.each([...described])('has no more resources than CloudFormation lists on one page (%s)', (part) => {
    const count = resources.filter(({ stack }) => stack === `payments-dev-${part}`).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(MOST_DESCRIBED);
  });
});

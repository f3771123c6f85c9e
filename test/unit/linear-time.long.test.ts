/**
 * @module Text from a caller or a provider is read in time linear in its length, so that a long word cannot stop the
 * service. The expressions are analyzed, not timed. `npm run bench -- hostile` measures the readers.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { checkSync } from 'recheck';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { meansSecret } from '../../shared/access/service-key.ts';
import { withoutEmails } from '../../shared/core/person-fields.ts';
import { redact } from '../../shared/core/redaction.ts';
import { normalizedEmail } from '../../shared/core/text.ts';
import { MAX_BODY_BYTES } from '../../shared/http/parse.ts';
import { hostileTexts } from '../builders/hostile-text.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface Literal {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

const nodesOf = (node: ts.Node): readonly ts.Node[] => {
  const inner: ts.Node[] = [];
  node.forEachChild((child) => {
    inner.push(child, ...nodesOf(child));
  });
  return inner;
};

const files = ['shared', 'functions', 'infra/local'].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: ROOT }).map((name) => ({
    name,
    nodes: nodesOf(ts.createSourceFile(name, readFileSync(join(ROOT, name), 'utf8'), ts.ScriptTarget.Latest, true)),
  })),
);

const literals: readonly Literal[] = files.flatMap(({ name, nodes }) =>
  nodes.filter(ts.isRegularExpressionLiteral).map(({ text }): Literal => {
    const end = text.lastIndexOf('/');
    return { where: name, source: text.slice(1, end), flags: text.slice(end + 1) };
  }),
);

/** Files that build expressions at run time, but only from our own id format and routes. */
const MADE_LATER = ['shared/core/ids.ts', 'functions/api/default.ts'];

const makesExpression = (node: ts.Node): boolean =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';

/** No time limits, because the verdict must not depend on how busy the machine is. */
const NO_TIMEOUT = { timeout: null, seedingTimeout: null, incubationTimeout: null, attackTimeout: null } as const;

/**
 * The automaton is exact, but supports no lookaround and no back reference. Expressions with a lookaround or a back
 * reference are attacked with the same texts in every run.
 */
const verdictOn = (source: string, flags: string): string => {
  const exact = checkSync(source, flags, { ...NO_TIMEOUT, checker: 'automaton' });
  const attacked = () => checkSync(source, flags, { ...NO_TIMEOUT, checker: 'fuzz', randomSeed: 1 });
  const verdict = exact.status === 'unknown' ? attacked() : exact;
  return verdict.status === 'vulnerable' ? `vulnerable: ${verdict.complexity.summary}` : verdict.status;
};

describe('the analysis of an expression', () => {
  test.each(['^(a|a)*$', '(a+)+$', '\\s+$', '[^@\\s]+@[^@\\s]+\\.x', '(?=a*)a*a*b'])(
    'finds that %s can take more than linear time',
    (source) => {
      expect(verdictOn(source, 'u')).toContain('vulnerable');
    },
  );
});

describe('every regular expression', () => {
  test('is a literal, so that this test can read it', () => {
    expect(literals.length).toBeGreaterThan(80);
    const makers = files.filter(({ nodes }) => nodes.some(makesExpression)).map(({ name }) => name);
    expect(makers.filter((name) => !MADE_LATER.includes(name))).toEqual([]);
  });

  const byFile = Object.entries(Object.groupBy(literals, ({ where }) => where));

  test.each(byFile)('takes linear time in %s', (_, found = []) => {
    const slow = found.map(({ source, flags }) => [source, verdictOn(source, flags)] as const);
    expect(slow.filter(([, verdict]) => verdict !== 'safe')).toEqual([]);
  });
});

/** The shortest of several runs, because other processes slow some runs down. */
const millisecondsOf = (work: () => unknown): number =>
  Math.min(
    ...[0, 1, 2].map(() => {
      const startedAt = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(startedAt);
      return (user + system) / 1_000;
    }),
  );

describe('250 KB of text', () => {
  const MOST_MS = 50;
  const texts = [
    ...hostileTexts(250_000),
    { name: 'marks behind a letter', text: `a${'\u0323\u0301'.repeat(125_000)}` },
    { name: 'runs of 250 marks', text: `a${'\u0323\u0301'.repeat(125)}`.repeat(1_000) },
  ];

  test.each(texts)('are compared without regard to case within 50 ms: $name', ({ text }) => {
    expect(millisecondsOf(() => normalizedEmail(text))).toBeLessThan(MOST_MS);
  });

  test.each(texts)('are searched for an e-mail address within 50 ms: $name', ({ text }) => {
    expect(millisecondsOf(() => withoutEmails(text, ['ada@example.com']))).toBeLessThan(MOST_MS);
  });

  test.each(texts)('are read as a credential within 50 ms: $name', ({ text }) => {
    expect(millisecondsOf(() => meansSecret(text))).toBeLessThan(MOST_MS);
  });
});

/** The former expressions, which agree with the current redaction for texts of any length. */
const FORMER: readonly (readonly [RegExp, string])[] = [
  [/(_secret_|[?&][\w-]*(?:secret|token|key|password)[\w-]*=)[^&\s"]+/gi, '$1[redacted]'],
  [/([^\s@"<>()[\],;:\\])[^\s@"<>()[\],;:\\]*@([^\s@"'<>()[\],;:\\]+\.[^\s@"'<>()[\],;:\\]+)/gu, '$1***@$2'],
];

test('the linear-time redaction has the same results as the former expressions', () => {
  const pieces = fc.constantFrom(
    ...[
      'a',
      '.',
      '@',
      "'",
      ' ',
      '?',
      '&',
      '=',
      '_secret_',
      'token',
      'key',
      'secret',
      '-',
      '"',
      ':',
      '😀',
      'b.c',
      'x@y.z',
    ],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      expect(redact(text)).toBe(FORMER.reduce((redacted, [found, put]) => redacted.replace(found, put), text));
    }),
    { numRuns: 5_000 },
  );
});

test('the redaction covers the maximum size of a body', () => {
  const address = 'ada.lovelace@example.com';
  const text = JSON.stringify(redact({ note: `${'x'.repeat(2_000)} ${address}`, long: 'x'.repeat(MAX_BODY_BYTES) }));
  expect(text).not.toContain('lovelace');
});

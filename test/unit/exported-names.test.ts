import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Excludes the browser pages, which are separate bundles, and the benchmarks' peers, which are separate programs. */
const FILES = globSync('{shared,functions,infra,test}/**/*.ts', {
  cwd: ROOT,
  exclude: ['**/node_modules', 'functions/console/web', 'functions/pay-page/web', 'test/bench/peers'],
});

/** The export names that Lambda and vitest require. */
const EXPECTED_EXPORTS = ['handler', 'setup'];

/** Steps of flow tests. Each step sends the request for the use case with the same name. */
const STEPS: readonly string[] = [
  'addMember',
  'capture',
  'createAddress',
  'createCustomer',
  'createIntent',
  'createKey',
  'newOrganization',
  'refund',
  'release',
  'removeMember',
  'requestErasure',
  'revokeKey',
  'rotateKey',
  'saveMethod',
];

const declaredNames = (statement: ts.Statement): readonly string[] => {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (!isExported) return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(boundNames);
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
};

const boundNames = ({ name }: ts.VariableDeclaration | ts.BindingElement): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element) : []));

const exportedNames = (path: string): readonly string[] => {
  const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap(declaredNames).filter((name) => !EXPECTED_EXPORTS.includes(name));
};

test('each exported name is defined in one file only', () => {
  const homes = new Map<string, Set<string>>();
  for (const path of FILES) {
    for (const name of exportedNames(path)) {
      const named = path.startsWith('test/flow/') && STEPS.includes(name) ? `step ${name}` : name;
      homes.set(named, (homes.get(named) ?? new Set()).add(path));
    }
  }
  const twice = [...homes].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, ...paths].join(' '));
  expect(homes.size).toBeGreaterThan(1000);
  expect(twice.toSorted()).toEqual([]);
  expect(STEPS.filter((name) => !homes.has(name) || !homes.has(`step ${name}`))).toEqual([]);
});

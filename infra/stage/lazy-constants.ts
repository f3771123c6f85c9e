import { dirname, resolve } from 'node:path';
import ts from 'typescript';

/**
 * Turns the computed constants of a module into functions that compute them at their first use, so that a function's start
 * builds no schema, table or endpoint that the request does not need, and a bundle holds none that it never uses. Sound,
 * because a module of the service does nothing when it is loaded but compute its constants. Every line keeps its number, so
 * that source maps stay true.
 */
export const LAZILY = {
  module: 'lazily',
  source: `export const lazily = (make) => {
    let isMade = false;
    let made;
    return () => {
      if (!isMade) {
        made = make();
        isMade = true;
      }
      return made;
    };
  };`,
} as const;

/** @param exportsOf the lazy constants that another module of the service exports, by the module's path. */
export const withLazyConstants = (
  path: string,
  source: string,
  exportsOf: (path: string) => ReadonlySet<string>,
): string => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const declared = lazyDeclarations(file);
  const lazy = new Set([...declared.map(({ name }) => name.text), ...lazyImports(file, exportsOf)]);
  if (lazy.size === 0) return source;
  const reads: Edit[] = [];
  const visit = (node: ts.Node): void => {
    if (isErased(node) || ts.isImportDeclaration(node)) return;
    if (ts.isIdentifier(node) && lazy.has(node.text) && isRead(node) && !isShadowed(node)) {
      reads.push({
        at: node.getEnd(),
        text: ts.isShorthandPropertyAssignment(node.parent) ? `: ${node.text}()` : '()',
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  const wrappers = declared.flatMap(({ initializer }) => [
    { at: initializer.getStart(), text: `/* @__PURE__ */ ${HELPER}(() => (` },
    { at: initializer.getEnd(), text: '))' },
  ]);
  const helper = declared.length > 0 ? `import { lazily as ${HELPER} } from '${LAZILY.module}'; ` : '';
  return helper + edited(source, [...reads, ...wrappers]);
};

/** The exported constants of a module that `withLazyConstants` turns into functions. */
export const lazyExports = (path: string, source: string): ReadonlySet<string> => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  return new Set(lazyDeclarations(file).flatMap(({ name, isExported }) => (isExported ? [name.text] : [])));
};

const HELPER = 'lazily$';
/** Lambda reads this export itself. */
const ENTRY = 'handler';

interface Edit {
  readonly at: number;
  readonly text: string;
}

/** Of two edits at one place, the earlier stands first. */
const edited = (source: string, edits: readonly Edit[]): string =>
  edits
    .map((edit, order) => ({ ...edit, order }))
    .toSorted((one, other) => other.at - one.at || other.order - one.order)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source);

interface LazyDeclaration {
  readonly name: ts.Identifier;
  readonly initializer: ts.Expression;
  readonly isExported: boolean;
}

const lazyDeclarations = (file: ts.SourceFile): readonly LazyDeclaration[] =>
  file.statements.filter(ts.isVariableStatement).flatMap((statement) => {
    const { declarations, flags } = statement.declarationList;
    if ((flags & ts.NodeFlags.Const) === 0) return [];
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
    return declarations.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && name.text !== ENTRY && initializer && isComputed(initializer)
        ? [{ name, initializer, isExported }]
        : [],
    );
  });

/** Something runs when the module is loaded, and nothing is awaited. */
const isComputed = (value: ts.Expression): boolean => {
  let isRun = false;
  let isAwaited = false;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) || isErased(node)) return;
    isRun ||= RUNS.has(node.kind) || (ts.isIdentifier(node) && isRead(node));
    isAwaited ||= ts.isAwaitExpression(node);
    ts.forEachChild(node, visit);
  };
  visit(value);
  return isRun && !isAwaited;
};

const RUNS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.CallExpression,
  ts.SyntaxKind.NewExpression,
  ts.SyntaxKind.TaggedTemplateExpression,
]);

const lazyImports = (file: ts.SourceFile, exportsOf: (path: string) => ReadonlySet<string>): readonly string[] =>
  file.statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    const bindings = importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings) || !ts.isStringLiteral(moduleSpecifier)) return [];
    if (!moduleSpecifier.text.startsWith('.')) return [];
    const lazy = exportsOf(resolve(dirname(file.fileName), moduleSpecifier.text));
    return bindings.elements
      .filter(({ propertyName, name }) => lazy.has((propertyName ?? name).text))
      .map(({ name }) => name.text);
  });

const isErased = (node: ts.Node): boolean =>
  ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);

/** The identifier is an expression: no name of a declaration, a property or a member. */
const isRead = (node: ts.Identifier): boolean => {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  const isName = 'name' in parent && parent.name === node;
  const isPropertyName = 'propertyName' in parent && parent.propertyName === node;
  return !isName && !isPropertyName;
};

/** A parameter or a variable of a function has the same name. */
const isShadowed = (node: ts.Identifier): boolean => {
  for (let scope: ts.Node = node.parent; !ts.isSourceFile(scope); scope = scope.parent) {
    if (namesOfScope(scope).has(node.text)) return true;
  }
  return false;
};

const scopes = new WeakMap<ts.Node, ReadonlySet<string>>();
const namesOfScope = (scope: ts.Node): ReadonlySet<string> => {
  const known = scopes.get(scope);
  if (known) return known;
  const names = new Set<string>();
  const add = (name: ts.BindingName): void => {
    if (ts.isIdentifier(name)) names.add(name.text);
    else for (const element of name.elements) if (ts.isBindingElement(element)) add(element.name);
  };
  const addAll = (list: ts.Node | undefined): void => {
    if (list && ts.isVariableDeclarationList(list)) for (const { name } of list.declarations) add(name);
  };
  if (ts.isFunctionLike(scope)) for (const { name } of scope.parameters) add(name);
  if (ts.isForStatement(scope) || ts.isForOfStatement(scope) || ts.isForInStatement(scope)) addAll(scope.initializer);
  if (ts.isCatchClause(scope) && scope.variableDeclaration) add(scope.variableDeclaration.name);
  if (ts.isBlock(scope) || ts.isCaseOrDefaultClause(scope)) {
    for (const statement of scope.statements) if (ts.isVariableStatement(statement)) addAll(statement.declarationList);
  }
  scopes.set(scope, names);
  return names;
};

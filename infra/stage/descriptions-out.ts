import ts from 'typescript';

/** Properties of an endpoint's declaration that only the document and the tools of the developer read. */
const DOCUMENTED: ReadonlySet<string> = new Set(['summary', 'description', 'accepted', 'meta', 'beside', 'response']);

/**
 * The source without what only the API document shows: the calls `.describe(…)`, `.meta({…})` and
 * `.register(z.globalRegistry, {…})` of schemas, and the texts and responses of endpoint declarations. So they cost neither
 * bytes nor time at a function's start. The document itself is made before the bundles (`document-made.ts`). Every line
 * keeps its number, so that source maps stay true.
 */
export const withoutDescriptions = (source: string): string => {
  const cuts: Cut[] = [];
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (isDescription(node)) {
      cuts.push({ from: node.expression.expression.getEnd(), to: node.getEnd() });
      visit(node.expression.expression);
      return;
    }
    if (isDocumented(node)) {
      const [comma = ''] = /^\s*,/.exec(source.slice(node.getEnd())) ?? [];
      cuts.push({ from: node.getStart(), to: node.getEnd() + comma.length });
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return cuts
    .toSorted((one, other) => other.from - one.from)
    .reduce((text, { from, to }) => text.slice(0, from) + linesOf(text.slice(from, to)) + text.slice(to), source);
};

interface Cut {
  readonly from: number;
  readonly to: number;
}

type MethodCall = ts.CallExpression & { readonly expression: ts.PropertyAccessExpression };

const isDescription = (node: ts.Node): node is MethodCall => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const [first, second] = node.arguments;
  switch (node.expression.name.text) {
    case 'describe':
    case 'meta':
      return first !== undefined && second === undefined;
    case 'register':
      return first?.getText() === 'z.globalRegistry' && second !== undefined;
    default:
      return false;
  }
};

/** A property of the object that `endpoint(…)` is called with. */
const isDocumented = (node: ts.Node): boolean =>
  ts.isPropertyAssignment(node) &&
  DOCUMENTED.has(node.name.getText()) &&
  ts.isCallExpression(node.parent.parent) &&
  node.parent.parent.arguments[0] === node.parent &&
  node.parent.parent.expression.getText() === 'endpoint';

const linesOf = (text: string): string => text.replaceAll(/[^\n]/g, '');

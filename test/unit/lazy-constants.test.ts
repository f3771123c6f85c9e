import { describe, expect, test } from 'vitest';
import { lazyExports, withLazyConstants } from '../../infra/stage/lazy-constants.ts';

const none = (): ReadonlySet<string> => new Set();
const HELPER = "import { lazily as lazily$ } from 'lazily'; ";
const made = (value: string): string => `/* @__PURE__ */ lazily$(() => (${value}))`;

describe('the constants of a bundle', () => {
  test.each([
    ['const a = z.string();', `${HELPER}const a = ${made('z.string()')};`],
    ['export const a = new Set([1]);', `${HELPER}export const a = ${made('new Set([1])')};`],
    ['const a = f(); const b = a;', `${HELPER}const a = ${made('f()')}; const b = ${made('a()')};`],
    ['const a = f(); g(a.b, { a, c: a });', `${HELPER}const a = ${made('f()')}; g(a().b, { a: a(), c: a() });`],
    [
      'const a = f(); type A = typeof a; g<typeof a>(a);',
      `${HELPER}const a = ${made('f()')}; type A = typeof a; g<typeof a>(a());`,
    ],
  ])('%s becomes %s', (source, expected) => {
    expect(withLazyConstants('/x.ts', source, none)).toBe(expected);
  });

  test.each([
    'const a = 1; let b = f(); const c = () => g(b);',
    "const a = 'text'; const b = { c: 1, d: [2] };",
    'export const handler = (event) => event;',
    'const a = await f();',
  ])('stay eager if they need no computing at load: %s', (source) => {
    expect(withLazyConstants('/x.ts', source, none)).toBe(source);
  });

  test.each([
    'const g = (a) => a + 1;',
    'const g = ({ a }) => a;',
    'const g = ({ b: [a] }) => a;',
    'const g = () => { const a = 1; return a; };',
    'const g = (all) => { for (const a of all) h(a); };',
    'const g = (x) => x.a({ a: 1 });',
  ])('do not change another variable or member of the same name: %s', (use) => {
    const source = `const a = f(); ${use}`;
    expect(withLazyConstants('/x.ts', source, none)).toBe(`${HELPER}const a = ${made('f()')}; ${use}`);
  });

  test('are read as the exporting module exports them', () => {
    const source = "import { a, b as c, d } from './y.ts';\nconst g = () => a + c + d;";
    const exportsOf = (path: string) => new Set(path === '/y.ts' ? ['a', 'b'] : []);
    expect(withLazyConstants('/x.ts', source, exportsOf)).toBe(
      "import { a, b as c, d } from './y.ts';\nconst g = () => a() + c() + d;",
    );
    expect(
      lazyExports('/y.ts', 'export const a = f(); export const b = g(); export const d = 1; const e = f();'),
    ).toEqual(new Set(['a', 'b']));
  });

  test('keep the export that Lambda reads', () => {
    const source = "import { spec } from './y.ts';\nexport const handler = lambda(spec);";
    expect(withLazyConstants('/x.ts', source, () => new Set(['spec']))).toBe(
      "import { spec } from './y.ts';\nexport const handler = lambda(spec());",
    );
  });
});

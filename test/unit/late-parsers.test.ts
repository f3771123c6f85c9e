import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { LATE_PARSE, lateParsers, withLateParsers } from '../../infra/stage/late-parsers.ts';

const bundledSchema = async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import * as z from 'zod';
        export const schema = z.strictObject({
          a: z.string().min(2), b: z.int().default(3), c: z.array(z.object({ d: z.iso.date().optional() })),
        });`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'cjs',
    write: false,
    plugins: [lateParsers],
  });
  const counted = { compiled: 0 };
  const module: { exports: { schema?: z.ZodType } } = { exports: {} };
  const CountedFunction = new Proxy(Function, {
    construct: (target, args: string[]) => {
      counted.compiled += 1;
      return Reflect.construct(target, args);
    },
  });
  new Function('module', 'Function', outputFiles[0]?.text ?? '')(module, CountedFunction);
  return { schema: module.exports.schema as z.ZodType, counted };
};

const SAMPLES: readonly unknown[] = [
  { a: 'ab', c: [] },
  { a: 'ab', b: 1, c: [{ d: '2026-01-31' }] },
  { a: 'a', b: 1.5, c: [{ d: 'x' }, 1], e: true },
  { b: undefined, c: undefined },
  [],
  null,
];

test('a bundle parses the same values before and after it compiles a parser', async () => {
  const { schema, counted } = await bundledSchema();
  const results = Array.from({ length: LATE_PARSE + 2 }, () => {
    const parsed = SAMPLES.map((sample) => schema.safeParse(sample));
    return JSON.stringify(parsed.map(({ data, error }) => data ?? error?.issues));
  });
  expect(counted.compiled).toBeGreaterThan(0);
  expect(new Set(results).size).toBe(1);
});

test('a bundle compiles no parser before the late parse', async () => {
  const { schema, counted } = await bundledSchema();
  const compiledAfter = Array.from({ length: LATE_PARSE }, () => {
    schema.parse({ a: 'ab', c: [{}] });
    return counted.compiled > 1;
  });
  expect(compiledAfter).toEqual(Array.from({ length: LATE_PARSE }, (_, parse) => parse === LATE_PARSE - 1));
});

test('an unexpected source of zod is refused', () => {
  const source = readFileSync(
    createRequire(import.meta.url)
      .resolve('zod/v4/core')
      .replace('index.cjs', 'schemas.js'),
    'utf8',
  );
  expect(withLateParsers(source)).not.toBe(source);
  expect(() => withLateParsers(source.replaceAll('jitless', 'other'))).toThrow('ctx.jitless');
  expect(() => withLateParsers('')).toThrow('let fastpass');
});

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { REFERENCES } from '../../shared/catalog/catalog-kinds.ts';
import { metadataSchema } from '../../shared/http/fields.ts';
import { checkKey } from '../../shared/http/idempotency.ts';
import { requireReadable } from '../../shared/http/json-body.ts';
import { MAX_HEADER_CHARACTERS } from '../../shared/http/parse.ts';
import { chainOf, HOSTILE_PLACES } from '../builders/hostile-requests.ts';
import { hostileTexts } from '../builders/hostile-text.ts';
import { refusalOf } from '../builders/refusal.ts';

/**
 * A bound is checked before any work whose cost depends on the input's length. `npm run bench -- hostile` measures the
 * processor time of the same requests.
 */
type Schema = z.core.$ZodType;

const checksOf = (schema: z.ZodString): readonly string[] =>
  (schema.def.checks ?? []).map((check) => check._zod.def.check);

/** Kinds of schemas whose work does not depend on the length of the input. */
const PLAIN = [z.ZodEnum, z.ZodLiteral, z.ZodNumber, z.ZodBoolean, z.ZodNever, z.ZodUnknown];

/** The problems of the strings, lists and objects of a schema, by their paths. */
const unboundedIn = (schema: Schema, path: string): readonly string[] => {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, field]) => unboundedIn(field, `${path}.${name}`));
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return unboundedIn(schema._zod.def.innerType, path);
  }
  if (schema instanceof z.ZodPipe) return unboundedInPipe(schema, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => unboundedIn(option, path));
  if (schema instanceof z.ZodString) {
    const [first = 'no bound'] = checksOf(schema);
    return first === 'max_length' ? [] : [`${path}: ${first}`];
  }
  return PLAIN.some((kind) => schema instanceof kind) ? [] : [`${path}: ${schema._zod.def.type} without a bound`];
};

/** Lists and records must be bounded before they are read. The members of a record are any JSON of the caller. */
const unboundedInPipe = (pipe: z.ZodPipe, path: string): readonly string[] => {
  const { in: first, out } = pipe._zod.def;
  if (!(first instanceof z.ZodTransform)) return unboundedIn(first, path);
  if (!isBound(pipe)) return [`${path}: a transform before the bound`];
  if (out instanceof z.ZodRecord) return unboundedIn(out._zod.def.keyType, `${path}.name`);
  return out instanceof z.ZodArray ? unboundedIn(out._zod.def.element, `${path}[]`) : unboundedIn(out, path);
};

/** `boundedObject` and `boundedList` refuse an oversized value before they hand on any member. */
const isBound = ({ _zod }: z.ZodPipe): boolean => {
  const large = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, 'x']));
  const list = Array.from({ length: 1_000 }, () => 'x');
  return [large, list].some((value) => {
    const payload: z.core.ParsePayload = { value, issues: [] };
    _zod.def.in._zod.run(payload, { async: false });
    return payload.issues.length > 0;
  });
};

describe('the schema of a request', () => {
  const schemas = [
    ...endpoints.flatMap(({ id, params, query, body }) =>
      Object.entries({ params, query, body }).map(([part, schema]) => ({ name: `${id} ${part}`, schema })),
    ),
    ...Object.entries(REFERENCES).map(([kind, { body }]) => ({ name: `admin ${kind}`, schema: body })),
  ];

  test('bounds each string, list and record before any other check', () => {
    expect(schemas.flatMap(({ name, schema }) => (schema === null ? [] : unboundedIn(schema, name)))).toEqual([]);
  });

  test.each([
    ['a string without a bound', z.string()],
    ['a transform before the bound', z.string().trim().max(5)],
    ['a pattern before the bound', z.string().regex(/^a$/).max(5)],
    ['a format', z.iso.date()],
    ['a list', z.array(z.enum(['a']))],
    ['a record', z.record(z.string().max(5), z.number())],
    ['a value that is read first', z.preprocess(String, z.string().max(5))],
  ])('is rejected by this test for %s', (_, field) => {
    expect(unboundedIn(z.object({ field }), 'body')).toHaveLength(1);
  });
});

/** Methods whose work depends on the length of their text. */
const WORKING = [
  ...['normalize', 'trim', 'trimStart', 'trimEnd', 'toLowerCase', 'toUpperCase', 'split', 'replace', 'replaceAll'],
  ...['match', 'matchAll', 'search'],
] as const;
/** Metadata, of 16 KB at most, is the longest text that any reader accepts. */
const LONGEST_READ = 16 * 1024;

/** Calls `seen` with the name and the text of every call of the method. @returns a function that stops this */
const watch = (prototype: object, name: string, seen: (text: string) => void): (() => void) => {
  const original: (...given: unknown[]) => unknown = Reflect.get(prototype, name);
  const watched = function (this: unknown, ...given: unknown[]): unknown {
    seen(String(this instanceof RegExp ? given[0] : this));
    return original.apply(this, given);
  };
  Object.defineProperty(prototype, name, { value: watched, configurable: true, writable: true });
  return () => Object.defineProperty(prototype, name, { value: original, configurable: true, writable: true });
};

/** Runs the task and returns the methods that were called with a longer text than any reader accepts. */
const longReadsOf = async (task: () => Promise<unknown>): Promise<readonly string[]> => {
  const found = new Set<string>();
  const note = (name: string) => (text: string) => {
    if (text.length > LONGEST_READ) found.add(name);
  };
  const restores = [
    ...WORKING.map((name) => watch(String.prototype, name, note(name))),
    ...['exec', 'test'].map((name) => watch(RegExp.prototype, name, note(name))),
  ];
  try {
    await task();
  } finally {
    for (const restore of restores) restore();
  }
  return [...found];
};

describe('the detector of reads of long texts', () => {
  test('reports every method that reads a long text', async () => {
    const long = 'x'.repeat(LONGEST_READ + 1);
    expect(await longReadsOf(async () => long.trim().normalize())).toEqual(['trim', 'normalize']);
    expect(await longReadsOf(async () => /y/.test(long))).toContain('test');
    expect(await longReadsOf(async () => long.slice(1).trim())).toEqual([]);
  });
});

describe('an oversized text in a request', () => {
  // Texts longer than any reader accepts. The benchmark sends the longest possible body.
  const texts = hostileTexts(2 * LONGEST_READ);
  const byRoute = Object.entries(Object.groupBy(HOSTILE_PLACES, ({ endpoint }) => endpoint.id));

  test.each(byRoute)('is refused by %s before it is read, in every field and of every kind', async (_, places = []) => {
    const wrong: string[] = [];
    for (const { endpoint, name, filled } of places) {
      const call = chainOf(endpoint);
      for (const hostile of texts) {
        let status = 0;
        const reads = await longReadsOf(async () => {
          status = await call(filled(hostile));
        });
        if (status >= 500 || reads.length > 0) wrong.push(`${name}, ${hostile.name}: ${status} ${reads}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('the size of a request body', () => {
  test('is limited to 5,000 values, counted before they are read', () => {
    const many = (count: number) => ({ a: Array.from({ length: count }, () => 1) });
    expect(() => requireReadable(many(4_999))).not.toThrow();
    expect(refusalOf(() => requireReadable(many(5_000)))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '', rule: 'too_big' }],
    });
  });

  test('causes one problem for too many metadata keys, for any number of wrong keys', () => {
    const bad = Object.fromEntries(Array.from({ length: 60 }, (_, at) => ['k'.repeat(50 + at), 'x'.repeat(501)]));
    expect(metadataSchema.safeParse(bad).error?.issues).toMatchObject([{ message: 'must have at most 50 keys' }]);
  });
});

describe('the length of headers', () => {
  test('is limited for an Idempotency-Key and other headers', async () => {
    expect(refusalOf(() => checkKey('k'.repeat(256))).code).toBe('IDEMPOTENCY_KEY_INVALID');
    const [place] = HOSTILE_PLACES;
    if (!place) throw new Error('no route takes input');
    const call = chainOf(place.endpoint);
    expect(await call({ method: 'GET', headers: { accept: 'x'.repeat(MAX_HEADER_CHARACTERS + 1) } })).toBe(400);
  });
});

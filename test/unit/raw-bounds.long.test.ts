/**
 * @module The service checks the bound of an input before any work whose cost depends on the input's length.
 * `npm run bench -- hostile` measures the processor time of the same requests.
 */
import { describe, expect, test } from 'vitest';
import { metadataSchema } from '../../shared/http/fields.ts';
import { checkKey } from '../../shared/http/idempotency.ts';
import { requireReadable } from '../../shared/http/json-body.ts';
import { MAX_HEADER_CHARACTERS } from '../../shared/http/parse.ts';
import { chainOf, HOSTILE_PLACES } from '../builders/hostile-requests.ts';
import { hostileTexts } from '../builders/hostile-text.ts';
import { refusalOf } from '../builders/refusal.ts';

/** Methods whose work depends on the length of their text. */
const WORKING = [
  ...['normalize', 'trim', 'trimStart', 'trimEnd', 'toLowerCase', 'toUpperCase', 'split', 'replace', 'replaceAll'],
  ...['match', 'matchAll', 'search'],
] as const;
/** Metadata, of 16 KB at most, is the longest text that any reader accepts. */
const LONGEST_READ = 16 * 1024;

/** Calls `seen` with the text of every call of the method. @returns a function that restores the method */
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

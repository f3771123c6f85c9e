import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Changes, type Clause, expression } from '../../shared/platform/expression.ts';

const NOW = 1_773_144_000;

/** Any names and values of a caller, above all text with a meaning in expressions. */
const hostile = fc.constantFrom(
  'pk',
  'status',
  'a = b',
  ') OR attribute_exists(pk',
  '#n0',
  ':v0',
  'SET',
  'REMOVE x',
  "'; --",
  '__proto__',
  'constructor',
  '💶',
  '',
);
const text = fc.oneof(hostile, fc.string());
const path = fc.oneof(
  text,
  fc.array(text, { minLength: 1, maxLength: 3 }).map((names) => names.join('.')),
);
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const compared = fc.tuple(path, scalar);

const clause: fc.Arbitrary<Clause> = fc.letrec<{ clause: Clause }>((tie) => ({
  clause: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constant<Clause>({ absent: true }),
    fc.constant<Clause>({ exists: true }),
    compared.map((equals): Clause => ({ equals })),
    compared.map((differs): Clause => ({ differs })),
    compared.map((atMost): Clause => ({ atMost })),
    compared.map((atLeast): Clause => ({ atLeast })),
    compared.map((below): Clause => ({ below })),
    fc.tuple(path, text).map((contains): Clause => ({ contains })),
    fc.tuple(path, fc.array(scalar, { minLength: 1, maxLength: 4 })).map((oneOf): Clause => ({ oneOf })),
    path.map((lacks): Clause => ({ lacks })),
    path.map((has): Clause => ({ has })),
    fc.array(tie('clause'), { minLength: 1, maxLength: 3 }).map((any): Clause => ({ any })),
    fc.array(tie('clause'), { minLength: 1, maxLength: 3 }).map((every): Clause => ({ every })),
  ),
})).clause;

const changes: fc.Arbitrary<Changes> = fc.record(
  {
    set: fc.dictionary(path, fc.oneof(scalar, fc.constant(undefined)), { maxKeys: 4 }),
    remove: fc.array(path, { maxLength: 3 }),
    add: fc.dictionary(path, fc.integer(), { maxKeys: 3 }),
  },
  { requiredKeys: [] },
);

/** All permitted parts of an expression without its placeholders. */
const GRAMMAR =
  /^(?:SET|REMOVE|ADD|AND|OR|IN|BETWEEN|attribute_exists|attribute_not_exists|contains|<=|>=|<>|[=<>(),. ])*$/;
const withoutPlaceholders = (written: string): string => written.replaceAll(/#n\d+|:v\d+/g, '');
const placeholders = (written: string): readonly string[] => [...new Set(written.match(/#n\d+|:v\d+/g) ?? [])];

describe('an expression with any names and values', () => {
  test('consists only of placeholders and the grammar in a condition', () => {
    fc.assert(
      fc.property(fc.array(clause, { maxLength: 5 }), (clauses) => {
        expect(withoutPlaceholders(expression(NOW).all(clauses) ?? '')).toMatch(GRAMMAR);
      }),
    );
  });

  test('consists only of placeholders and the grammar in an update', () => {
    fc.assert(
      fc.property(changes, (wanted) => {
        expect(withoutPlaceholders(expression(NOW).update(wanted))).toMatch(GRAMMAR);
      }),
    );
  });

  test('defines every placeholder, and uses every definition', () => {
    fc.assert(
      fc.property(fc.array(clause, { maxLength: 4 }), changes, (clauses, wanted) => {
        const built = expression(NOW);
        const written = `${built.all(clauses) ?? ''} ${built.update(wanted)}`;
        const { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = built.parts();
        const given = [...Object.keys(ExpressionAttributeNames), ...Object.keys(ExpressionAttributeValues)];
        expect(given.toSorted()).toEqual(placeholders(written).toSorted());
      }),
    );
  });

  test('maps its placeholders to exactly the given names and values', () => {
    fc.assert(
      fc.property(path, scalar, (name, value) => {
        const built = expression(NOW);
        const [left = '', right = ''] = (built.all([{ equals: [name, value] }]) ?? '').split(' = ');
        const { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = built.parts();
        expect(left.split('.').map((part) => ExpressionAttributeNames[part])).toEqual(name.split('.'));
        expect(ExpressionAttributeValues[right]).toBe(value);
      }),
    );
  });
});

describe('a condition expression', () => {
  const write = (...clauses: readonly Clause[]) => {
    const built = expression(NOW);
    return { text: built.all(clauses), ...built.parts() };
  };

  test('is empty without clauses', () => {
    expect(write()).toEqual({ text: undefined });
  });

  test('accepts an expired item as absent', () => {
    expect(write({ absent: true })).toEqual({
      text: '(attribute_not_exists(#n0) OR #n1 <= :v0)',
      ExpressionAttributeNames: { '#n0': 'pk', '#n1': 'ttl' },
      ExpressionAttributeValues: { ':v0': NOW },
    });
  });

  test('does not treat an expired item as existing', () => {
    expect(write({ exists: true })).toEqual({
      text: '(attribute_exists(#n0) AND (attribute_not_exists(#n1) OR #n1 > :v0))',
      ExpressionAttributeNames: { '#n0': 'pk', '#n1': 'ttl' },
      ExpressionAttributeValues: { ':v0': NOW },
    });
  });

  test.each<[Clause, string]>([
    [{ equals: ['a', 1] }, '#n0 = :v0'],
    [{ differs: ['a', 1] }, '#n0 <> :v0'],
    [{ atMost: ['a', 1] }, '#n0 <= :v0'],
    [{ atLeast: ['a', 1] }, '#n0 >= :v0'],
    [{ below: ['a', 1] }, '#n0 < :v0'],
    [{ contains: ['f.e', 'x'] }, 'contains(#n0.#n1, :v0)'],
    [{ oneOf: ['f.s', ['a', 'b']] }, '#n0.#n1 IN (:v0, :v1)'],
    [{ lacks: 'a' }, 'attribute_not_exists(#n0)'],
    [{ has: 'a' }, 'attribute_exists(#n0)'],
    [{ any: [{ lacks: 'n' }, { below: ['n', 3] }] }, '(attribute_not_exists(#n0) OR #n0 < :v0)'],
    [{ every: [{ has: 'n' }, { below: ['n', 3] }] }, '(attribute_exists(#n0) AND #n0 < :v0)'],
  ])('is written for the clauses %j as %s', (given, written) => {
    expect(write(given).text).toBe(written);
  });

  test('joins several clauses by AND, and puts alternatives in brackets', () => {
    expect(write({ any: [{ has: 'a' }, { has: 'b' }] }, { equals: ['c', 1] }).text).toBe(
      '(attribute_exists(#n0) OR attribute_exists(#n1)) AND #n2 = :v0',
    );
  });
});

describe('an update expression', () => {
  test('can set, remove and add', () => {
    const built = expression(NOW);
    expect(built.update({ set: { a: 1, b: undefined }, remove: ['c'], add: { n: 2 } })).toBe(
      'SET #n0 = :v0 REMOVE #n1, #n2 ADD #n3 :v1',
    );
    expect(built.parts()).toEqual({
      ExpressionAttributeNames: { '#n0': 'a', '#n1': 'c', '#n2': 'b', '#n3': 'n' },
      ExpressionAttributeValues: { ':v0': 1, ':v1': 2 },
    });
  });
});

import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { type Described, describedIn, faultOf } from '../builders/described.ts';

const document: unknown = JSON.parse(JSON.stringify(apiDocumentAt('https://api.example')));
const all = describedIn(document);

const count = (kind: Described['kind']) => all.filter((one) => one.kind === kind).length;

describe('the check of the API reference', () => {
  test('covers every operation, and many parameters, headers and fields', () => {
    expect(count('operation')).toBeGreaterThanOrEqual(endpoints.length);
    expect(count('parameter')).toBeGreaterThan(100);
    expect(count('header')).toBeGreaterThan(500);
    expect(count('field')).toBeGreaterThan(300);
  });

  test.each(['operation', 'parameter', 'header', 'field', 'schema', 'response'] as const)(
    'requires, for every %s, a sentence that says more than the name',
    (kind) => {
      const faults = all
        .filter((one) => one.kind === kind)
        .flatMap((one) => {
          const fault = faultOf(one);
          return fault === undefined ? [] : [`${one.at} ${fault}: ${one.text ?? ''}`];
        });
      expect(faults).toEqual([]);
    },
  );

  test('requires the unit of every amount', () => {
    const amounts = all.filter(({ kind, name }) => kind === 'field' && name.endsWith('_cents'));
    const without = amounts.filter(({ text = '' }) => !/minor unit|same value as|name of|_cents/.test(text));
    expect({ without: without.map(({ at }) => at), isChecked: amounts.length > 10 }).toEqual({
      without: [],
      isChecked: true,
    });
  });

  test('requires a schema name that describes the schema', () => {
    const made = JSON.stringify(document).match(/#\/components\/schemas\/__\w+/g) ?? [];
    expect(made).toEqual([]);
  });

  test.each([
    ['', 'is not described'],
    ['The amount cents.', 'only repeats its name'],
    ['what the payer pays, in minor units.', 'does not begin like a sentence'],
    ['What the payer pays, in minor units', 'does not end like a sentence'],
    ['What the payer pays, in minor units.', undefined],
  ])('reports for %j: %s', (text, fault) => {
    expect(faultOf({ group: '', at: '', kind: 'field', name: 'amount_cents', text })).toBe(fault);
  });
});

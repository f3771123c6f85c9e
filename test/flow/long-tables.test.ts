import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { SCOPES } from '../../shared/access/scopes.ts';
import { ALL_SCOPES } from './keys.ts';
import { LENIENT_BODIES, LENIENT_IDS } from './lenient-bodies.ts';
import { SCOPE_ROWS, STAFF_SCOPES } from './matrix/scope-table.ts';

/** Only `npm run test:long` sends the requests of these tables, but `npm test` notices a missing route. */
describe('the table of scopes', () => {
  test('has one row for every route that requires a credential', () => {
    const open = endpoints.filter(({ auth }) => auth === 'public' || auth === 'provider-signature');
    // GET /me is open to every session. `me.test.ts` tests that it refuses keys.
    expect([...SCOPE_ROWS.map(({ id }) => id), ...open.map(({ id }) => id), 'api.me'].sort()).toEqual(
      endpoints.map(({ id }) => id).sort(),
    );
  });

  test('uses every scope of the service, and no other scope', () => {
    const named = SCOPE_ROWS.flatMap(({ merchant, payer, keys }) => [merchant, payer, keys]);
    const used = new Set(named.filter((scope) => scope !== undefined));
    expect([...used].sort()).toEqual(SCOPES.toSorted());
    expect(ALL_SCOPES.toSorted()).toEqual(SCOPES.toSorted());
    for (const scopes of Object.values(STAFF_SCOPES)) expect(SCOPES).toEqual(expect.arrayContaining([...scopes]));
  });
});

describe('the table of lenient bodies', () => {
  test('names every route with optional body fields', () => {
    expect(LENIENT_IDS.toSorted()).toEqual(LENIENT_BODIES.map(({ id }) => id).toSorted());
  });
});

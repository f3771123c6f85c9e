import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../shared/table/cursor.ts';
import {
  aliasKey,
  dueShard,
  dueShards,
  guestPartition,
  historyKey,
  listSort,
  memberIdOf,
  ownerPartition,
  rateKey,
} from '../../shared/table/keys.ts';
import { refusalOf } from '../builders/refusal.ts';

describe('a key', () => {
  test('of a guest does not contain the e-mail, and ignores its case', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        const partition = guestPartition(email, 'PAY');
        expect(partition).not.toContain(email);
        expect(partition).toMatch(/^GUEST#[0-9a-f]{32}#PAY$/);
        expect(guestPartition(email.toUpperCase(), 'PAY')).toBe(guestPartition(email.toLowerCase(), 'PAY'));
      }),
    );
  });

  test('of a rate limit does not contain the address', () => {
    expect(JSON.stringify(rateKey('guest-create-email', 'ada@example.com', 7))).not.toContain('ada');
    expect(rateKey('guest-create-ip', '203.0.113.7', 7).pk).not.toContain('203');
  });

  test('of a history entry sorts by version', () => {
    const keys = [1, 2, 9, 10, 99, 100, 12_345].map((version) => historyKey({ kind: 'PAY', id: 'pay_1' }, version).sk);
    expect(keys.toSorted()).toEqual(keys);
  });

  test('of an owner differs per owner and kind', () => {
    const owners = [
      ownerPartition({ kind: 'user', userId: '1' }, 'PAY'),
      ownerPartition({ kind: 'organization', organizationId: '1' }, 'PAY'),
      ownerPartition({ kind: 'guest', email: '1', guestId: 'gst_1' }, 'PAY'),
      ownerPartition({ kind: 'user', userId: '1' }, 'PM'),
      aliasKey('provider_a', '1').pk,
      aliasKey('provider_b', '1').pk,
    ];
    expect(new Set(owners).size).toBe(owners.length);
  });

  test('of a list is unique and in order of creation', () => {
    expect(listSort('2026-03-10T12:00:00.000Z', 'pay_b') < listSort('2026-03-10T12:00:00.001Z', 'pay_a')).toBe(true);
    expect(listSort('2026-03-10T12:00:00.000Z', 'pay_a')).not.toBe(listSort('2026-03-10T12:00:00.000Z', 'pay_b'));
  });

  test('of a due time is in one of the swept shards', () => {
    fc.assert(fc.property(fc.string(), (id) => dueShards.includes(dueShard(id))));
  });

  test('of a member is unique per organization and user', () => {
    expect(memberIdOf('org_1', 'user_1')).toBe(memberIdOf('org_1', 'user_1'));
    expect(memberIdOf('org_1', 'user_1')).not.toBe(memberIdOf('org_1u', 'ser_1'));
  });
});

describe('a cursor', () => {
  test('leads back to the row that it was made from', () => {
    const position = fc.record({
      pk: fc.string({ maxLength: 200 }),
      sk: fc.string({ maxLength: 100 }),
      sort: fc.string({ maxLength: 200 }),
    });
    fc.assert(
      fc.property(position, (row) => {
        expect(decodeCursor(encodeCursor(row))).toEqual(row);
        expect(encodeCursor(row)).toMatch(/^[\w-]+$/);
      }),
    );
  });

  test.each([
    '',
    'x',
    '💶',
    'bnVsbA',
    'W10',
    'e30',
    Buffer.from('["a","b"]').toString('base64url'),
    Buffer.from('["a","b","c","d"]').toString('base64url'),
    Buffer.from('["a","b",1]').toString('base64url'),
    Buffer.from(`["${'a'.repeat(201)}","b","c"]`).toString('base64url'),
  ])('that is none is refused: %j', (given) => {
    const refusal = refusalOf(() => decodeCursor(given));
    expect(refusal).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'cursor', rule: 'cursor', message: 'must be the next_cursor of an earlier answer' }],
    });
  });

  test('is refused or read, for any text', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        try {
          expect(typeof decodeCursor(given).pk).toBe('string');
        } catch {
          expect(refusalOf(() => decodeCursor(given)).status).toBe(400);
        }
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../shared/platform/cursor.ts';
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
} from '../../shared/platform/keys.ts';
import { refusalOf } from '../builders/refusal.ts';

describe('a key of the table', () => {
  test('hides a guest’s e-mail, and ignores its case', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        const partition = guestPartition(email, 'PAY');
        expect(partition).not.toContain(email);
        expect(partition).toMatch(/^GUEST#[0-9a-f]{32}#PAY$/);
        expect(guestPartition(email.toUpperCase(), 'PAY')).toBe(guestPartition(email.toLowerCase(), 'PAY'));
      }),
    );
  });

  test('hides the e-mail address or the IP address that a rate limit counts', () => {
    expect(JSON.stringify(rateKey('guest-create-email', 'ada@example.com'))).not.toContain('ada');
    expect(rateKey('guest-create-ip', '203.0.113.7').pk).not.toContain('203');
  });

  test('sorts history entries by version', () => {
    const keys = [1, 2, 9, 10, 99, 100, 12_345].map((version) => historyKey({ kind: 'PAY', id: 'pay_1' }, version).sk);
    expect(keys.toSorted()).toEqual(keys);
  });

  test('differs per owner and kind', () => {
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

  test('is unique in a list, and sorts by creation', () => {
    expect(listSort('2026-03-10T12:00:00.000Z', 'pay_b') < listSort('2026-03-10T12:00:00.001Z', 'pay_a')).toBe(true);
    expect(listSort('2026-03-10T12:00:00.000Z', 'pay_a')).not.toBe(listSort('2026-03-10T12:00:00.000Z', 'pay_b'));
  });

  test('places a due time in one of the swept shards', () => {
    fc.assert(fc.property(fc.string(), (id) => dueShards.includes(dueShard(id))));
  });

  test('is unique for a member per organization and user', () => {
    expect(memberIdOf('org_1', 'user_1')).toBe(memberIdOf('org_1', 'user_1'));
    expect(memberIdOf('org_1', 'user_1')).not.toBe(memberIdOf('org_1u', 'ser_1'));
  });
});

describe('a cursor', () => {
  const LIST = { list: 'USER#u#PAY' };
  const AT = '2026-03-10T12:00:00.000Z';
  const row = { pk: 'PAY#pay_1', sk: 'PAY', sort: `${AT}#pay_1` };
  const made = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
  /** The first element of a cursor names its list. */
  const [name] = JSON.parse(Buffer.from(encodeCursor(row, LIST.list), 'base64url').toString());

  test('leads back to its row', () => {
    const position = fc.record({
      pk: fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }).filter(({ length }) => length <= 200),
      sk: fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }).filter(({ length }) => length <= 100),
      sort: fc.stringMatching(/^[\w~]{0,64}$/).map((id) => `${AT}#${id}`),
    });
    fc.assert(
      fc.property(position, (found) => {
        expect(decodeCursor(encodeCursor(found, LIST.list), LIST)).toEqual(found);
        expect(encodeCursor(found, LIST.list)).toMatch(/^[\w-]+$/);
      }),
    );
  });

  test.each([
    ['', 'an empty text'],
    ['x', 'a letter'],
    ['💶', 'not base64'],
    ['bnVsbA', 'null'],
    ['W10', 'an empty list'],
    ['e30', 'an object'],
    [made('a', 'b'), 'too short'],
    [made(name, 'b', 'c', row.sort, 'e'), 'too long'],
    [made(name, 'b', 1, row.sort), 'a number'],
    [made(name, 'a'.repeat(201), 'c', row.sort), 'a long key'],
    [made(name, '', 'c', row.sort), 'an empty key'],
    [made(name, 'b', '\ud800', row.sort), 'a lone surrogate in a key'],
    [made(name, 'b', 'c', `${row.sort}\udc00`), 'a lone surrogate in the position'],
    [made(name, 'b', 'c', 'z'), 'without a time'],
    [made(name, 'b', 'c', '2026-13-45T25:61:61.000Z#a'), 'a time that does not exist'],
    [Buffer.from(`["${name}","b","\ud800","${row.sort}"]`, 'utf16le').toString('base64url'), 'another encoding'],
    [made(name, 'b', 'c', row.sort).repeat(20), 'a long text'],
  ])('is refused as invalid: %j (%s)', (given) => {
    const refusal = refusalOf(() => decodeCursor(given, LIST));
    expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'cursor' }] });
  });

  test('is refused in another list or outside the requested range', () => {
    const cursor = encodeCursor(row, LIST.list);
    expect(refusalOf(() => decodeCursor(cursor, { list: 'USER#other#PAY' }))).toMatchObject({
      details: [{ path: 'cursor', rule: 'cursor', message: 'is the next_cursor of another list' }],
    });
    const inRange = { ...LIST, from: AT, to: AT };
    expect(decodeCursor(cursor, inRange)).toEqual(row);
    for (const range of [{ from: '2026-03-10T12:00:00.001Z' }, { to: '2026-03-10T11:59:59.999Z' }]) {
      expect(refusalOf(() => decodeCursor(cursor, { ...LIST, ...range }))).toMatchObject({
        details: [{ path: 'cursor', rule: 'range' }],
      });
    }
  });

  test('does not reveal the partition of its list', () => {
    const text = Buffer.from(encodeCursor(row, 'GUEST#secret#PAY'), 'base64url').toString();
    expect(text).not.toContain('secret');
  });

  test('is refused with a 400, for any random text', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        expect(refusalOf(() => decodeCursor(given, LIST)).status).toBe(400);
      }),
    );
  });
});

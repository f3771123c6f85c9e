import { describe, expect, test } from 'vitest';
import { principalOf } from '../../shared/access/caller.ts';
import { guest, session } from '../builders/api-request.ts';

const keyNamed = (id: string) => ({ id, scopes: ['payments:write'], holders: ['user_9'] }) as const;
const [key, otherKey] = [keyNamed('key_1'), keyNamed('key_2')];

describe('the caller of an Idempotency-Key', () => {
  test('differs per payer, per service key, and per payer for whom a key acts', () => {
    const callers = [
      ...[session({ userId: 'user_1' }), session({ userId: 'user_2' })],
      ...[session({ userId: 'user_1', key }), session({ userId: 'user_2', key })],
      session({ userId: 'user_1', key: otherKey }),
      ...[guest({ guestId: 'guest_1', byToken: true }), guest({ guestId: 'guest_2', byToken: true })],
      ...[guest({ byToken: false, email: 'a@example.com' }), guest({ byToken: false, email: 'b@example.com' })],
      guest({ byToken: false, email: 'a@example.com', key }),
      { kind: 'organization', organizationId: 'org_1', key },
      { kind: 'organization', organizationId: 'org_2', key },
      ...[
        { kind: 'key', key },
        { kind: 'key', key: otherKey },
      ],
      { kind: 'anonymous' },
    ] as const;
    expect(new Set(callers.map(principalOf)).size).toBe(callers.length);
  });

  test('stays the same for a user in another organization or with other rights', () => {
    const user = session({ userId: 'user_1' });
    expect(principalOf(session({ userId: 'user_1', organizationId: 'org_1', isAdmin: true }))).toBe(principalOf(user));
  });
});

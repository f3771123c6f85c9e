import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';
import { ALL_SCOPES, changeKey, createKey, NOT_VALID, newAdmin, revokeKey, useKey } from './keys.ts';

/** A revoked key and a removed scope lose effect within five seconds. */
const service = withHost({ frozen: true });

const PARALLEL = 200;
const CACHE_SECONDS = 5;

const statusesOf = (answers: readonly { readonly status: number }[]): number[] => [
  ...new Set(answers.map(({ status }) => status)),
];

describe('the revocation of a key', () => {
  test('makes all of 200 parallel requests fail five seconds later', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    expect((await useKey(service, key)).status).toBe(200);
    await revokeKey(service, key);
    await service.advance(CACHE_SECONDS);
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => useKey(service, key)));
    expect(statusesOf(answers)).toEqual([401]);
    expect(answers[0]).toMatchObject(NOT_VALID);
  });

  test('is final, can be repeated, and prevents changes and rotations', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    await revokeKey(service, key);
    await revokeKey(service, key);
    const shown = await service.get(`/admin/keys/${key.id}`, admin.options);
    expect(shown).toMatchObject({ status: 200, body: { data: { status: 'revoked', revoked_at: expect.any(String) } } });
    const refused = { status: 409, body: { code: 'INVALID_STATE' } };
    expect(await changeKey(service, key, { name: 'Again' })).toMatchObject(refused);
    expect(await service.post(`/admin/keys/${key.id}/rotate`, {}, admin.options)).toMatchObject(refused);
  });

  test('can be limited to a single scope, and then takes effect within five seconds', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    expect((await useKey(service, key)).status).toBe(200);
    await changeKey(service, key, { scopes: ALL_SCOPES.filter((scope) => scope !== 'payments:read') });
    await service.advance(CACHE_SECONDS);
    expect(await useKey(service, key)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS', details: { required_scope: 'payments:read' } },
    });
  });
});

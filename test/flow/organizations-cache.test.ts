import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';
import { newPerson, type UserWithEmail } from './organization-steps.ts';

const service = withHost({ frozen: true, env: { RATE_LIMITS: 'on' } });

const clear = (body: unknown, person?: UserWithEmail) => service.post('/admin/cache/clear', body, person?.options);
const refused = (status: number, code: string) => ({ status, body: { success: false, code } });

describe('the clear-cache command', () => {
  test.each(['organization_membership', 'session', 'all'])('clears %s', async (cache_type) => {
    const answer = await clear({ cache_type }, await newPerson(service, { is_admin: true }));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, message: expect.any(String), data: { cache_type, cleared: true } });
  });

  test('requires a platform admin and a known cache', async () => {
    const admin = await newPerson(service, { is_admin: true });
    expect(await clear({ cache_type: 'other' }, admin)).toMatchObject(refused(400, 'UNKNOWN_CACHE_TYPE'));
    expect(await clear({}, admin)).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    const user = await newPerson(service);
    expect(await clear({ cache_type: 'all' }, user)).toMatchObject(refused(403, 'ADMIN_REQUIRED'));
    expect(await clear({ cache_type: 'all' })).toMatchObject(refused(401, 'AUTHENTICATION_REQUIRED'));
  });

  test('is limited to six calls per minute per user', async () => {
    const [one, two] = [await newPerson(service, { is_admin: true }), await newPerson(service, { is_admin: true })];
    for (let times = 0; times < 6; times += 1) {
      expect(await clear({ cache_type: 'all' }, one)).toMatchObject({ status: 200 });
    }
    const seventh = await clear({ cache_type: 'all' }, one);
    expect(seventh).toMatchObject(refused(429, 'RATE_LIMITED'));
    expect(Number(seventh.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await clear({ cache_type: 'all' }, two)).toMatchObject({ status: 200 });
    await service.advance(Number(seventh.headers.get('retry-after')));
    expect(await clear({ cache_type: 'all' }, one)).toMatchObject({ status: 200 });
  });
});

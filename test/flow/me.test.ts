import { describe, expect, test } from 'vitest';
import { SCOPES, scopesOfRole } from '../../shared/access/scopes.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';

describe('GET /me', () => {
  const service = withHost({ env: { SUPPORT_REFUND_LIMITS: 'USD:10000,EUR:9000' } });

  const meOf = async (session: Parameters<typeof signIn>[1]) => {
    const user = await signIn(service, session);
    const { status, body } = await service.get('/me', user.options);
    expect([status, body.success]).toEqual([200, true]);
    return { user, data: body.data };
  };

  test('shows a payer with no scope', async () => {
    const { user, data } = await meOf({ email: 'Pat@example.com', organization_id: 'org_acme' });
    expect(data).toEqual({
      user_id: user.userId,
      email: 'pat@example.com',
      organization_id: 'org_acme',
      is_admin: false,
      staff_role: null,
      scopes: [],
      refund_limits: null,
    });
  });

  test('shows every scope to a platform admin, without refund limits', async () => {
    const { data } = await meOf({ is_admin: true, staff_role: 'support' });
    expect(data).toMatchObject({ is_admin: true, organization_id: null, scopes: SCOPES, refund_limits: null });
  });

  test('shows refund limits to support only', async () => {
    expect((await meOf({ staff_role: 'support' })).data).toMatchObject({
      is_admin: false,
      staff_role: 'support',
      scopes: scopesOfRole('support'),
      refund_limits: { USD: 10_000, EUR: 9_000 },
    });
    for (const role of ['finance', 'operations'] as const) {
      expect((await meOf({ staff_role: role })).data).toMatchObject({
        staff_role: role,
        scopes: scopesOfRole(role),
        refund_limits: null,
      });
    }
  });

  test('treats an unknown staff role as absent', async () => {
    expect((await meOf({ staff_role: 'owner' })).data).toMatchObject({ staff_role: null, scopes: [] });
  });

  test('is refused without a session, and with a service key', async () => {
    expect((await service.get('/me')).status).toBe(401);
    const admin = await signIn(service, { is_admin: true });
    const fields = { name: 'Everything', scopes: SCOPES };
    const { secret } = (await service.post('/admin/keys', fields, admin.options)).body.data;
    const { status, body } = await service.get('/me', { headers: { authorization: `Bearer ${secret}` } });
    expect([status, body.code]).toEqual([403, 'INSUFFICIENT_PERMISSIONS']);
  });
});

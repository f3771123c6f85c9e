import { beforeAll, describe, expect, test } from 'vitest';
import { inviteBody, projectBody, tierBody } from '../builders/reference.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { signIn, type User } from './flow.ts';
import { from, type RequestOptions, withHost } from './host.ts';

const service = withHost({ frozen: true, env: { RATE_LIMITS: 'on' } });

let admin: User;
beforeAll(async () => {
  admin = await signIn(service, { is_admin: true, expires_in: 30 * DAY_SECONDS });
});

const put = async (path: string, body: unknown): Promise<void> => {
  expect(await service.put(`/admin/${path}`, body, admin.options)).toMatchObject({ status: 200 });
};
const inSeconds = (seconds: number): string => new Date(service.now() + seconds * 1_000).toISOString();

describe('the public tiers', () => {
  test('include every active tier, in order of rank', async () => {
    expect((await service.get('/memberships/tiers')).body).toEqual({ success: true, data: [] });
    await put('tiers/gold', tierBody({ rank: 3, features: ['all'], product_ids: ['course'] }));
    await put('tiers/old', tierBody({ rank: 2, is_active: false }));
    await put('tiers/bronze', tierBody({ name: 'Bronze', slug: 'bronze', rank: 1 }));
    await put('tiers/none', tierBody({ rank: -1, entity_type: 'organization' }));
    const answer = await service.get('/memberships/tiers');
    expect(answer.status).toBe(200);
    expect(answer.body.data.map(({ id }: { id: string }) => id)).toEqual(['none', 'bronze', 'gold']);
    expect(answer.body.data[2]).toEqual({
      id: 'gold',
      name: 'Gold',
      slug: 'gold',
      description: null,
      rank: 3,
      entity_type: 'user',
      features: ['all'],
      product_ids: ['course'],
      is_active: true,
    });
    await put('tiers/old', tierBody({ rank: 2 }));
    await put('tiers/gold', tierBody({ rank: 0, is_active: false }));
    const later = await service.get('/memberships/tiers', admin.options);
    expect(later.body.data.map(({ id }: { id: string }) => id)).toEqual(['none', 'bronze', 'old']);
  });

  test('are returned without an envelope on request', async () => {
    expect((await service.get('/memberships/tiers?envelope=false')).body).toBeInstanceOf(Array);
  });
});

describe('an invite', () => {
  const preview = (token: string, options?: RequestOptions) => service.get(`/projects/invites/${token}`, options);
  const NOT_FOUND = { status: 404, body: { success: false, code: 'INVITE_NOT_FOUND' } };
  const EXPIRED = { status: 410, body: { success: false, code: 'INVITE_EXPIRED' } };

  let organizationId: string;
  beforeAll(async () => {
    const made = await service.post('/organizations', { name: 'Gardeners', tax_id: 'secret' }, admin.options);
    organizationId = made.body.data.id;
    await put('projects/garden', projectBody({ billing_email: 'bills@example.com', owner_user_id: admin.userId }));
  });

  test('shows only the inviter and the purpose of the invite', async () => {
    const expires_at = inSeconds(DAY_SECONDS);
    await put('invites/token-1', inviteBody({ organization_id: organizationId, expires_at }));
    const answer = await preview('token-1');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        project: { id: 'garden', name: 'Garden', slug: 'garden' },
        organization: { id: organizationId, name: 'Gardeners' },
        inviter_name: 'Ada',
        role: 'editor',
        email_masked: 'g***@example.com',
        status: 'pending',
        expires_at,
      },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['no organization', {}],
    ['an unknown organization', { organization_id: 'org_none' }],
  ])('shows no organization if the invite names %s', async (_, fields) => {
    await put('invites/token-2', inviteBody({ ...fields, email: 'a@example.com' }));
    expect(await preview('token-2')).toMatchObject({
      status: 200,
      body: { data: { organization: null, email_masked: '***@example.com' } },
    });
  });

  test('expires at its time by the service’s clock', async () => {
    await put('invites/token-3', inviteBody({ expires_at: inSeconds(60) }));
    await service.advance(59);
    expect((await preview('token-3')).status).toBe(200);
    await service.advance(1);
    expect(await preview('token-3')).toMatchObject(EXPIRED);
  });

  test.each(['accepted', 'revoked'])('is no longer valid after it was %s', async (status) => {
    await put('invites/token-4', inviteBody({ status }));
    expect(await preview('token-4')).toMatchObject(EXPIRED);
  });

  test('returns 404 if the invite or its project is missing', async () => {
    expect(await preview('nothing')).toMatchObject(NOT_FOUND);
    await put('invites/token-5', inviteBody({ project_id: 'nowhere' }));
    expect(await preview('token-5')).toMatchObject(NOT_FOUND);
    await put('invites/token-6', inviteBody());
    expect((await preview('token-6')).status).toBe(200);
    await service.request('DELETE', '/admin/invites/token-6', admin.options);
    expect(await preview('token-6')).toMatchObject(NOT_FOUND);
  });

  test('can be looked up 30 times per minute and IP address, even if it does not exist', async () => {
    await service.advance(2 * MINUTE_SECONDS);
    const ask = (index: number, ip = '203.0.113.9') => preview(`guess-${index}`, from(ip));
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(index)));
    for (const answer of answers) expect(answer).toMatchObject(NOT_FOUND);
    const refused = await ask(30);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect((await ask(31, '203.0.113.10')).status).toBe(404);
    await service.advance(Number(refused.headers.get('retry-after')));
    expect((await ask(32)).status).toBe(404);
  });
});

import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { company } from './payers.ts';
import { payer, subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: PATIENT });

const start = async () => {
  await service.advance(2 * DAY_SECONDS);
  return {
    admin: await signIn(service, { is_admin: true, expires_in: YEAR_SECONDS }),
    since: new Date(service.now()).toISOString(),
  };
};

type Query = Readonly<Record<string, string>>;
const list = async (admin: User, query: Query) => {
  await service.settle();
  const answer = await service.get(`/admin/subscriptions?${new URLSearchParams(query)}`, admin.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { success: true } });
  return answer.body;
};
const idsOf = async (admin: User, query: Query): Promise<string[]> =>
  (await list(admin, query)).data.map(({ id }) => id);

describe('GET /admin/subscriptions', () => {
  test('lists the subscriptions of users and organizations, newest first, with their payers', async () => {
    const { admin, since } = await start();
    const acme = await company(service);
    const who = await subscriber(service);
    const personal = await subscribe(service, who);
    await service.advance(MINUTE_SECONDS);
    const organization = await payer(service, acme.owner.options, { fields: { organization_id: acme.id } });
    const ofAcme = await subscribe(service, organization, { organization_id: acme.id });
    const { data, meta } = await list(admin, { from: since });
    expect(data).toMatchObject([
      { id: ofAcme.id, organization_name: 'Acme', user_email: expect.stringContaining('@acme.example.com') },
      { id: personal.id, organization_name: null, user_email: expect.stringContaining('@') },
    ]);
    expect(meta).toEqual({ limit: 25, has_more: false, next_cursor: null });
    expect(JSON.stringify(data)).not.toMatch(/secret/);
  });

  test('filters by status, provider, biller, owner, product, tier, time and search', async () => {
    const { admin, since } = await start();
    const acme = await company(service);
    const who = await subscriber(service);
    const personal = await subscribe(service, who, { reference_code: 'contract-17' });
    await service.advance(MINUTE_SECONDS);
    const organization = await payer(service, acme.owner.options, { fields: { organization_id: acme.id } });
    const ofAcme = await subscribe(service, organization, { organization_id: acme.id });
    await service.post(`/subscriptions/${personal.id}/cancel`, { immediately: true }, who.options);
    const found = (query: Query) => idsOf(admin, { from: since, ...query });
    expect(await found({})).toEqual([ofAcme.id, personal.id]);
    const ended = present((await list(admin, { from: since, search: personal.id })).data[0]).status;
    expect(await found({ status: ended, user_id: who.user.userId })).toEqual([personal.id]);
    expect(await found({ status: 'past_due' })).toEqual([]);
    expect(await found({ provider_id: 'provider_b' })).toEqual([]);
    expect(await found({ billing_owner: 'provider' })).toEqual([ofAcme.id, personal.id]);
    expect(await found({ billing_owner: 'service' })).toEqual([]);
    expect(await found({ user_id: acme.owner.userId })).toEqual([ofAcme.id]);
    expect(await found({ organization_id: acme.id })).toEqual([ofAcme.id]);
    expect(await found({ product_id: 'none' })).toEqual([]);
    expect(await found({ tier_id: 'none' })).toEqual([]);
    expect(await found({ to: personal.created_at })).toEqual([personal.id]);
    expect(await found({ search: 'CONTRACT-17' })).toEqual([personal.id]);
    expect(await found({ search: ofAcme.provider_subscription_id })).toEqual([ofAcme.id]);
  });

  test('follows each change of a subscription, and pages by cursor', async () => {
    const { admin, since } = await start();
    const who = await subscriber(service);
    const made = [await subscribe(service, who)];
    for (let index = 0; index < 2; index += 1) {
      await service.advance(MINUTE_SECONDS);
      made.unshift(await subscribe(service, who));
    }
    const ids = made.map(({ id }) => id);
    await service.post(`/subscriptions/${ids[1]}/pause`, {}, who.options);
    expect(await idsOf(admin, { from: since, status: 'paused' })).toEqual([ids[1]]);
    const first = await list(admin, { from: since, limit: '2' });
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.meta).toMatchObject({ has_more: true });
    expect(await idsOf(admin, { from: since, limit: '2', cursor: first.meta.next_cursor })).toEqual(ids.slice(2));
    const ofPayments = `/admin/payments?cursor=${first.meta.next_cursor}`;
    expect((await service.get(ofPayments, admin.options)).status).toBe(400);
  });

  test('does not list a subscription that was removed with its organization', async () => {
    const { admin, since } = await start();
    const acme = await company(service);
    const organization = await payer(service, acme.owner.options, { fields: { organization_id: acme.id } });
    const ofAcme = await subscribe(service, organization, { organization_id: acme.id });
    expect(await idsOf(admin, { from: since })).toEqual([ofAcme.id]);
    await service.request('DELETE', `/organizations/${acme.id}`, acme.owner.options);
    await service.advance(2 * DAY_SECONDS);
    await service.settle();
    expect(await idsOf(admin, { from: since })).toEqual([]);
    expect((await itemsOf(service, 'ALLSUB#')).filter(({ sk }) => sk.endsWith(ofAcme.id))).toEqual([]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['status=paid', 'status.0'],
    ['provider_id=stripe', 'provider_id'],
    ['billing_owner=other', 'billing_owner'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['cursor=x', 'cursor'],
  ])('refuses %s', async (query, path) => {
    const { admin } = await start();
    const { status, body } = await service.get(`/admin/subscriptions?${query}`, admin.options);
    expect([status, body.code, body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', path]);
  });

  test('requires a platform admin', async () => {
    const user = await signIn(service);
    expect((await service.get('/admin/subscriptions')).status).toBe(401);
    expect(await service.get('/admin/subscriptions', user.options)).toMatchObject({
      status: 403,
      body: { code: 'ADMIN_REQUIRED' },
    });
  });
});

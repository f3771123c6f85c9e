/**
 * @module A project id in a body requires edit permission on the project. Buyers get a project only through a product.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { customerBody } from '../builders/payer.ts';
import { projectBody } from '../builders/reference.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { createIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { type Company, company, saveMethod } from './payers.ts';
import { OWN_BILLING, payer, trySubscribe } from './subscribers.ts';

const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...PATIENT } });

let admin: User;
beforeAll(async () => {
  admin = await signIn(service, { is_admin: true, expires_in: 30 * DAY_SECONDS });
});

const put = async (path: string, body: unknown): Promise<void> => {
  expect(await service.put(`/admin/${path}`, body, admin.options)).toMatchObject({ status: 200 });
};
const NO_PERMISSION = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS', details: { path: 'project_id' } } };

describe('a project', () => {
  let acme: Company;
  let owner: User;
  beforeAll(async () => {
    [acme, owner] = [await company(service), await signIn(service)];
    await put('projects/of-acme', projectBody({ organization_id: acme.id }));
    await put('projects/of-owner', projectBody({ owner_user_id: owner.userId }));
    await put('projects/of-both', projectBody({ organization_id: acme.id, owner_user_id: owner.userId }));
  });

  const named = (user: User, project_id: string) =>
    service.post('/payments/intents', intentBody({ project_id }), user.options);

  test('can be named by its owner and by callers with payment rights in its organization', async () => {
    const allowed = [
      [owner, 'of-owner'],
      [owner, 'of-both'],
      [acme.owner, 'of-acme'],
      [acme.admin, 'of-acme'],
      [acme.billing, 'of-both'],
    ] as const;
    for (const [user, id] of allowed) {
      expect(await named(user, id), id).toMatchObject({ status: 201, body: { project_id: id } });
    }
  });

  test('cannot be named by other callers in any create or update', async () => {
    const stranger = await signIn(service);
    const refused = [
      [stranger, 'of-owner'],
      [stranger, 'of-acme'],
      [acme.member, 'of-acme'],
      [acme.owner, 'of-owner'],
      [admin, 'of-acme'],
      [admin, 'of-owner'],
    ] as const;
    for (const [user, project_id] of refused) {
      expect(await named(user, project_id), project_id).toMatchObject(NO_PERMISSION);
      const customer = customerBody({ project_id });
      expect(await service.post('/customers', customer, user.options)).toMatchObject(NO_PERMISSION);
    }
    const payment = await createIntent(service, stranger);
    for (const project_id of ['of-owner', 'of-acme']) {
      const update = await service.put(`/payments/intents/${payment.id}`, { project_id }, stranger.options);
      expect(update).toMatchObject(NO_PERMISSION);
    }
    const who = await payer(service, stranger.options);
    expect(await trySubscribe(service, who, { project_id: 'of-owner' })).toMatchObject(NO_PERMISSION);
    expect(await trySubscribe(service, who, { project_id: 'nowhere' })).toMatchObject({ status: 404 });
  });

  test('can filter a list for callers who may see the project', async () => {
    const stranger = await signIn(service);
    const list = (user: User, id: string) => service.get(`/payments?project_id=${id}`, user.options);
    expect(await list(stranger, 'of-acme')).toMatchObject({ status: 403 });
    expect(await list(stranger, 'of-owner')).toMatchObject({ status: 404 });
    expect(await list(owner, 'of-owner')).toMatchObject({ status: 200 });
    expect(await list(acme.member, 'of-acme')).toMatchObject({ status: 200 });
  });
});

describe('a guest', () => {
  const guest_data = { email: 'gil@example.com', name: 'Gil' };
  beforeAll(async () => {
    const owner = await signIn(service);
    await put('projects/private', projectBody({ owner_user_id: owner.userId }));
  });

  test.each([
    ['/payments/intents', guestIntentBody()],
    ['/payments', guestIntentBody()],
    ['/customers', customerBody({ guest_data })],
  ])('cannot name a project on POST %s', async (path, body) => {
    await service.settle();
    const before = await itemsOf(service);
    expect(await service.post(path, { ...body, project_id: 'private' })).toMatchObject(NO_PERMISSION);
    expect(await itemsOf(service)).toEqual(before);
  });

  test('gains no membership in a project by naming the project', async () => {
    const owner = await signIn(service);
    await put('projects/club', projectBody({ owner_user_id: owner.userId }));
    const first = await saveMethod(service, {}, { guest_data });
    const guest = await payer(service, { guestToken: first.guest_token });
    const plan = {
      name: 'Plan',
      total_cents: 0,
      currency: 'USD',
      billing_interval: 'monthly',
      metadata: { membership_type_id: 'gold' },
    };
    await put('products/club-plan', plan);
    const ofClub = () => service.get('/memberships?entity_type=project&entity_id=club', owner.options);
    const named = { product_id: 'club-plan', project_id: 'club' };
    expect(await service.post('/subscriptions', { ...guest.names, ...named }, guest.options)).toMatchObject(
      NO_PERMISSION,
    );
    expect((await ofClub()).body.data).toEqual([]);
    await put('products/club-plan', { ...plan, project_id: 'club' });
    const bought = await service.post('/subscriptions', { ...guest.names, product_id: 'club-plan' }, guest.options);
    expect(bought).toMatchObject({ status: 201, body: { project_id: 'club' } });
    expect((await ofClub()).body.data).toMatchObject([{ subscription_id: bought.body.id, status: 'active' }]);
  });
});

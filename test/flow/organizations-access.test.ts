import { describe, expect, test } from 'vitest';
import { partialAddress } from '../builders/address.ts';
import { DECLINED, intentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, itemsOf, signIn } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import { saveMethod } from './payers.ts';

const service = withHost({ frozen: true });

const denied = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
const customer = (organizationId: string) => ({
  provider_id: 'provider_a',
  email: 'payer@example.com',
  organization_id: organizationId,
});
const readIn = (organizationId: string, person: UserWithEmail) =>
  service.get(`/customers?organization_id=${organizationId}`, person.options);
const writeIn = (organizationId: string, person: UserWithEmail) =>
  service.post('/customers', customer(organizationId), person.options);

/** A member with write access, a completed write and a cached membership. */
const seatedMember = async () => {
  const [owner, member] = [await newPerson(service), await newPerson(service)];
  const id = await newOrganization(service, owner);
  const memberId = await addMember(service, owner, { organizationId: id, email: member.email, role: 'billing' });
  expect(await writeIn(id, member)).toMatchObject({ status: 201 });
  expect(await readIn(id, member)).toMatchObject({ status: 200 });
  return { id, owner, member, memberId };
};
const removal = ({ id, owner, memberId }: Awaited<ReturnType<typeof seatedMember>>) =>
  service.request('DELETE', `/organizations/${id}/members/${memberId}`, owner.options);

describe('a removed or downgraded member', () => {
  test('loses write access immediately', async () => {
    const seat = await seatedMember();
    expect(await removal(seat)).toMatchObject({ status: 200 });
    await service.settle();
    const before = await itemsOf(service, 'CUS#');
    expect(await writeIn(seat.id, seat.member)).toMatchObject(denied);
    const body = intentBody({ organization_id: seat.id });
    expect(await service.post('/payments/intents', body, seat.member.options)).toMatchObject(denied);
    const [first] = (await readIn(seat.id, seat.owner)).body;
    expect(await service.put(`/customers/${present(first).id}`, { phone: '1' }, seat.member.options)).toMatchObject(
      denied,
    );
    expect(await service.request('DELETE', `/customers/${present(first).id}`, seat.member.options)).toMatchObject(
      denied,
    );
    expect(await itemsOf(service, 'CUS#')).toEqual(before);
  });

  test('can read for at most five minutes after the removal', async () => {
    const seat = await seatedMember();
    await removal(seat);
    expect(await readIn(seat.id, seat.member)).toMatchObject({ status: 200 });
    await service.advance(5 * MINUTE_SECONDS);
    expect(await readIn(seat.id, seat.member)).toMatchObject(denied);
    expect(await readIn(seat.id, seat.owner)).toMatchObject({ status: 200 });
  });

  test.each(['organization_membership', 'all'])('can no longer read after the cache %s is cleared', async (type) => {
    const seat = await seatedMember();
    await removal(seat);
    const admin = await newPerson(service, { is_admin: true });
    const cleared = await service.post('/admin/cache/clear', { cache_type: type }, admin.options);
    expect(cleared).toMatchObject({ status: 200 });
    expect(await readIn(seat.id, seat.member)).toMatchObject(denied);
  });

  test('can still read, but not write, after a downgrade', async () => {
    const { id, owner, member, memberId } = await seatedMember();
    await service.put(`/organizations/${id}/members/${memberId}`, { role: 'member' }, owner.options);
    expect(await writeIn(id, member)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS', details: { role: 'member', permission: 'canManagePayments' } },
    });
    expect(await readIn(id, member)).toMatchObject({ status: 200 });
  });
});

describe('a response stored under an Idempotency-Key', () => {
  const bytesOf = ({ body }: TestAnswer): string => JSON.stringify(body);
  /** A payment created and canceled by the member, and the cancel request. */
  const canceled = async () => {
    const seat = await seatedMember();
    const payment = await createIntent(service, seat.member, { organization_id: seat.id });
    const once = { ...seat.member.options, idempotencyKey: 'cancel-once' };
    const cancel = () => service.post(`/payments/intents/${payment.id}/cancel`, {}, once);
    const first = await cancel();
    expect(first).toMatchObject({ status: 200, body: { status: 'canceled' } });
    return { seat, cancel, first };
  };

  test('is returned to a member again, byte for byte', async () => {
    const { cancel, first } = await canceled();
    const again = await cancel();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect([again.status, bytesOf(again)]).toEqual([first.status, bytesOf(first)]);
  });

  test('is refused to a removed member immediately, and returned again after the member is added back', async () => {
    const { seat, cancel, first } = await canceled();
    await removal(seat);
    expect(await cancel()).toMatchObject(denied);
    await addMember(service, seat.owner, { organizationId: seat.id, email: seat.member.email, role: 'billing' });
    expect(bytesOf(await cancel())).toBe(bytesOf(first));
  });

  test('is refused if the role no longer allows the request', async () => {
    const { seat, cancel } = await canceled();
    const path = `/organizations/${seat.id}/members/${seat.memberId}`;
    await service.put(path, { role: 'member' }, seat.owner.options);
    expect(await cancel()).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } });
  });

  test('is returned for a confirmation even after its method is deleted', async () => {
    const { id, member } = await seatedMember();
    const card = await saveMethod(service, member.options, { organization_id: null });
    const payment = await createIntent(service, member, { organization_id: id });
    const once = { ...member.options, idempotencyKey: 'confirm-once' };
    const pay = () => confirm(service, payment.id, { ...once, body: { payment_method_id: card.id } });
    const first = await pay();
    expect(first).toMatchObject({ status: 200 });
    const removed = await service.request('DELETE', `/payment-methods/${card.id}`, member.options);
    expect(removed).toMatchObject({ status: 204 });
    expect(bytesOf(await pay())).toBe(bytesOf(first));
  });

  test('is refused to a removed member even for a decline', async () => {
    const seat = await seatedMember();
    const payment = await createIntent(service, seat.member, { organization_id: seat.id });
    const once = { ...seat.member.options, idempotencyKey: 'declined-once' };
    const pay = () => confirm(service, payment.id, { ...once, body: { payment_method_id: DECLINED } });
    const first = await pay();
    expect(first).toMatchObject({ status: 402 });
    expect(bytesOf(await pay())).toBe(bytesOf(first));
    await removal(seat);
    expect(await pay()).toMatchObject(denied);
  });
});

describe('a deleted organization', () => {
  test('refuses writes immediately, and refuses reads after five minutes', async () => {
    const { id, owner, member } = await seatedMember();
    const payment = await service.post('/payments/intents', intentBody({ organization_id: id }), member.options);
    expect(payment.status).toBe(201);
    const deleted = await service.request('DELETE', `/organizations/${id}`, owner.options);
    expect(deleted).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } });
    const gone = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };
    for (const person of [owner, member]) {
      expect(await writeIn(id, person)).toMatchObject(denied);
      expect(await service.get(`/organizations/${id}`, person.options)).toMatchObject(gone);
      expect((await service.get('/organizations', person.options)).body.meta.pagination.total).toBe(0);
    }
    await service.advance(5 * MINUTE_SECONDS);
    for (const person of [owner, member]) expect(await readIn(id, person)).toMatchObject(denied);
    const read = (person: UserWithEmail) => service.get(`/payments/${payment.body.id}`, person.options);
    expect(await read(member)).toMatchObject({ status: 200 });
    expect(await read(await newPerson(service, { is_admin: true }))).toMatchObject({ status: 200 });
    expect(await read(owner)).toMatchObject(denied);
  });
});

describe('an unknown organization_id', () => {
  const LISTS = ['/payments', '/payment-methods', '/customers', '/subscriptions', '/addresses', '/payments/summary'];

  test('is refused in lists and bodies like a foreign organization, and its own path returns 404', async () => {
    const [person, stranger] = [await newPerson(service), await newPerson(service)];
    const others = await newOrganization(service, stranger);
    for (const id of ['org_none', 'org_000000000000000000000000', others]) {
      for (const path of LISTS) {
        expect(await service.get(`${path}?organization_id=${id}`, person.options)).toMatchObject(denied);
      }
      const bodies = [
        ['/payments/intents', intentBody({ organization_id: id })],
        ['/customers', customer(id)],
        ['/payment-methods', methodBody({ organization_id: id })],
        ['/addresses', partialAddress({ organization_id: id })],
      ] as const;
      for (const [path, body] of bodies) expect(await service.post(path, body, person.options)).toMatchObject(denied);
      const status = id === others ? 403 : 404;
      expect(await service.get(`/organizations/${id}`, person.options)).toMatchObject({ status });
      expect(await service.get(`/organizations/${id}/members`, person.options)).toMatchObject({ status });
    }
  });

  test('is also refused if the session names it', async () => {
    const person = await signIn(service, { organization_id: 'org_none' });
    expect(await service.get('/payments', person.options)).toMatchObject(denied);
    expect(await service.post('/payments/intents', intentBody(), person.options)).toMatchObject(denied);
    expect(await service.get('/webhooks/logs', person.options)).toMatchObject(denied);
  });
});

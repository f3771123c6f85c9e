/**
 * @module A retry under an Idempotency-Key gets the stored response only if the caller may still act for the same
 * organization.
 */

import { describe, expect, test } from 'vitest';
import { partialAddress } from '../builders/address.ts';
import { freePort } from '../builders/free-port.ts';
import { intentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';
import { nodesAt, SECRET } from './targets.ts';

const port = await freePort();
const service = withHost({ frozen: true, port, env: nodesAt(port, { all: { EVENTS: 'all', SECRET } }) });

const REUSED = { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };

/** Every create route that takes the session's organization as the default owner. */
const CREATES = [
  ['/payments/intents', intentBody()],
  ['/customers', customerBody()],
  ['/payment-methods', methodBody()],
  ['/addresses', partialAddress()],
] as const;

/** A member of an organization, with one session in the organization and one without. */
const memberWithSessions = async (role = 'billing') => {
  const owner = await newPerson(service);
  const member = await newPerson(service);
  const organizationId = await newOrganization(service, owner);
  const memberId = await addMember(service, owner, { organizationId, email: member.email, role });
  const there = await signIn(service, { email: member.email, organization_id: organizationId });
  const remove = () => service.request('DELETE', `/organizations/${organizationId}/members/${memberId}`, owner.options);
  return { owner, member, there, organizationId, remove };
};

describe.each(CREATES)('POST %s repeated with an Idempotency-Key', (path, body) => {
  test('hides the organization’s record from a former member, with or without an organization in the session', async () => {
    const { member, there, organizationId, remove } = await memberWithSessions();
    const first = await service.post(path, body, { ...there.options, idempotencyKey: 'one' });
    expect(first).toMatchObject({ status: 201, body: { organization_id: organizationId } });
    expect((await remove()).status).toBe(200);
    expect(await service.post(path, body, { ...member.options, idempotencyKey: 'one' })).toMatchObject(REUSED);
    expect(await service.post(path, body, { ...there.options, idempotencyKey: 'one' })).toMatchObject({ status: 403 });
  });

  test('returns the same record to the same session, and refuses another organization’s session', async () => {
    const { member, there, organizationId } = await memberWithSessions();
    const first = await service.post(path, body, { ...there.options, idempotencyKey: 'one' });
    const again = await service.post(path, body, { ...there.options, idempotencyKey: 'one' });
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, organization_id: organizationId } });
    const others = await newOrganization(service, member);
    const elsewhere = await signIn(service, { email: member.email, organization_id: others });
    expect(await service.post(path, body, { ...elsewhere.options, idempotencyKey: 'one' })).toMatchObject(REUSED);
  });
});

describe('a retry under the same key after the caller left the organization', () => {
  const NO_MEMBER = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };

  test('hides the result of a test event', async () => {
    const { there, remove } = await memberWithSessions('admin');
    const send = () =>
      service.post('/webhooks/test', { event: 'payment.succeeded' }, { ...there.options, idempotencyKey: 'one' });
    expect(await send()).toMatchObject({ status: 200 });
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    await remove();
    expect(await send()).toMatchObject(NO_MEMBER);
  });

  test('hides the organization’s test event from another organization’s session', async () => {
    const { member, there, remove } = await memberWithSessions('admin');
    const send = (options: RequestOptions) =>
      service.post('/webhooks/test', { event: 'payment.succeeded' }, { ...options, idempotencyKey: 'three' });
    expect(await send(there.options)).toMatchObject({ status: 200 });
    await remove();
    const others = await newOrganization(service, member);
    const elsewhere = await signIn(service, { email: member.email, organization_id: others });
    expect(await send(elsewhere.options)).toMatchObject(REUSED);
  });

  test('hides that an event was resent', async () => {
    const { there, remove } = await memberWithSessions('admin');
    await service.post('/payments/intents', intentBody(), there.options);
    await service.settle();
    const { body: entries } = await service.get('/webhooks/logs', there.options);
    const { id } = present(entries.find(({ direction }) => direction === 'outbound'));
    const again = () => service.post(`/webhooks/logs/${id}/replay`, {}, { ...there.options, idempotencyKey: 'two' });
    expect(await again()).toMatchObject({ status: 200 });
    expect((await again()).headers.get('idempotent-replayed')).toBe('true');
    await remove();
    expect(await again()).toMatchObject(NO_MEMBER);
  });
});

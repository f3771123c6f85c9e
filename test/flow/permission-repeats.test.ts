import { describe, expect, test } from 'vitest';
import { partialAddress } from '../builders/address.ts';
import { intentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';

/** A request under an Idempotency-Key means another record once its session means another organization. */
const service = withHost({ frozen: true });

const REUSED = { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };

/** Every create whose owner is the session's organization by default. */
const CREATES = [
  ['/payments/intents', intentBody()],
  ['/customers', customerBody()],
  ['/payment-methods', methodBody()],
  ['/addresses', partialAddress()],
] as const;

/** A billing member of an organization, with a session of it and one without. */
const memberWithSessions = async () => {
  const owner = await newPerson(service);
  const member = await newPerson(service);
  const organizationId = await newOrganization(service, owner);
  const memberId = await addMember(service, owner, { organizationId, email: member.email, role: 'billing' });
  const there = await signIn(service, { email: member.email, organization_id: organizationId });
  const remove = () => service.request('DELETE', `/organizations/${organizationId}/members/${memberId}`, owner.options);
  return { owner, member, there, organizationId, remove };
};

describe.each(CREATES)('POST %s under a key', (path, body) => {
  test('does not show what it made for an organization to a former member, whose session has none', async () => {
    const { member, there, organizationId, remove } = await memberWithSessions();
    const first = await service.post(path, body, { ...there.options, idempotencyKey: 'one' });
    expect(first).toMatchObject({ status: 201, body: { organization_id: organizationId } });
    expect((await remove()).status).toBe(200);
    expect(await service.post(path, body, { ...member.options, idempotencyKey: 'one' })).toMatchObject(REUSED);
    expect(await service.post(path, body, { ...there.options, idempotencyKey: 'one' })).toMatchObject({ status: 403 });
  });

  test('answers the same record to the same session, and refuses a session of another organization', async () => {
    const { member, there, organizationId } = await memberWithSessions();
    const first = await service.post(path, body, { ...there.options, idempotencyKey: 'one' });
    const again = await service.post(path, body, { ...there.options, idempotencyKey: 'one' });
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, organization_id: organizationId } });
    const others = await newOrganization(service, member);
    const elsewhere = await signIn(service, { email: member.email, organization_id: others });
    expect(await service.post(path, body, { ...elsewhere.options, idempotencyKey: 'one' })).toMatchObject(REUSED);
  });
});

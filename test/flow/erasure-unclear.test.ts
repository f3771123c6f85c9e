import { expect, test } from 'vitest';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization } from './organization-steps.ts';
import { createCustomer, customerAtProvider } from './payers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

test('an erasure clears an e-mail address again if an owner restores it after a lost response', async () => {
  const email = 'dora@example.com';
  const admin = await platformAdmin(service);
  const owner = await signIn(service, { email: 'owner@acme.example.com' });
  const member = await signIn(service, { email });
  const organization_id = await newOrganization(service, owner);
  await addMember(service, owner, { organizationId: organization_id, email, role: 'billing' });
  const body = { total_cents: 900, currency: 'USD', organization_id, description: 'Licences' };
  expect(await service.post('/payments/intents', body, member.options)).toMatchObject({ status: 201 });
  const customer = await createCustomer(service, member.options, { organization_id, email });
  await service.settle();
  await service.webhookMode('drop');
  await service.fault({ action: 'timeout_after', path: '/v1/customers', times: 1 });
  const { id } = await requestErasure(service, admin.options, { user_id: member.userId });
  const emailThere = async () => (await customerAtProvider(service, customer.provider_customer_id)).email;
  for (let minutes = 0; minutes < 20 && (await emailThere()) !== null; minutes += 1) {
    await service.advance(MINUTE_SECONDS);
    await service.settle();
  }
  expect(await emailThere()).toBeNull();
  expect(await service.put(`/customers/${customer.id}`, { email }, owner.options)).toMatchObject({ status: 200 });
  expect(await emailThere()).toBe(email);
  await untilErased(service, admin.options, { id });
  expect(await emailThere()).toBeNull();
  expect((await service.get(`/customers/${customer.id}`, owner.options)).body.email ?? null).toBeNull();
});

import { expect, test } from 'vitest';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization } from './organization-steps.ts';
import { createCustomer, customerAtProvider } from './payers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

test('an erasure takes back an e-mail address that an update without an answer has sent to the provider', async () => {
  const office = 'office@acme.example.com';
  const email = 'dora@example.com';
  const admin = await platformAdmin(service);
  const owner = await signIn(service, { email: 'owner@acme.example.com' });
  const member = await signIn(service, { email });
  const organization_id = await newOrganization(service, owner);
  await addMember(service, owner, { organizationId: organization_id, email, role: 'billing' });
  const body = { total_cents: 900, currency: 'USD', organization_id, description: 'Licences' };
  expect(await service.post('/payments/intents', body, member.options)).toMatchObject({ status: 201 });
  const customer = await createCustomer(service, member.options, { organization_id, email: office });
  await service.settle();
  await service.webhookMode('drop');
  await service.fault({ action: 'timeout_after', path: '/v1/customers', times: 1 });
  expect(await service.put(`/customers/${customer.id}`, { email }, owner.options)).toMatchObject({ status: 504 });
  expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({ email });
  await service.webhookMode('normal');
  const { id } = await requestErasure(service, admin.options, { user_id: member.userId });
  await untilErased(service, admin.options, { id });
  expect(await customerAtProvider(service, customer.provider_customer_id)).toMatchObject({ email: office });
});

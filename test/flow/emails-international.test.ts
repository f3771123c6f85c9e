import { expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { customerBody } from '../builders/payer.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';

/** E-mail fields accept addresses in any script. */
const service = withHost({ frozen: true });

test('a guest can create a payment with a non-Latin e-mail address', async () => {
  const created = await service.post('/payments/intents', {
    ...guestIntentBody(),
    guest_data: { email: '用户@例子.公司', name: '用户' },
  });
  expect(created).toMatchObject({ status: 201, body: { guest_email: '用户@例子.公司' } });
});

test('a customer and a member can have a non-ASCII e-mail address, stored in lower case', async () => {
  const owner = await signIn(service, { email: 'jörg@müller.example' });
  const customer = await service.post('/customers', customerBody({ email: 'JÖRG@Müller.Example' }), owner.options);
  expect(customer).toMatchObject({ status: 201, body: { email: 'jörg@müller.example' } });
  const { body } = await service.post('/organizations', { name: 'Müller' }, owner.options);
  await signIn(service, { email: '用户@例子.公司' });
  const added = await service.post(
    `/organizations/${body.data.id}/members`,
    { email: '用户@例子.公司', role: 'member' },
    owner.options,
  );
  expect(added).toMatchObject({ status: 201 });
});

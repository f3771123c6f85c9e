import { expect, test } from 'vitest';
import { guestPayer } from '../../shared/discounts/redemption.ts';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { confirm, itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment } from './refunders.ts';

const service = withHost({ frozen: true });

/** The summary's items for counting new payers. */
const payers = async () => (await itemsOf(service, 'PAYER#')).map(({ pk }) => pk);

test('an erasure removes a guest’s address hash from the items of new payers, but keeps a user’s id', async () => {
  const admin = await platformAdmin(service);
  const [email, user] = ['gerd+shop@example.com', await signIn(service)];
  await paidPayment(service, user);
  const { body } = await service.post('/payments/intents', guestIntentBody({ payment_method_id: VISA }, { email }));
  expect(await confirm(service, body.id, { guestToken: body.guest_token })).toMatchObject({ status: 200 });
  await service.settle();
  const ofUser = `PAYER#USER#${user.userId}`;
  expect((await payers()).sort()).toEqual([`PAYER#${guestPayer(email)}`, ofUser]);
  for (const person of [{ email }, { user_id: user.userId }]) {
    const { id } = await requestErasure(service, admin.options, person);
    await untilErased(service, admin.options, { id });
  }
  await service.settle();
  expect(await payers()).toEqual([ofUser]);
});

import { expect, test } from 'vitest';
import { guestPayer } from '../../shared/discounts/redemption.ts';
import { guestIntentBody } from '../builders/intent.ts';
import { putCode } from './discounts.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { itemsOf } from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true });

test('an erasure of a guest removes the hash of the guest’s e-mail address from the used codes', async () => {
  await putCode(service, 'GONE', { max_redemptions: 5, max_per_payer: 2 });
  const admin = await platformAdmin(service);
  const email = 'gerd+shop@example.com';
  const body = { subtotal_cents: 2_000, total_cents: undefined, discount_code: 'GONE' };
  expect((await service.post('/payments/intents', guestIntentBody(body, { email }))).status).toBe(201);
  const hash = guestPayer(email);
  const holds = async () => (await itemsOf(service)).filter((item) => JSON.stringify(item).includes(hash));
  expect((await holds()).map(({ sk }) => sk).sort()).toEqual(['DISCOUNTUSE', 'PAY']);
  const { id } = await requestErasure(service, admin.options, { email });
  await untilErased(service, admin.options, { id });
  await service.settle();
  expect(await holds()).toEqual([]);
  const counter = (await itemsOf(service, 'DISCOUNTCOUNT#GONE'))[0];
  expect(counter).toMatchObject({ taken: 0 });
});

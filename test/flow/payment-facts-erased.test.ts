/** @module The method of a payment after its payer is erased. */

import { describe, expect, test } from 'vitest';
import { wordPartition } from '../../shared/platform/keys.ts';
import { VISA } from '../builders/intent.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, textOf, untilErased } from './erasures.ts';
import {
  changeTable,
  confirm,
  createIntent,
  createPaidIntent,
  itemsOf,
  PATIENT,
  read,
  signIn,
  storedPayment,
} from './flow.ts';
import { withHost } from './host.ts';
import { company, saveReadyMethod } from './payers.ts';
import { refund } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });

describe('an erasure of a payer', () => {
  test('leaves the card’s digits in no item of the table', async () => {
    const admin = await platformAdmin(service);
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const card = { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa' };
    const { body: method } = await service.post('/payment-methods', card, user.options);
    expect(method).toMatchObject({ card_last_four: '4242' });
    const once = await createPaidIntent(service, user, { payment_method_id: VISA });
    expect(await confirm(service, once.id, user.options)).toMatchObject({ status: 200 });
    await service.settle();
    const item = await storedPayment(service, once.id);
    const details = { type: 'card', cardBrand: 'visa', lastFour: '4242', expiryMonth: '12', fingerprint: 'fp_4242' };
    await changeTable(service, { put: { ...item, details: { ...item.details, ...details } } });
    await refund(service, once.id, { body: { amount_cents: 100 }, ...admin.options });
    const object = { id: 'ch_unseen_000002', object: 'charge', payment_intent: once.provider_intent_id };
    const charged = { ...object, payment_method_details: { card: { brand: 'visa', last4: '4242', exp_year: 2_030 } } };
    await service.sendEvent({ type: 'charge.updated', object: charged, vocabulary: 'native' });
    await service.settle();
    const holding = async () => (await itemsOf(service)).filter((one) => /"4242"|fp_4242/.test(textOf(one)));
    expect((await holding()).length).toBeGreaterThan(2);
    const { id } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id });
    const mine = (await holding()).map(({ pk, sk }) => [pk, sk]);
    expect(mine).toEqual([]);
    expect(await read(service, once.id, admin.options)).toMatchObject({
      payment_method_details: { type: 'card', card_brand: 'visa', last_four: null, expiry_month: null },
    });
  });
  test('leaves no digits of a member’s own card on an organization’s unpaid payment', async () => {
    const admin = await platformAdmin(service);
    const { id: organization_id, billing } = await company(service);
    const card = { organization_id: null, provider_payment_method_token: 'pm_card_amex' };
    const { id: payment_method_id, card_last_four } = await saveReadyMethod(service, billing.options, card);
    const { id: paymentId } = await createIntent(service, billing, { organization_id, payment_method_id });
    await service.settle();
    const holding = async () => {
      const traces = [`"${card_last_four}"`, wordPartition('PAY', card_last_four)];
      const items = (await itemsOf(service)).filter((one) => traces.some((trace) => textOf(one).includes(trace)));
      return items.map(({ pk, sk }) => `${pk} ${sk}`);
    };
    const entries = (await holding()).filter((key) => key.includes(paymentId));
    expect(entries.length).toBeGreaterThanOrEqual(2);
    const { id } = await requestErasure(service, admin.options, { user_id: billing.userId });
    await untilErased(service, admin.options, { id });
    expect(await holding()).toEqual([]);
  });
});

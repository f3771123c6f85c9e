import { expect, test } from 'vitest';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { confirm, createIntent, itemsOf, signIn, storedPayment } from './flow.ts';
import { withHost } from './host.ts';
import { paidPayment, refund } from './refunders.ts';

/** An erasure records the provider's ids, so the service recognizes late events about an erased person. */
const service = withHost({ frozen: true });

test('an erasure records every provider id of a payment and its charges', async () => {
  const admin = await platformAdmin(service);
  const user = await signIn(service);
  const { id } = await createIntent(service, user, { payment_method_id: 'pm_card_chargeDeclined' });
  expect((await confirm(service, id, user.options)).status).toBe(402);
  const again = { payment_method_id: 'pm_card_visa' };
  expect((await confirm(service, id, { ...user.options, body: again })).status).toBe(200);
  const { body: returned } = await refund(service, id, { ...admin.options, body: { amount_cents: 100 } });
  const approved = await paidPayment(service, user, { paying: ['provider_b', 'SIM-OK'] });
  await service.settle();
  const [charged, captured] = [await storedPayment(service, id), await storedPayment(service, approved.id)];
  const ids = {
    payment: id,
    intent: charged.providerIntentId,
    charge: charged.attemptRef,
    'the declined charge before it': charged.priorAttemptRefs[0],
    refund: returned.id,
    'refund at the provider': returned.provider_refund_id,
    order: captured.providerIntentId,
    capture: captured.providerPaymentId,
  };
  expect(new Set(Object.values(ids)).size).toBe(Object.keys(ids).length);
  const { id: erasureId } = await requestErasure(service, admin.options, { user_id: user.userId });
  await untilErased(service, admin.options, { id: erasureId });
  const noted = new Set((await itemsOf(service, 'GONE#')).map(({ pk }) => pk));
  const missing = Object.entries(ids).filter(([, known]) => !noted.has(`GONE#${known}`));
  expect(missing).toEqual([]);
});

import { expect, test } from 'vitest';
import { withHost } from './host.ts';
import { changeTo, plan, preview, subscribed } from './plan-changes.ts';

const service = withHost({ frozen: true });

test('an immediate change is refused if the current period has 80 payments to credit', async () => {
  const product_id = await plan(service, 100);
  const of = await subscribed(service, { slot: 'provider_a', token: 'pm_card_visa' }, { product_id, quantity: 1 });
  await service.settle();
  for (let quantity = 2; quantity <= 80; quantity += 1) {
    expect((await changeTo(service, of, { quantity, expected_cents: 100 })).status).toBe(200);
  }
  const says = { status: 409, body: { code: 'INVALID_STATE', details: { reason: 'too_many_changes' } } };
  for (const route of [preview, changeTo]) expect(await route(service, of, { quantity: 81 })).toMatchObject(says);
  expect(await preview(service, of, { quantity: 81, when: 'period_end' })).toMatchObject({ status: 200 });
}, 300_000);

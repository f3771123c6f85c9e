import { describe, expect, it } from 'vitest';
import type { ParsedJson } from './host.ts';
import { withHost } from './host.ts';
import { OWN_BILLING, paymentsOf, readSubscription, subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: OWN_BILLING });

describe('a subscription', () => {
  it('is charged when it is made, and every month', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    expect(made).toMatchObject({ status: 'active', billing_status: 'active', billing_owner: 'service' });
    await service.moveTo(made.current_period_end);
    await service.advance(60);
    const renewed = await readSubscription(service, who, made.id);
    expect(renewed).toMatchObject({ status: 'active', current_period_start: made.current_period_end });
    const payments = await paymentsOf(service, who, made.id);
    expect(payments.map(({ status, total_cents }: ParsedJson) => [status, total_cents])).toEqual([
      ['succeeded', 1_900],
      ['succeeded', 1_900],
    ]);
  });
});

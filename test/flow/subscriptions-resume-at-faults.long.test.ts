/** @module The scheduled end of a pause while the provider fails. A temporary failure must not remove the end. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import {
  BILLERS,
  command,
  paymentsOf,
  readSubscription,
  subscribe,
  subscriber,
  subscriptionEventsOf,
} from './subscribers.ts';

const ACTIONS = ['error_500', 'rate_limit', 'timeout_before', 'timeout_after', 'reset', 'malformed'] as const;
const CASES = ACTIONS.flatMap((action) => [
  { action, days: 10, charges: 1 },
  { action, days: 40, charges: 2 },
]);

describe.each(BILLERS)('a pause with a scheduled end, billed by %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  const paused = async (days: number) => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    const resume_at = new Date(service.now() + days * DAY_SECONDS * 1_000).toISOString();
    expect(await command(service, who, { id, name: 'pause', body: { resume_at } })).toMatchObject({ status: 200 });
    return { who, id, resume_at };
  };

  const reasonsOf = async (id: string) =>
    (await subscriptionEventsOf(service, id)).filter((event) => /resumed|resume_failed/.test(event));

  test.each(CASES)('resumes once after $days days despite $action', async ({ action, days, charges }) => {
    const { who, id, resume_at } = await paused(days);
    await service.moveTo(new Date(Date.parse(resume_at) - 1_000).toISOString());
    await service.fault({ provider: 'provider_a', method: 'POST', times: 3, action });
    await service.advance(2 * HOUR_SECONDS);
    await service.settle();
    await service.clearFaults();
    await service.advance(DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
    expect(await reasonsOf(id)).toEqual(['subscription.updated resumed']);
    const paid = (await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded');
    expect(paid).toHaveLength(charges);
    for (const payment of paid) {
      const taken = (await service.ledger(payment.id)).charges.filter(({ status }) => status === 'succeeded');
      expect(taken).toHaveLength(1);
    }
  });

  test('keeps its end while it stays paused after a manual resumption that timed out at the provider', async () => {
    const { who, id, resume_at } = await paused(10);
    await service.advance(DAY_SECONDS);
    await service.fault({ provider: 'provider_a', method: 'POST', times: 20, action: 'timeout_before' });
    await command(service, who, { id, name: 'resume' });
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    await service.settle();
    const { status, resume_at: left } = await readSubscription(service, who, id);
    expect([status, left]).toEqual(status === 'paused' ? ['paused', resume_at] : ['active', null]);
    await service.advance(10 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
  });
});

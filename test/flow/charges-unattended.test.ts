import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { anotherMethod, BILLERS, patch, paymentsOf, readSubscription, subscribe, subscriber } from './subscribers.ts';

/** A card whose bank requires the payer at each charge, and declines the charge if the payer is absent. */
const ASKS = 'pm_card_authenticationRequired';

describe.each(BILLERS)('a card that requires authentication, with a subscription billed by %s', (...[, env]) => {
  const service = withHost({ frozen: true, env: { ...env, ...IMPATIENT } });

  test('waits for the payer at the first charge', async () => {
    const who = await subscriber(service, ASKS);
    const { id } = await subscribe(service, who);
    const [payment] = await paymentsOf(service, who, id);
    expect(payment).toMatchObject({ status: 'pending' });
  });

  test('is declined at a renewal, because the payer is absent', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    const body = { payment_method_id: await anotherMethod(service, who, ASKS) };
    expect(await patch(service, who, { id, body })).toMatchObject({ status: 200 });
    await service.advance(32 * DAY_SECONDS);
    await service.settle();
    const [, renewal] = await paymentsOf(service, who, id);
    expect(renewal).toMatchObject({ status: 'failed', failure_code: 'authentication_required' });
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due' });
  });
});

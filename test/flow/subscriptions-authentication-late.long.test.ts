/**
 * @module A payer authenticates shortly before the deadline, or after a cancellation, a pause or a takeover of the
 * subscription.
 */

import { beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { confirm, IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { company, saveMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import {
  BILLERS,
  command,
  patch,
  payer,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
} from './subscribers.ts';

const ALWAYS = 'pm_card_authenticationRequired';

describe.each(BILLERS)('a late authentication by the payer of a subscription billed by %s', (...[, env]) => {
  const service = withHost({ frozen: true, env: { ...env, ...IMPATIENT } });
  beforeEach(async () => {
    await service.webhookMode('normal');
    await service.clearFaults();
  });

  const paid = async (): Promise<number> =>
    (await service.ledger()).charges.filter(({ status }) => status === 'succeeded').length;

  /**
   * Renews the subscription. The payer confirms the renewal, and its authentication is pending. @returns the payment id
   */
  const authenticating = async (who: Subscriber, made: ParsedJson) => {
    await service.authenticate(made.latest_payment_id);
    await service.settle();
    await service.advance(32 * DAY_SECONDS);
    const { open_payment: open } = await readSubscription(service, who, made.id);
    expect(await confirm(service, open.id, who.options)).toMatchObject({ status: 200, body: { status: 'pending' } });
    await service.settle();
    return open.id;
  };

  test('activates the subscription if the authentication is in time, even if every event is lost', async () => {
    const who = await subscriber(service, ALWAYS);
    const made = await subscribe(service, who);
    await service.webhookMode('drop');
    const before = await paid();
    await service.advance(22.5 * HOUR_SECONDS);
    await service.authenticate(made.latest_payment_id);
    await service.advance(2 * HOUR_SECONDS);
    await service.advance(2 * DAY_SECONDS);
    expect({
      paid: (await paid()) - before,
      status: (await readSubscription(service, who, made.id)).status,
    }).toEqual({ paid: 1, status: 'active' });
  });

  test.each(['cancel', 'pause'] as const)('causes no charge after a %s', async (name) => {
    const who = await subscriber(service, ALWAYS);
    const made = await subscribe(service, who);
    const open = await authenticating(who, made);
    const before = await paid();
    expect(
      await command(service, who, {
        id: made.id,
        name,
        body: name === 'cancel' ? { cancel_at_period_end: false } : {},
      }),
    ).toMatchObject({
      status: 200,
    });
    await service.authenticate(open).catch(() => undefined);
    await service.settle();
    const [payment] = (await paymentsOf(service, who, made.id)).slice(-1);
    expect({ paid: (await paid()) - before, payment: payment?.status }).toEqual({ paid: 0, payment: 'canceled' });
  });

  if (Object.keys(env).length === 0) {
    test('causes no charge after a cancel with a failed call to void the invoice', async () => {
      const who = await subscriber(service, ALWAYS);
      const made = await subscribe(service, who);
      const open = await authenticating(who, made);
      const before = await paid();
      await service.fault({ provider: 'provider_a', path: '/void', action: 'error_500', times: 2 });
      const canceled = await command(service, who, {
        id: made.id,
        name: 'cancel',
        body: { cancel_at_period_end: false },
      });
      expect(canceled.status).toBeGreaterThanOrEqual(500);
      await service.clearFaults();
      await service.settle();
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
      await service.authenticate(open).catch(() => undefined);
      await service.settle();
      const [payment] = (await paymentsOf(service, who, made.id)).slice(-1);
      expect({ paid: (await paid()) - before, payment: payment?.status }).toEqual({ paid: 0, payment: 'canceled' });
    });
  }

  test('causes no second charge after another card has taken over the subscription', async () => {
    const { id: organization_id, owner } = await company(service);
    const { options } = await signIn(service, { user_id: owner.userId, expires_in: 366 * DAY_SECONDS });
    const who = await payer(service, options, { token: ALWAYS, fields: { organization_id } });
    const made = await subscribe(service, who, { organization_id });
    const open = await authenticating(who, made);
    const before = await paid();
    const own = await saveMethod(service, options, { provider_payment_method_token: 'pm_card_visa' });
    const { status } = await patch(service, who, { id: made.id, body: { payment_method_id: own.id } });
    await service.authenticate(open).catch(() => undefined);
    await service.settle();
    await service.advance(2 * HOUR_SECONDS);
    expect({ status, paid: (await paid()) - before }).toMatchObject({ paid: 1 });
  });
});

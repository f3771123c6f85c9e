/** @module `next_billing_date` and `provider_subscription_id` in every response with a subscription. */
import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';
import {
  BILLERS,
  command,
  OWN_BILLING,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
} from './subscribers.ts';

const NOW = { cancel_at_period_end: false };
/** A method that succeeds, by provider. */
const TOKENS: Readonly<Record<string, string>> = { provider_b: 'SIM-OK', provider_c: 'cnon:card-nonce-ok' };

describe.each(BILLERS)('next_billing_date of a subscription billed by %s', (_biller, env) => {
  const service = withHost({ frozen: true, env });

  const listed = async (who: Subscriber) => (await service.get('/subscriptions', who.options)).body[0];
  const cellOf = async (who: Subscriber): Promise<string | undefined> => {
    const { body } = await service.get('/subscriptions', { ...who.options, headers: { accept: 'text/csv' } });
    const [head = '', row = ''] = String(body).replaceAll('\r', '').split('\n');
    return row.split(',')[head.split(',').indexOf('next_billing_date')];
  };

  test.each([
    ['active', {}],
    ['trialing', { trial_days: 10 }],
  ])('is null while a cancellation is scheduled, but not after its withdrawal (%s)', async (_status, fields) => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, fields);
    expect(made.next_billing_date).toBe(made.current_period_end);
    const scheduled = await command(service, who, { id: made.id, name: 'cancel' });
    expect(scheduled.body).toMatchObject({ status: made.status, cancel_at_period_end: true, next_billing_date: null });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ next_billing_date: null });
    expect(await listed(who)).toMatchObject({ id: made.id, next_billing_date: null });
    expect(await cellOf(who)).toBe('');
    const withdrawn = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(withdrawn.body).toMatchObject({ cancel_at_period_end: false, next_billing_date: made.current_period_end });
    expect(await cellOf(who)).toBe(made.current_period_end);
  });

  test.each([
    ['provider_a', 'pm_card_visa'],
    ['provider_b', 'SIM-OK'],
    ['provider_c', 'cnon:card-nonce-ok'],
  ])('equals the end of the trial and of the period at %s, in whole seconds', async (provider_id, token) => {
    const who = await subscriber(service, token, { provider_id });
    await service.moveTo(`${new Date(service.now() + 2_000).toISOString().slice(0, 19)}.488Z`);
    const made = await subscribe(service, who, { trial_days: 10 });
    await service.advance(60);
    for (const { trial_end, current_period_end, next_billing_date } of [
      made,
      await readSubscription(service, who, made.id),
    ]) {
      expect(trial_end).toMatch(/\.000Z$/);
      expect([current_period_end, next_billing_date]).toEqual([trial_end, trial_end]);
    }
  });

  test('is null while the subscription is paused and after it is canceled', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const paused = await command(service, who, { id: made.id, name: 'pause' });
    expect(paused.body).toMatchObject({ status: 'paused', next_billing_date: null });
    const canceled = await command(service, who, { id: made.id, name: 'cancel', body: NOW });
    expect(canceled.body).toMatchObject({ status: 'canceled', next_billing_date: null });
  });
});

describe('provider_subscription_id', () => {
  const service = withHost({ env: OWN_BILLING });

  test.each(['provider_a', 'provider_b', 'provider_c'])('is null if the service bills (%s)', async (provider_id) => {
    const who = await subscriber(service, TOKENS[provider_id], { provider_id });
    const made = await subscribe(service, who);
    expect(made).toMatchObject({ billing_owner: 'service', provider_subscription_id: null });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ provider_subscription_id: null });
  });
});

/** @module The amount due at a billing provider includes every open invoice, not only the newest. */

import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { confirm, IMPATIENT } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';
import { saveMethod } from './payers.ts';
import {
  anotherMethod,
  command,
  patch,
  payer,
  paymentsOf,
  readMembership,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
} from './subscribers.ts';

const FAILING = 'pm_card_chargeCustomerFail';
const NOW = { cancel_at_period_end: false };
const PRICE = 1_900;

const paidThere = async (service: TestHost, id: string): Promise<number[]> => {
  const { subscriptions, invoices, charges } = await service.ledger();
  const ids = subscriptions.filter((one) => one.subscription_id === id).map((one) => one.id);
  const intents = invoices
    .filter(({ subscription }) => ids.includes(subscription))
    .map(({ payment_intent }) => payment_intent);
  return charges
    .filter(({ payment_intent, status }) => intents.includes(payment_intent) && status === 'succeeded')
    .map(({ amount }) => amount);
};

const openThere = async (service: TestHost, id: string): Promise<number> => {
  const { subscriptions, invoices } = await service.ledger();
  const ids = subscriptions.filter((one) => one.subscription_id === id).map((one) => one.id);
  return invoices.filter(({ subscription, status }) => ids.includes(subscription) && status === 'open').length;
};

/** A subscriber with three unpaid days. */
const owing = async (service: TestHost) => {
  const who = await subscriber(service);
  const made = await subscribeToGold(service, who, { billing_interval: 'daily' });
  const failing = await anotherMethod(service, who, FAILING);
  expect((await patch(service, who, { id: made.id, body: { payment_method_id: failing } })).status).toBe(200);
  await service.advance(3 * DAY_SECONDS + 2 * HOUR_SECONDS);
  expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'past_due' });
  expect(await openThere(service, made.id)).toBe(3);
  return { who, id: made.id, good: await anotherMethod(service, who) };
};

const statuses = async (service: TestHost, who: Subscriber, id: string): Promise<string[]> =>
  (await paymentsOf(service, who, id)).map(({ status }) => status);

describe('three open invoices of a provider-billed subscription', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  test('are all paid by a new method, oldest first, each as a separate payment', async () => {
    const { who, id, good } = await owing(service);
    const changed = await patch(service, who, { id, body: { payment_method_id: good } });
    expect(changed).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await paidThere(service, id)).toEqual([PRICE, PRICE, PRICE, PRICE]);
    await service.settle();
    expect(await statuses(service, who, id)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
    expect(await openThere(service, id)).toBe(0);
    const events = (await subscriptionEventsOf(service, id)).filter((name) => name.endsWith('renewed'));
    expect(events).toHaveLength(1);
    await command(service, who, { id, name: 'cancel', body: NOW });
  });

  test('are all paid if the payer confirms the oldest invoice', async () => {
    const { who, id, good } = await owing(service);
    const { open_payment: open } = await readSubscription(service, who, id);
    const [, oldest] = await paymentsOf(service, who, id);
    expect(open.id).toBe(oldest?.id);
    const confirmed = await confirm(service, open.id, { ...who.options, body: { payment_method_id: good } });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    expect(await statuses(service, who, id)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    await command(service, who, { id, name: 'cancel', body: NOW });
  });

  test('remain due, except for the newest invoice if it is paid at the provider', async () => {
    const { who, id, good } = await owing(service);
    const { invoices, subscriptions } = await service.ledger();
    const there = subscriptions.find((one) => one.subscription_id === id);
    const [oldest, newest] = [-3, -1].map((at) =>
      invoices.filter((one) => one.subscription === present(there).id).at(at),
    );
    const { provider_payment_method_id: ref } = (await service.get(`/payment-methods/${good}`, who.options)).body;
    await atStripe(service, `POST invoices/${present(newest).id}/pay`, { payment_method: ref });
    await service.settle();
    expect(await statuses(service, who, id)).toEqual(['succeeded', 'failed', 'failed', 'succeeded']);
    const left = await readSubscription(service, who, id);
    expect(left).toMatchObject({ status: 'past_due', billing_status: 'retrying' });
    // Stripe retries the oldest invoice three days after its first failure.
    expect(left.next_billing_date).toBe(new Date(Date.parse(present(oldest).period_start) + 3 * DAY_MS).toISOString());
    await command(service, who, { id, name: 'cancel', body: NOW });
  });

  test('are paid one by one in the browser, and the last payment activates the subscription', async () => {
    const { who, id, good } = await owing(service);
    const { provider_payment_method_id: ref } = (await service.get(`/payment-methods/${good}`, who.options)).body;
    const paid: string[] = [];
    for (const left of [2, 1, 0]) {
      const { status, open_payment: open } = await readSubscription(service, who, id);
      expect(status).toBe('past_due');
      paid.push(open.id);
      const [intent] = open.client_secret.split('_secret_');
      await atStripe(service, `POST payment_intents/${intent}/confirm`, { payment_method: ref });
      await service.settle();
      expect(await openThere(service, id)).toBe(left);
    }
    const now = await readSubscription(service, who, id);
    expect(now).toMatchObject({ status: 'active', billing_status: 'active' });
    expect(now).not.toHaveProperty('open_payment');
    const [, ...renewals] = await paymentsOf(service, who, id);
    expect(renewals.map((payment) => [payment.id, payment.status])).toEqual(paid.map((each) => [each, 'succeeded']));
    const events = (await subscriptionEventsOf(service, id)).filter((name) => name.endsWith('renewed'));
    expect(events).toEqual(['subscription.updated renewed']);
    await command(service, who, { id, name: 'cancel', body: NOW });
  });

  test('are canceled by a cancellation, except a written-off invoice, and a later payment of it is recorded', async () => {
    const { who, id, good } = await owing(service);
    const { invoices, subscriptions } = await service.ledger();
    const there = subscriptions.find((one) => one.subscription_id === id);
    const oldest = invoices.filter((one) => one.subscription === present(there).id).at(1);
    await service.control('POST', `/simulator/invoices/${oldest?.id}`, { action: 'mark_uncollectible' });
    await service.settle();
    expect(await command(service, who, { id, name: 'cancel', body: NOW })).toMatchObject({ status: 200 });
    const { provider_payment_method_id: ref } = (await service.get(`/payment-methods/${good}`, who.options)).body;
    await service.advance(20 * DAY_SECONDS);
    expect(await paidThere(service, id)).toEqual([PRICE]);
    await atStripe(service, `POST invoices/${oldest?.id}/pay`, { payment_method: ref });
    await service.settle();
    expect(await statuses(service, who, id)).toEqual(['succeeded', 'succeeded', 'canceled', 'canceled']);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'canceled' });
  });

  test.each([
    ['pause', {}],
    ['cancel', NOW],
  ] as const)('are canceled in our records by a %s, even if every Stripe event is lost', async (name, body) => {
    const { who, id } = await owing(service);
    await service.webhookMode('drop');
    expect(await command(service, who, { id, name, body })).toMatchObject({ status: 200 });
    expect(await statuses(service, who, id)).toEqual(['succeeded', 'canceled', 'canceled', 'canceled']);
    await service.webhookMode('normal');
    await command(service, who, { id, name: 'cancel', body: NOW });
  });

  test.each([
    ['pause', {}],
    ['cancel', NOW],
  ] as const)('are never charged after a %s', async (name, body) => {
    const { who, id, good } = await owing(service);
    expect(await command(service, who, { id, name, body })).toMatchObject({ status: 200 });
    expect(await openThere(service, id)).toBe(0);
    await service.settle();
    expect(await statuses(service, who, id)).toEqual(['succeeded', 'canceled', 'canceled', 'canceled']);
    await patch(service, who, { id, body: { payment_method_id: good } });
    await service.advance(20 * DAY_SECONDS);
    expect(await paidThere(service, id)).toEqual([PRICE]);
    expect((await readMembership(service, who, id)).status).not.toBe('active');
    await command(service, who, { id, name: 'cancel', body: NOW });
  });
});

describe('three concurrently open invoices', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  interface Owing {
    readonly who: Subscriber;
    readonly id: string;
    readonly good: string;
    readonly leave?: () => Promise<void>;
  }

  /** An organization's subscription with a member's own card. */
  const owingOfMember = async (): Promise<Owing> => {
    const [owner, admin] = [await newPerson(service), await newPerson(service)];
    const organizationId = await newOrganization(service, owner);
    const of = { organizationId, email: admin.email, role: 'admin' };
    const memberId = await addMember(service, owner, of);
    const fields = { organization_id: organizationId };
    const who = await payer(service, owner.options, { fields });
    const made = await subscribe(service, who, { ...fields, billing_interval: 'daily' });
    const card = await saveMethod(service, admin.options, {
      organization_id: null,
      provider_payment_method_token: FAILING,
    });
    const body = { payment_method_id: card.id };
    const lent = await patch(service, { ...who, options: admin.options }, { id: made.id, body });
    expect(lent.status).toBe(200);
    await service.advance(3 * DAY_SECONDS + 2 * HOUR_SECONDS);
    expect(await openThere(service, made.id)).toBe(3);
    const path = `/organizations/${organizationId}/members/${memberId}`;
    const leave = async (): Promise<void> => {
      expect((await service.request('DELETE', path, owner.options)).status).toBe(200);
      // The sweep in the next minute stops the use of the member's card.
      await service.advance(2 * MINUTE_SECONDS);
    };
    return { who, id: made.id, good: '', leave };
  };

  test('are not charged after their member leaves, even if the card works again', async () => {
    const { who, id, leave } = await owingOfMember();
    await leave?.();
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'past_due',
      billing_status: 'unpaid',
      next_billing_date: null,
    });
    const { subscriptions } = await service.ledger();
    const there = subscriptions.filter((one) => one.subscription_id === id).at(-1);
    const { id: method } = await atStripe(service, 'POST payment_methods/pm_card_visa/attach', {
      customer: present(there).customer,
    });
    await atStripe(service, `POST subscriptions/${present(there).id}`, { default_payment_method: method });
    await service.advance(20 * DAY_SECONDS);
    expect(await paidThere(service, id)).toEqual([PRICE]);
    await command(service, who, { id, name: 'cancel', body: NOW });
  });

  const run = async (step: Step, { who, id, good, leave }: Owing): Promise<void> => {
    switch (step) {
      case 'pause':
      case 'cancel':
        await command(service, who, { id, name: step, body: step === 'cancel' ? NOW : {} });
        break;
      case 'leave':
        await leave?.();
        break;
      case 'new card':
        await patch(service, who, { id, body: { payment_method_id: good } });
        break;
      case 'payer pays': {
        const { open_payment: open } = await readSubscription(service, who, id);
        if (open) await confirm(service, open.id, { ...who.options, body: { payment_method_id: good } });
        break;
      }
      case 'retries':
        await service.advance(6 * HOUR_SECONDS);
    }
    await service.settle();
  };

  test.each<[Step, Step, number]>([
    ['pause', 'retries', 0],
    ['pause', 'new card', 0],
    ['pause', 'payer pays', 0],
    ['cancel', 'retries', 0],
    ['cancel', 'payer pays', 0],
    ['leave', 'retries', 0],
    ['retries', 'pause', 0],
    ['retries', 'leave', 0],
    ['new card', 'retries', 3],
    ['new card', 'cancel', 3],
    ['payer pays', 'pause', 3],
    ['retries', 'payer pays', 3],
  ])('are charged only if still due after %s, then %s', async (first, second, charges) => {
    const test = first === 'leave' || second === 'leave' ? await owingOfMember() : await owing(service);
    const before = (await paidThere(service, test.id)).length;
    for (const step of [first, second]) await run(step, test);
    expect((await paidThere(service, test.id)).length - before).toBe(charges);
    expect(await openThere(service, test.id)).toBe(0);
    await command(service, test.who, { id: test.id, name: 'cancel', body: NOW });
  });
});

type Step = 'pause' | 'cancel' | 'leave' | 'new card' | 'payer pays' | 'retries';

/** @module The subscription was changed in Stripe's dashboard, and the event was lost. */

import { beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { type TestAnswer, withHost } from './host.ts';
import { company, problemsOf, saveMethod } from './payers.ts';
import {
  anotherMethod,
  command,
  patch,
  payer,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
} from './subscribers.ts';

const service = withHost({ frozen: true });
beforeEach(async () => {
  await service.clearFaults();
  await service.webhookMode('drop');
});

const NOW = { cancel_at_period_end: false };

const endAtStripe = ({ provider_subscription_id: id }: { readonly provider_subscription_id: string }) =>
  atStripe(service, `DELETE subscriptions/${id}`);

const there = async (id: string) => (await service.ledger()).subscriptions.filter((one) => one.subscription_id === id);

type Act = (who: Subscriber, id: string) => Promise<TestAnswer>;
interface Asked {
  readonly name: string;
  /** Runs before Stripe ends the subscription. */
  readonly before?: Act;
  readonly act: Act;
  readonly status: 200 | 409;
}

const cancelNow: Act = (who, id) => command(service, who, { id, name: 'cancel', body: NOW });
const schedule: Act = (who, id) => command(service, who, { id, name: 'cancel' });
const pause: Act = (who, id) => command(service, who, { id, name: 'pause' });
const resume: Act = (who, id) => command(service, who, { id, name: 'resume' });
const reactivate: Act = (who, id) => command(service, who, { id, name: 'reactivate' });
const changeMethod: Act = async (who, id) =>
  patch(service, who, { id, body: { payment_method_id: await anotherMethod(service, who) } });
/** Changes to a method that is saved before the concurrent commands start. */
const changeTo =
  (method: string): Act =>
  (who, id) =>
    patch(service, who, { id, body: { payment_method_id: method } });

const COMMANDS: readonly Asked[] = [
  { name: 'cancel', act: cancelNow, status: 200 },
  { name: 'cancel at period end', act: schedule, status: 200 },
  { name: 'pause', act: pause, status: 409 },
  { name: 'resume', before: pause, act: resume, status: 409 },
  { name: 'reactivate', before: schedule, act: reactivate, status: 409 },
  { name: 'change of method', act: changeMethod, status: 409 },
];

describe('a subscription that ended at Stripe without an event', () => {
  test.each(COMMANDS)('responds to $name with $status, and its record is canceled', async ({ before, act, status }) => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    expect((await before?.(who, made.id))?.status ?? 200).toBe(200);
    await endAtStripe(made);
    const answer = await act(who, made.id);
    expect({ status: answer.status, body: answer.body }).toMatchObject(
      status === 200 ? { status, body: { status: 'canceled' } } : { status, body: { code: 'INVALID_STATE' } },
    );
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'canceled',
      payment_method_id: who.names.payment_method_id,
      next_billing_date: null,
    });
    expect((await there(made.id)).map((one) => one.status)).toEqual(['canceled']);
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });

  test('returns 409 for a method of another Stripe customer, and creates no second subscription', async () => {
    const { id: organization_id, owner } = await company(service);
    const paying = await payer(service, owner.options, { token: 'pm_card_visa', fields: { organization_id } });
    const made = await subscribe(service, paying, { organization_id });
    const method = await saveMethod(service, owner.options);
    await endAtStripe(made);
    expect(await patch(service, paying, { id: made.id, body: { payment_method_id: method.id } })).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    expect((await there(made.id)).map((one) => one.status)).toEqual(['canceled']);
    await service.advance(2 * HOUR_SECONDS);
    expect((await there(made.id)).map((one) => one.status)).toEqual(['canceled']);
  });

  test('does not block the deletion of its method', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const other = await anotherMethod(service, who);
    expect((await service.post(`/payment-methods/${other}/set-default`, {}, who.options)).status).toBe(200);
    await endAtStripe(made);
    const path = `/payment-methods/${who.names.payment_method_id}`;
    expect((await service.request('DELETE', path, who.options)).status).toBe(204);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
  });

  test('does not block the deletion of its customer', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await endAtStripe(made);
    const path = `/customers/${who.names.customer_id}`;
    expect((await service.request('DELETE', path, who.options)).status).toBe(204);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
  });

  test('does not block the deletion of its organization', async () => {
    const { id: organization_id, owner } = await company(service);
    const paying = await payer(service, owner.options, { token: 'pm_card_visa', fields: { organization_id } });
    const made = await subscribe(service, paying, { organization_id });
    await endAtStripe(made);
    expect((await service.request('DELETE', `/organizations/${organization_id}`, owner.options)).status).toBe(200);
  });
});

describe('a method detached at Stripe without an event', () => {
  test('is refused as the new method of a subscription, which stays unchanged', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const other = await anotherMethod(service, who);
    const { provider_payment_method_id: gone } = (await service.get(`/payment-methods/${other}`, who.options)).body;
    await atStripe(service, `POST payment_methods/${gone}/detach`);
    const answer = await patch(service, who, { id: made.id, body: { payment_method_id: other } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(answer)).toEqual(['payment_method_id']);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'active',
      payment_method_id: who.names.payment_method_id,
    });
  });
});

describe('concurrent commands', () => {
  const RIVALS = [
    ['cancel', 'pause'],
    ['cancel', 'schedule'],
    ['cancel', 'cancel'],
    ['pause', 'pause'],
    ['pause', 'schedule'],
    ['schedule', 'schedule'],
    ['schedule', 'method'],
    ['pause', 'method'],
    ['cancel', 'method'],
    ['method', 'method'],
    ['cancel', 'pause', 'schedule'],
    ['pause', 'pause', 'pause'],
    ['cancel', 'cancel', 'schedule'],
    ['cancel', 'pause', 'method'],
  ] as const;

  test.each(RIVALS.map((rivals) => ({ name: rivals.join(', '), rivals })))(
    'return 200 or 409, and the record then equals Stripe’s state ($name)',
    async ({ rivals }) => {
      for (let round = 0; round < 3; round += 1) {
        const who = await subscriber(service);
        const made = await subscribe(service, who);
        const method = changeTo(await anotherMethod(service, who));
        const acts = { cancel: cancelNow, pause, schedule, method };
        const answers = await Promise.all(rivals.map((rival) => acts[rival](who, made.id)));
        for (const { status, body } of answers) expect([200, 409], JSON.stringify(body)).toContain(status);
        expect(answers.map(({ status }) => status)).toContain(200);
        const here = await readSubscription(service, who, made.id);
        const [stands] = await there(made.id);
        expect(stands).toMatchObject({
          status: here.status === 'paused' ? 'active' : here.status,
          ...(here.status !== 'canceled' && { cancel_at_period_end: here.cancel_at_period_end }),
        });
        if (rivals.some((rival) => rival === 'cancel')) expect(here.status).toBe('canceled');
        expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
      }
    },
  );
});

describe('a pause that ended at Stripe without an event', () => {
  test('returns 409 for a resumption that would charge, and charges nothing', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval: 'weekly' });
    await pause(who, made.id);
    await service.advance(8 * DAY_SECONDS);
    await endAtStripe(made);
    expect(await resume(who, made.id)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });
});

/**
 * @module The first payment of a subscription is listed and published only with its subscription, so a failed create
 * leaves neither. Every charge is listed, including charges with an unknown outcome.
 */

import { describe, expect, test } from 'vitest';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { IMPATIENT, itemsOf, type User } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { OWN_BILLING, type Subscriber, subscriber, trySubscribe } from './subscribers.ts';

type Payer = Subscriber & { readonly user: User };

interface Case {
  readonly name: string;
  readonly token?: string;
  /** Stripe refuses the method, because it was detached at Stripe and the event was lost. */
  readonly detached?: true;
  readonly fault?: Readonly<Record<string, unknown>>;
  /** The status of the response. */
  readonly status: number;
  /** The records after a day. */
  readonly left: 'nothing' | 'active' | 'canceled';
}

const INTENTS = { provider: 'provider_a', method: 'POST', path: '/v1/payment_intents', times: 1 };
const CONFIRMATIONS = { ...INTENTS, path: '/confirm' };

const CASES: readonly Case[] = [
  { name: 'a decline', token: 'pm_card_chargeCustomerFail', status: 402, left: 'nothing' },
  { name: 'a refusal', detached: true, status: 400, left: 'nothing' },
  {
    name: 'an error before anything was asked',
    fault: { ...INTENTS, action: 'error_500' },
    status: 502,
    left: 'nothing',
  },
  {
    name: 'a creation that never arrived',
    fault: { ...INTENTS, action: 'timeout_before' },
    status: 504,
    left: 'nothing',
  },
  {
    name: 'a creation whose answer is lost',
    fault: { ...INTENTS, action: 'timeout_after' },
    status: 504,
    left: 'nothing',
  },
  {
    name: 'a charge that never arrived',
    fault: { ...CONFIRMATIONS, action: 'timeout_before' },
    status: 201,
    left: 'active',
  },
  {
    name: 'a charge whose answer is lost',
    fault: { ...CONFIRMATIONS, action: 'timeout_after' },
    status: 201,
    left: 'active',
  },
  {
    name: 'a charge whose decline is lost',
    token: 'pm_card_chargeCustomerFail',
    fault: { ...CONFIRMATIONS, action: 'timeout_after' },
    status: 201,
    left: 'canceled',
  },
  {
    name: 'a charge that its payer never authenticates',
    token: 'pm_card_authenticationRequired',
    status: 201,
    left: 'canceled',
  },
  { name: 'a success', status: 201, left: 'active' },
];

const eventsOf = async (service: TestHost, { user }: Payer) =>
  (await service.busEvents())
    .filter(
      (event) => event['detail-type'].startsWith('payment.') && event.detail.payload.data.user?.id === user.userId,
    )
    .map((event) => ({ ...event.detail.payload.data, name: event['detail-type'] }));

/** Expects a readable subscription for every listed or published payment, and a listed payment for every charge. */
const expectTruth = async (service: TestHost, who: Payer) => {
  const { body: subscriptions } = await service.get('/subscriptions', who.options);
  const { body: payments } = await service.get('/payments', who.options);
  const ids = subscriptions.map(({ id }) => id);
  for (const { subscription_id } of [...payments.data, ...(await eventsOf(service, who))])
    expect(ids).toContain(subscription_id);
  const customer = (await service.get(`/customers/${who.names.customer_id}`, who.options)).body;
  const { payment_intents: intents, charges } = await service.ledger();
  const theirs = intents.filter((intent) => intent.customer === customer.provider_customer_id).map(({ id }) => id);
  const charged = charges
    .filter(({ payment_intent, status }) => theirs.includes(payment_intent) && status === 'succeeded')
    .map(({ payment_id }) => payment_id);
  const paid = payments.data.filter(({ status }) => status === 'succeeded');
  expect(paid.map(({ id }) => id)).toEqual(charged);
  return { subscriptions, payments: payments.data };
};

const detach = async (service: TestHost, { options, names }: Payer): Promise<void> => {
  const { body: method } = await service.get(`/payment-methods/${names.payment_method_id}`, options);
  await service.webhookMode('drop');
  await atStripe(service, `POST payment_methods/${method.provider_payment_method_id}/detach`);
  await service.webhookMode('normal');
};

describe('the create of a service-billed subscription', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  const expectLeft = async (one: Case, who: Payer): Promise<void> => {
    const { subscriptions, payments } = await expectTruth(service, who);
    const isLeft = one.left !== 'nothing';
    const names = (await eventsOf(service, who)).map(({ name }) => name);
    expect({
      name: one.name,
      left: subscriptions.map(({ status }) => status),
      listed: payments.length,
      created: names.filter((name) => name === 'payment.created').length,
      succeeded: names.filter((name) => name === 'payment.succeeded').length,
    }).toEqual({
      name: one.name,
      left: isLeft ? [one.left] : [],
      listed: isLeft ? 1 : 0,
      created: isLeft ? 1 : 0,
      succeeded: one.left === 'active' ? 1 : 0,
    });
  };

  test('leaves both subscription and payment, or neither, for every outcome of the first charge', {
    timeout: 120_000,
  }, async () => {
    const made: { readonly one: Case; readonly who: Payer }[] = [];
    const tryCase = async (one: Case): Promise<void> => {
      const who = await subscriber(service, one.token);
      await service.clearFaults();
      if (one.detached) await detach(service, who);
      if (one.fault) await service.fault(one.fault);
      const { status } = await trySubscribe(service, who);
      expect({ name: one.name, status }).toEqual({ name: one.name, status: one.status });
      await service.settle();
      // A payment that may have been charged is listed immediately.
      const { payments } = await expectTruth(service, who);
      expect({ name: one.name, listed: payments.length }).toEqual({ name: one.name, listed: status === 201 ? 1 : 0 });
      made.push({ one, who });
    };
    for (const one of CASES) await tryCase(one);
    for (const wait of [2 * MINUTE_SECONDS, HOUR_SECONDS, 26 * HOUR_SECONDS]) {
      await service.advance(wait);
      for (const { who } of made) await expectTruth(service, who);
    }
    for (const { one, who } of made) await expectLeft(one, who);
  });
});

describe('the create of a provider-billed subscription', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  test('leaves a canceled subscription if the create never arrived and its customer was deleted at the provider', async () => {
    const who = await subscriber(service, 'pm_card_visa');
    const { body: customer } = await service.get(`/customers/${who.names.customer_id}`, who.options);
    await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', action: 'timeout_before' });
    expect(await trySubscribe(service, who)).toMatchObject({ status: 201, body: { status: 'past_due' } });
    await atStripe(service, `DELETE customers/${customer.provider_customer_id}`);
    await service.clearFaults();
    await service.advance(26 * HOUR_SECONDS);
    const left = (await itemsOf(service, 'SUB#')).filter(
      ({ sk, userId }) => sk === 'SUB' && userId === who.user.userId,
    );
    expect(left).toMatchObject([{ status: 'canceled' }]);
    expect(left[0]).not.toHaveProperty('due');
  });

  test.each(['pm_card_chargeCustomerFail', 'pm_card_visa'])(
    'leaves consistent and readable records (%s)',
    async (token) => {
      const who = await subscriber(service, token);
      await trySubscribe(service, who);
      await service.settle();
      await expectTruth(service, who);
      await service.advance(26 * HOUR_SECONDS);
      await expectTruth(service, who);
    },
  );
});

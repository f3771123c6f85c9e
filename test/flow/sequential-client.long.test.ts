/** @module One client sends requests one after another, while provider events about earlier requests arrive. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { createIntent, PATIENT, signIn } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import { createAddress, saveReadyMethod } from './payers.ts';
import { subscribe, subscriber } from './subscribers.ts';

const service = withHost({ env: PATIENT });

const ROUNDS = 60;
const codesOf = (answers: readonly TestAnswer[]): string[] => [
  ...new Set(answers.filter(({ status }) => status >= 400).map(({ status, body }) => `${status} ${body.code}`)),
];

describe('a single sequential client', () => {
  test('gets no conflict from repeated changes of a payment method', async () => {
    const user = await signIn(service, { expires_in: DAY_SECONDS });
    const method = await saveReadyMethod(service, user.options);
    const addresses = [await createAddress(service, user.options), await createAddress(service, user.options)];
    const customer = (await service.get(`/customers/${method.customer_id}`, user.options)).body;
    const answers: TestAnswer[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      const about = { id: method.provider_payment_method_id, object: 'payment_method', type: 'card' };
      const card = { brand: 'visa', last4: '4242', exp_month: 1 + (n % 12), exp_year: 2040 };
      const [, linked, renamed] = await Promise.all([
        service.sendEvent({
          type: 'payment_method.updated',
          object: { ...about, card, customer: customer.provider_customer_id },
        }),
        service
          .request('PATCH', `/payment-methods/${method.id}/billing-address`, {
            ...user.options,
            body: { billing_address_id: addresses[n % 2]?.id },
          })
          .then(async (first) => {
            answers.push(first);
            return service.put(`/payment-methods/${method.id}`, { alias: `card ${n}` }, user.options);
          }),
        undefined,
      ]);
      answers.push(linked);
      expect(renamed).toBeUndefined();
    }
    expect(codesOf(answers)).toEqual([]);
    expect((await service.get(`/payment-methods/${method.id}`, user.options)).body).toMatchObject({
      alias: `card ${ROUNDS - 1}`,
    });
  });

  test('gets no conflict from repeated changes of an intent', async () => {
    const user = await signIn(service, { expires_in: DAY_SECONDS });
    const payment = await createIntent(service, user);
    const answers: TestAnswer[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      const object = { id: payment.provider_payment_id, amount: 1, currency: 'usd', status: 'requires_payment_method' };
      const [, changed] = await Promise.all([
        service.sendEvent({ type: 'payment_intent.failed', object }),
        service.put(`/payments/intents/${payment.id}`, { total_cents: 5_000 + n, concept: `n ${n}` }, user.options),
      ]);
      answers.push(changed);
    }
    expect(codesOf(answers)).toEqual([]);
  });

  test('gets no conflict from repeated pauses, resumes, cancels and reactivations of a subscription', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const path = `/subscriptions/${made.id}`;
    const answers: TestAnswer[] = [];
    const command = async (name: string, body: object = {}): Promise<void> => {
      answers.push(await service.post(`${path}/${name}`, body, who.options));
    };
    for (let n = 0; n < ROUNDS / 4; n += 1) {
      answers.push(await service.request('PATCH', path, { ...who.options, body: { metadata: { n } } }));
      await command('pause');
      await command('resume');
      await command('cancel', { cancel_at_period_end: false });
      await command('reactivate');
    }
    expect(codesOf(answers)).toEqual([]);
  });
});

/** @module Outbound events about subscriptions and their memberships. */

import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { type SinkRequest, withHost } from './host.ts';
import type { SubscriptionBody } from './routes.ts';
import {
  command,
  OWN_BILLING,
  patch,
  readMembership,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscribeToGold,
} from './subscribers.ts';
import { deliveredTo, nodesAt, SECRET, verified } from './targets.ts';

const port = await freePort();
const service = withHost({
  frozen: true,
  port,
  env: { ...OWN_BILLING, ...nodesAt(port, { canonical: { EVENTS: 'subscription.*,membership.*', SECRET } }) },
});

let who: Subscriber & { readonly user: { readonly userId: string } };
let email: string;
beforeAll(async () => {
  who = await subscriber(service);
  email = (await service.get('/payments', who.options)).body.user_context.user_email;
});

/** The bodies of one event about one subscription, oldest first, each with a verified signature. */
const bodiesOf = async (event: string, id: string) => {
  await service.settle();
  const all: SinkRequest[] = (await deliveredTo(service, 'canonical', event)).filter(({ raw }) => raw.includes(id));
  for (const delivered of all) expect(verified(delivered)).toEqual(delivered.body);
  return all.map(({ body }) => body);
};

const payer = () => ({ id: who.user.userId, type: 'authenticated', email });

const subscriptionData = (subscription: SubscriptionBody, fields: object) => ({
  subscription_id: subscription.id,
  status: subscription.status,
  billing_status: subscription.billing_status,
  customer_id: subscription.customer_id,
  product_id: subscription.product_id,
  quantity: subscription.quantity,
  amount: subscription.total_cents,
  subtotal: subscription.subtotal_cents,
  tax: subscription.tax_cents,
  discount: subscription.discount_cents,
  discount_code: null,
  reference_code: subscription.reference_code,
  metadata: subscription.metadata,
  billing_address: null,
  currency: subscription.currency,
  billing_interval: subscription.billing_interval,
  interval_multiplier: subscription.interval_multiplier,
  current_period_start: subscription.current_period_start,
  current_period_end: subscription.current_period_end,
  cancel_at_period_end: subscription.cancel_at_period_end,
  cancel_reason: null,
  cancel_comment: null,
  trial_end: subscription.trial_end,
  previous: null,
  user: payer(),
  project: null,
  organization_id: null,
  ...fields,
});

const body = (event: string, timestamp: string, data: object) => ({ event, provider: 'provider_a', timestamp, data });

describe('a canonical target', () => {
  test('receives subscription.created when a subscription is stored', async () => {
    const made = await subscribe(service, who);
    expect(await bodiesOf('subscription.created', made.id)).toEqual([
      body('subscription.created', expect.any(String), subscriptionData(made, { reason: 'created' })),
    ]);
  });

  test.each([
    ['cancel_scheduled', (id: string) => command(service, who, { id, name: 'cancel' })],
    ['paused', (id: string) => command(service, who, { id, name: 'pause' })],
  ] as const)('receives subscription.updated when a subscription is changed: %s', async (reason, change) => {
    const made = await subscribe(service, who);
    expect((await change(made.id)).status).toBe(200);
    const changed = await readSubscription(service, who, made.id);
    expect(await bodiesOf('subscription.updated', made.id)).toEqual([
      body('subscription.updated', changed.updated_at, subscriptionData(changed, { reason })),
    ]);
    expect(await bodiesOf('subscription.cancelled', made.id)).toEqual([]);
  });

  test('receives subscription.updated when its metadata is changed', async () => {
    const made = await subscribe(service, who);
    await patch(service, who, { id: made.id, body: { metadata: { seat: '4' } } });
    expect(await bodiesOf('subscription.updated', made.id)).toHaveLength(1);
  });

  test('receives subscription.cancelled when a subscription is canceled', async () => {
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    const over = await readSubscription(service, who, made.id);
    expect(over.status).toBe('canceled');
    expect(await bodiesOf('subscription.cancelled', made.id)).toEqual([
      body('subscription.cancelled', over.updated_at, subscriptionData(over, { reason: expect.any(String) })),
    ]);
  });

  test('receives a membership’s events: pending in a trial, activated, extended, cancelled', async () => {
    const made = await subscribeToGold(service, who, { trial_days: 5 });
    const steps: (readonly [name: string, how: () => Promise<unknown>])[] = [
      ['membership.pending', async () => undefined],
      ['membership.activated', () => service.advance(5 * DAY_SECONDS + 60)],
      ['membership.extended', () => service.advance(32 * DAY_SECONDS)],
      [
        'membership.cancelled',
        () => command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } }),
      ],
    ];
    for (const [name, how] of steps) {
      await how();
      await service.settle();
      const membership = await readMembership(service, who, made.id);
      expect(await bodiesOf(name, made.id)).toEqual([
        body(name, present(membership).updated_at, {
          membership_id: present(membership).id,
          membership_type_id: 'gold',
          entity_type: 'user',
          entity_id: who.user.userId,
          subscription_id: made.id,
          status: present(membership).status,
          starts_at: present(membership).starts_at,
          ends_at: present(membership).ends_at,
          user: payer(),
          project: null,
        }),
      ]);
    }
  });
});

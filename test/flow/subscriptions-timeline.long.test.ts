import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { changeTable, IMPATIENT, partitionOf, signIn, type User } from './flow.ts';
import { type RequestOptions, type TestHost, withHost } from './host.ts';
import { company, guestWithMethod, removeMember } from './payers.ts';
import type { SubscriptionEntry } from './routes.ts';
import {
  anotherMethod,
  BILLERS,
  command,
  OWN_BILLING,
  patch,
  payer,
  paymentsOf,
  type Subscriber,
  subscribe,
  subscriber,
} from './subscribers.ts';

const CANCEL_NOW = { cancel_at_period_end: false };

const timelineOf = async (service: TestHost, id: string, options: RequestOptions) => {
  await service.settle();
  const { status, body } = await service.get(`/subscriptions/${id}/timeline`, options);
  expect({ status, meta: body.meta }).toMatchObject({
    status: 200,
    meta: { subscription_id: id, is_complete: true },
  });
  return body.data;
};
const changesOf = async (service: TestHost, id: string, options: RequestOptions) =>
  (await timelineOf(service, id, options)).filter(({ kind }) => kind === 'change');

const actorsOf = (changes: readonly SubscriptionEntry[]) => changes.map(({ cause, actor }) => [cause, actor]);
const stepsOf = (changes: readonly SubscriptionEntry[]): string[] =>
  changes.map(({ cause, previous_status, status }) => `${cause}: ${previous_status ?? 'none'} to ${status}`);
const signInAdmin = (service: TestHost): Promise<User> => signIn(service, { is_admin: true });

/** The stored versions in a subscription's history. */
const historyItems = async (service: TestHost, id: string) =>
  (await partitionOf(service, `SUB#${id}`)).filter(({ sk }) => /^HIST#\d/.test(sk));

const guestSubscriber = async (service: TestHost): Promise<Subscriber> => {
  const { method, options } = await guestWithMethod(service, 'gina@example.com');
  const names = { customer_id: method.customer_id, payment_method_id: method.id, provider_id: 'provider_a' };
  return { options, names };
};

describe.each(BILLERS)('the timeline of a subscription billed by %s', (_, billing) => {
  const service = withHost({ frozen: true, env: { ...IMPATIENT, ...billing } });

  test('names the canceling platform admin only to admins, and always shows the request id', async () => {
    const [who, admin] = [await subscriber(service), await signInAdmin(service)];
    const made = await subscribe(service, who);
    const canceled = await service.post(`/subscriptions/${made.id}/cancel`, CANCEL_NOW, admin.options);
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
    const changes = await changesOf(service, made.id, who.options);
    expect(stepsOf(changes)).toEqual(['created: none to active', 'canceled: active to canceled']);
    expect(actorsOf(changes)).toEqual([
      ['created', { type: 'user', id: who.user.userId }],
      ['canceled', { type: 'admin' }],
    ]);
    expect(changes.at(-1)?.request_id).toBe(canceled.headers.get('x-request-id'));
    const [created, last] = await changesOf(service, made.id, admin.options);
    expect([created, { ...last, actor: { type: 'admin' } }]).toEqual(changes);
    expect(last?.actor).toEqual({ type: 'admin', id: admin.userId });
  });

  test('shows each change once in order, with the payment of each charged period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const method = await anotherMethod(service, who);
    expect((await patch(service, who, { id: made.id, body: { payment_method_id: method } })).status).toBe(200);
    for (const name of ['cancel', 'reactivate', 'pause', 'resume', 'cancel'] as const) {
      expect((await command(service, who, { id: made.id, name })).status).toBe(200);
    }
    const changes = await changesOf(service, made.id, who.options);
    expect(changes.map(({ version }) => version)).toEqual(changes.map((__, index) => index + 1));
    expect(stepsOf(changes)).toEqual([
      'created: none to active',
      'method_changed: active to active',
      'cancel_scheduled: active to active',
      'reactivated: active to active',
      'paused: active to paused',
      'resumed: paused to active',
      'cancel_scheduled: active to active',
    ]);
    expect(changes.map(({ cancel_at_period_end }) => cancel_at_period_end)).toEqual([
      ...[false, false, true, false, false, false, true],
    ]);
    const [payment] = await paymentsOf(service, who, made.id);
    expect(changes.map(({ payment_id }) => payment_id)).toEqual([payment?.id, ...Array(6).fill(undefined)]);
    expect(changes.map(({ current_period_end }) => current_period_end)).toEqual(
      changes.map(() => made.current_period_end),
    );
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('names the actor of each renewal, with the period’s payment', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const changes = await changesOf(service, made.id, who.options);
    const renewal = changes.find(({ cause }) => cause === 'renewed');
    const [, payment] = await paymentsOf(service, who, made.id);
    expect(payment).toMatchObject({ status: 'succeeded' });
    expect(renewal).toMatchObject({ status: 'active', previous_status: 'active', payment_id: payment?.id });
    if (made.billing_owner === 'provider') {
      expect(renewal).toMatchObject({ actor: { type: 'provider', id: 'provider_a' } });
      expect(renewal?.request_id).toMatch(/^evt_/);
    } else {
      expect(renewal).toMatchObject({ actor: { type: 'system' }, request_id: expect.any(String) });
    }
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('shows a failed renewal with its payment and failure, and the payment that recovered it', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id: made.id, body: { payment_method_id: failing } });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const good = await anotherMethod(service, who);
    expect((await patch(service, who, { id: made.id, body: { payment_method_id: good } })).status).toBe(200);
    const changes = await changesOf(service, made.id, who.options);
    const payments = await paymentsOf(service, who, made.id);
    expect(changes.find(({ cause }) => cause === 'payment_failed')).toMatchObject({
      previous_status: 'active',
      status: 'past_due',
      payment_id: payments[1]?.id,
    });
    expect(changes.findLast(({ payment_id }) => payment_id !== undefined)).toMatchObject({
      status: 'active',
      payment_id: payments.at(-1)?.id,
      actor: { type: expect.stringMatching(/^(user|provider|system)$/) },
    });
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('names a guest by guest_id, and never by e-mail', async () => {
    const guest = await guestSubscriber(service);
    const made = await subscribe(service, guest);
    const admin = await signInAdmin(service);
    const changes = await changesOf(service, made.id, admin.options);
    expect(actorsOf(changes)).toEqual([['created', { type: 'guest', id: expect.stringMatching(/^gst_/) }]]);
    const items = await historyItems(service, made.id);
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain('@');
  });

  test('is removed with the subscription', async () => {
    const { id, owner } = await company(service);
    const who = await payer(service, owner.options, { fields: { organization_id: id } });
    const made = await subscribe(service, who, { organization_id: id });
    await service.settle();
    expect(await historyItems(service, made.id)).toHaveLength(1);
    expect((await service.request('DELETE', `/organizations/${id}`, owner.options)).status).toBe(200);
    await service.advance(5 * MINUTE_SECONDS);
    await service.settle();
    expect(await historyItems(service, made.id)).toEqual([]);
  });
});

describe('the timeline of a subscription', () => {
  const env = { ...IMPATIENT, ...OWN_BILLING, EXTERNAL_WEBHOOKS_ENABLED: 'true' };
  const service = withHost({ frozen: true, env });
  const kindsOf = (timeline: readonly SubscriptionEntry[]) => new Set(timeline.map(({ kind }) => kind));

  test('lists only deliveries of its own events', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const timeline = await timelineOf(service, made.id, who.options);
    expect(timeline.filter(({ kind }) => kind === 'delivery')).toEqual([
      expect.objectContaining({
        event_type: 'subscription.created',
        target: 'WEBHOOK_1',
        status: 'success',
        http_status: 200,
        actor: { type: 'system', id: 'webhook-delivery' },
      }),
    ]);
  });

  test('lists changes of the same moment in version order', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    for (let step = 0; step < 6; step += 1) {
      expect((await command(service, who, { id: made.id, name: step % 2 ? 'resume' : 'pause' })).status).toBe(200);
    }
    const changes = await changesOf(service, made.id, who.options);
    expect(new Set(changes.map(({ at }) => at)).size).toBe(1);
    expect(changes.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('shows deliveries only to callers who may read the webhook log', async () => {
    const acme = await company(service);
    const who = await payer(service, acme.billing.options, { fields: { organization_id: acme.id } });
    const made = await subscribe(service, who, { organization_id: acme.id });
    for (const { options } of [acme.owner, acme.member, acme.billing]) {
      expect(kindsOf(await timelineOf(service, made.id, options))).toEqual(new Set(['change', 'delivery']));
    }
    await removeMember(service, acme, acme.billing);
    expect(kindsOf(await timelineOf(service, made.id, acme.billing.options))).toEqual(new Set(['change']));
  });

  test('keeps changes indefinitely, and log entries for 90 days', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval: 'yearly' });
    expect(kindsOf(await timelineOf(service, made.id, who.options))).toEqual(new Set(['change', 'delivery']));
    await service.advance(91 * DAY_SECONDS);
    expect(kindsOf(await timelineOf(service, made.id, who.options))).toEqual(new Set(['change']));
  });

  test('shows the newest 500 changes if there are more', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await service.settle();
    const [first] = await historyItems(service, made.id);
    for (let version = 2; version <= 501; version += 1) {
      const sk = `HIST#${String(version).padStart(6, '0')}`;
      await changeTable(service, { put: { ...first, sk } });
    }
    const { body } = await service.get(`/subscriptions/${made.id}/timeline`, who.options);
    expect(body.meta.is_complete).toBe(false);
    const versions = body.data.flatMap(({ version }) => version ?? []);
    expect([versions.length, versions[0], versions.at(-1)]).toEqual([500, 2, 501]);
    expect(kindsOf(body.data)).toEqual(new Set(['change', 'delivery']));
  });

  test('returns 404 to another user, and 401 without a credential', async () => {
    const made = await subscribe(service, await subscriber(service));
    const stranger = await signIn(service);
    expect((await service.get(`/subscriptions/${made.id}/timeline`, stranger.options)).status).toBe(404);
    expect((await service.get(`/subscriptions/${made.id}/timeline`)).status).toBe(401);
  });
});

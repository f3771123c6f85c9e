/**
 * @module API versions of Stripe before 2025-03-31 report a refund for the uncaptured part of a hold. A webhook
 * endpoint with such a version receives these refund events.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { eventsOf, logEntriesOf, read, signIn, type User } from './flow.ts';
import { AT_STRIPE, capture, HOLDING, heldPayment, release } from './holders.ts';
import { withHost } from './host.ts';
import { expectAgreement, refund, signInAdmin } from './refunders.ts';

const OLD = '2024-11-20.acacia';
const PINNED = '2026-10-28.endive';

const service = withHost({ frozen: true });
const useVersion = (version: string) => service.control('POST', '/simulator/events-version', { version });
beforeEach(() => useVersion(OLD));
afterEach(async () => {
  await service.webhookMode('normal');
  await useVersion(PINNED);
});

interface Held {
  readonly user: User;
  readonly admin: User;
  readonly id: string;
  readonly intent: string;
}

const hold = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Held> => {
  const user = await signIn(service, { expires_in: 20 * DAY_SECONDS });
  const admin = await signInAdmin(service);
  const { id, provider_intent_id: intent } = await heldPayment(service, user, fields);
  return { user, admin, id, intent };
};

const refundEventsOf = async (id: string) =>
  (await logEntriesOf(service, id)).filter(({ eventType }) => eventType.includes('refund'));

const NOTHING_TAKEN = { outcome: 'ignored', reason: 'nothing was taken' };

const expectNothingTaken = async (id: string): Promise<void> => {
  const entries = await refundEventsOf(id);
  expect(entries.map(({ eventType }) => eventType)).toEqual(
    expect.arrayContaining(['refund.created', 'charge.refunded', 'charge.refund.updated']),
  );
  const named = entries.filter(({ eventType }) => eventType !== 'charge.refunded');
  for (const { response } of named) expect(response).toMatchObject({ ...NOTHING_TAKEN, payment_id: id });
};

describe('an old version of Stripe’s API', () => {
  test('shows a refund of an uncaptured amount, unlike the pinned version', async () => {
    const { id, intent, admin } = await hold();
    await capture(service, id, { ...admin.options, body: { amount_cents: 600 } });
    const refundsIn = async (version: string) => {
      const { env } = service.host();
      const headers = { authorization: `Bearer ${env['PROVIDER_A_API_KEY']}`, 'stripe-version': version };
      const path = `/_local/providers/stripe/v1/refunds?payment_intent=${intent}`;
      return (await service.request('GET', path, { headers })).body.data;
    };
    expect(await refundsIn(OLD)).toMatchObject([{ amount: 400, status: 'succeeded', balance_transaction: null }]);
    expect(await refundsIn(PINNED)).toEqual([]);
  });
});

describe('a refund event for an uncaptured amount', () => {
  test.each(['normal', 'reorder', 'duplicate'] as const)(
    'leaves a partial capture unchanged, with webhooks in the mode %s',
    async (mode) => {
      const { id, admin } = await hold();
      await service.webhookMode(mode, 5);
      expect(await capture(service, id, { ...admin.options, body: { amount_cents: 600 } })).toMatchObject({
        status: 200,
      });
      await service.settle();
      await service.advance(HOUR_SECONDS);
      expect(await read(service, id, admin.options)).toMatchObject({
        ...{ status: 'succeeded', total_cents: 600, captured_cents: 600 },
        ...{ refunded_cents: 0, refundable_cents: 600, refund_status: 'none' },
      });
      await expectNothingTaken(id);
      expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.succeeded']);
      await expectAgreement(service, id, admin);
    },
  );

  test('before the capture is known triggers a read, which stores the capture', async () => {
    const { id, intent, admin } = await hold();
    await service.webhookMode('drop');
    await atStripe(service, `POST payment_intents/${intent}/capture`, { amount_to_capture: '600' });
    await service.webhookMode('normal');
    const object = { id: 're_untaken', object: 'refund', amount: 400, currency: 'usd', payment_intent: intent };
    const event = { type: 'refund.created', object: { ...object, status: 'succeeded', created: 1_800_000_000 } };
    await service.sendEvent({ provider: AT_STRIPE.slot, vocabulary: 'native', ...event });
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({
      ...{ status: 'succeeded', captured_cents: 600, refunded_cents: 0, refundable_cents: 600 },
    });
    expect((await refundEventsOf(id)).map(({ response }) => response)).toMatchObject([NOTHING_TAKEN]);
  });

  test('leaves a released hold released', async () => {
    const { id, admin } = await hold();
    expect(await release(service, id, admin.options)).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await service.settle();
    await service.advance(HOUR_SECONDS);
    expect(await read(service, id, admin.options)).toMatchObject({
      ...{ status: 'canceled', captured_cents: 0, refunded_cents: 0, refundable_cents: 0, refund_status: 'none' },
    });
    await expectNothingTaken(id);
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.released']);
  });

  test('leaves an expired hold expired', async () => {
    const { id, admin } = await hold();
    await service.advance(8 * DAY_SECONDS);
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({
      ...{ status: 'canceled', cancellation_reason: 'expired', refunded_cents: 0, refundable_cents: 0 },
    });
    await expectNothingTaken(id);
  });

  test('before a release at Stripe is known triggers a read, which stores the release', async () => {
    const { id, intent, admin } = await hold();
    await service.webhookMode('drop');
    await atStripe(service, `POST payment_intents/${intent}/cancel`);
    await service.webhookMode('normal');
    const object = { id: 're_released', object: 'refund', amount: 1_000, currency: 'usd', payment_intent: intent };
    const event = { type: 'refund.created', object: { ...object, status: 'succeeded', created: 1_800_000_000 } };
    await service.sendEvent({ provider: AT_STRIPE.slot, vocabulary: 'native', ...event });
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({
      ...{ status: 'canceled', refunded_cents: 0, refund_status: 'none' },
    });
  });
});

describe('a refund of a captured hold', () => {
  test.each(HOLDING)('made at $slot is counted by its event', async (holding) => {
    const { id, admin } = await hold({ holding });
    await capture(service, id, { ...admin.options, body: { amount_cents: 600 } });
    await service.settle();
    await service.control('POST', `/simulator/payments/${id}/refunds`, { amount: 400, status: 'succeeded' });
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({
      ...{ captured_cents: 600, refunded_cents: 400, refundable_cents: 200, refund_status: 'partial' },
    });
    await expectAgreement(service, id, admin);
  });

  test('made by the service is counted once, even with its events in the old version', async () => {
    const { id, admin } = await hold();
    await capture(service, id, { ...admin.options, body: { amount_cents: 600 } });
    await service.settle();
    expect(await refund(service, id, { ...admin.options, body: { amount_cents: 400 } })).toMatchObject({ status: 201 });
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({ refunded_cents: 400, refundable_cents: 200 });
    await expectAgreement(service, id, admin);
  });

  test('is counted by a retry if Stripe cannot be read at first', async () => {
    const { id, admin } = await hold();
    await capture(service, id, { ...admin.options, body: {} });
    await service.settle();
    await service.fault({ provider: AT_STRIPE.slot, method: 'GET', action: 'error_500', times: 2 });
    await service.control('POST', `/simulator/payments/${id}/refunds`, { amount: 400, status: 'succeeded' });
    await service.settle();
    await service.advance(HOUR_SECONDS);
    expect(await read(service, id, admin.options)).toMatchObject({ refunded_cents: 400, refundable_cents: 600 });
    await service.clearFaults();
  });
});

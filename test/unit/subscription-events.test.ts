import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InboundEventType } from '../../shared/providers/event-port.ts';
import { readPayPalEvent } from '../../shared/providers/paypal/events.ts';
import { readSquareEvent } from '../../shared/providers/square/events.ts';
import { readStripeEvent } from '../../shared/providers/stripe/events.ts';
import { readEventInvoice, readEventSubscription } from '../../shared/providers/subscription-payloads.ts';
import type { EventInvoice, EventSubscription } from '../../shared/providers/subscription-port.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';

const START = 1_773_144_000;
const END = START + 31 * DAY_SECONDS;

const own = (type: string, object: object) => ({
  id: 'evt_1',
  object: 'event',
  api_version: '2026-01-01',
  type,
  created: START,
  livemode: false,
  data: { object },
});

const subscription = {
  id: 'sub_s1',
  object: 'subscription',
  status: 'active',
  cancel_at_period_end: false,
  default_payment_method: 'pm_1',
  metadata: { subscription_id: 'sub_1' },
  pause_collection: null,
  trial_end: null,
};
const period = { current_period_start: START, current_period_end: END };
const newer = { ...subscription, items: { object: 'list', data: [{ id: 'si_1', ...period }] } };
const older = { ...subscription, ...period, items: { object: 'list', data: [{ id: 'si_1' }] } };

const reported: EventSubscription = {
  subscriptionId: 'sub_s1',
  ourSubscriptionId: 'sub_1',
  status: 'active',
  currentPeriodStart: START,
  currentPeriodEnd: END,
  trialEnd: undefined,
  isBridge: false,
  cancelAtPeriodEnd: false,
  cancelAt: undefined,
  isUnpaid: false,
  price: undefined,
  methodId: 'pm_1',
};

describe("a subscription's event", () => {
  test.each([
    ['newer', newer],
    ['older', older],
  ])('is read in Stripe’s %s shape', (_, object) => {
    const event = readStripeEvent(own('customer.subscription.updated', object));
    expect(event?.type).toBe('subscription.updated');
    expect(event?.object.subscription).toEqual(reported);
    expect(event?.object.invoice).toBeUndefined();
  });

  test.each<[object, EventSubscription['status']]>([
    [{ status: 'trialing' }, 'trialing'],
    [{ status: 'active' }, 'active'],
    [{ status: 'past_due' }, 'past_due'],
    [{ status: 'unpaid' }, 'past_due'],
    [{ status: 'incomplete' }, 'past_due'],
    [{ status: 'incomplete_expired' }, 'canceled'],
    [{ status: 'canceled' }, 'canceled'],
    [{ status: 'paused' }, 'paused'],
    [{ status: 'active', pause_collection: { behavior: 'void', resumes_at: null } }, 'paused'],
    [{ status: 'past_due', pause_collection: { behavior: 'void' } }, 'paused'],
    [{ status: 'canceled', pause_collection: { behavior: 'void' } }, 'canceled'],
    [{ status: 'moonlit' }, undefined],
    [{ status: 'constructor' }, undefined],
    [{ status: null }, undefined],
  ])('with %j reports the status %s', (fields, status) => {
    expect(readEventSubscription({ ...newer, ...fields })?.status).toBe(status);
  });

  test('can have its method as an expanded object', () => {
    expect(readEventSubscription({ ...newer, default_payment_method: { id: 'pm_2' } })?.methodId).toBe('pm_2');
  });

  test.each<[string, InboundEventType, (body: unknown) => ReturnType<typeof readStripeEvent>]>([
    ['Stripe', 'subscription.updated', readStripeEvent],
    ['PayPal', 'subscription.deleted', readPayPalEvent],
    ['Square', 'subscription.trial_will_end', readSquareEvent],
  ])('contains only a few fields in the interface’s own form, at %s', (_, type, read) => {
    const object = { id: 'sub_s1', amount: 2_500, currency: 'usd', status: 'past_due', customer: 'cus_1' };
    const event = read({ id: 'evt_1', type, provider: 'provider_a', data: { object }, created: START });
    expect(event).toMatchObject({ type, object: { id: 'sub_s1', amountCents: 2_500, currency: 'USD' } });
    expect(event?.object.subscription).toEqual({
      subscriptionId: 'sub_s1',
      ourSubscriptionId: undefined,
      status: 'past_due',
      currentPeriodStart: undefined,
      currentPeriodEnd: undefined,
      trialEnd: undefined,
      isBridge: false,
      cancelAtPeriodEnd: undefined,
      cancelAt: undefined,
      isUnpaid: false,
      price: undefined,
      methodId: undefined,
    });
  });
});

const invoice = {
  id: 'in_1',
  object: 'invoice',
  status: 'open',
  amount_due: 2_500,
  total: 3_000,
  currency: 'eur',
  attempt_count: 2,
  next_payment_attempt: END,
  period_start: START - DAY_SECONDS,
  period_end: START,
  lines: { object: 'list', data: [{ id: 'il_1', period: { start: START, end: END } }] },
};
const newerInvoice = {
  ...invoice,
  parent: { subscription_details: { subscription: 'sub_s1', metadata: { subscription_id: 'sub_1' } } },
  payments: { object: 'list', data: [{ id: 'inpay_1', payment: { type: 'payment_intent', payment_intent: 'pi_1' } }] },
};
const olderInvoice = {
  ...invoice,
  subscription: 'sub_s1',
  subscription_details: { metadata: { subscription_id: 'sub_1' } },
  payment_intent: 'pi_1',
};

const reportedInvoice: EventInvoice = {
  invoiceId: 'in_1',
  intentId: 'pi_1',
  subscriptionId: 'sub_s1',
  ourSubscriptionId: 'sub_1',
  status: 'failed',
  isOpen: true,
  amountCents: 2_500,
  currency: 'EUR',
  periodStart: START,
  periodEnd: END,
  attempts: 2,
  failureCode: undefined,
  nextAttempt: END,
};

describe("an invoice's event", () => {
  test.each([
    ['newer', newerInvoice],
    ['older', olderInvoice],
    ['older and expanded', { ...olderInvoice, subscription: { id: 'sub_s1' }, payment_intent: { id: 'pi_1' } }],
  ])('is read in Stripe’s %s shape', (_, object) => {
    const event = readStripeEvent(own('invoice.payment_failed', object));
    expect(event?.type).toBe('invoice.payment_failed');
    expect(event?.object.invoice).toEqual(reportedInvoice);
    expect(event?.object.subscription).toBeUndefined();
  });

  test('names no intent if it lacks its payments, as in the events that Stripe sends', () => {
    const { payments: _, ...sent } = newerInvoice;
    expect(readEventInvoice(sent)).toEqual({ ...reportedInvoice, intentId: undefined });
  });

  test.each<[object, EventInvoice['status']]>([
    [{ status: 'paid' }, 'succeeded'],
    [{ status: 'open', attempt_count: 0 }, 'pending'],
    [{ status: 'open', attempt_count: 1 }, 'failed'],
    [{ status: 'draft' }, 'pending'],
    [{ status: 'void' }, 'failed'],
    [{ status: 'uncollectible' }, 'failed'],
    [{ status: 'succeeded' }, 'succeeded'],
    [{ status: 'processing' }, 'processing'],
    [{ status: 'moonlit' }, undefined],
    [{ status: null }, undefined],
  ])('with %j reports the status %s', (fields, status) => {
    expect(readEventInvoice({ ...newerInvoice, ...fields })?.status).toBe(status);
  });

  test('has no intent for the amount zero', () => {
    const free = { ...newerInvoice, amount_due: 0, status: 'paid', payments: { data: [] } };
    expect(readEventInvoice(free)).toMatchObject({ intentId: undefined, amountCents: 0, status: 'succeeded' });
  });

  test.each<[string, (body: unknown) => ReturnType<typeof readStripeEvent>]>([
    ['Stripe', readStripeEvent],
    ['PayPal', readPayPalEvent],
    ['Square', readSquareEvent],
  ])('contains only a few fields in the interface’s own form, at %s', (_, read) => {
    const object = { id: 'in_1', amount: 2_500, currency: 'eur', status: 'succeeded', customer: null };
    const type = 'invoice.payment_succeeded';
    const event = read({ id: 'evt_1', type, provider: 'provider_a', data: { object }, created: START });
    expect(event).toMatchObject({ type, object: { id: 'in_1', amountCents: 2_500 } });
    const nothing = Object.fromEntries(Object.keys(reportedInvoice).map((field) => [field, undefined]));
    expect(event?.object.invoice).toEqual({
      ...nothing,
      invoiceId: 'in_1',
      subscriptionId: 'in_1',
      status: 'succeeded',
      amountCents: 2_500,
      currency: 'EUR',
    });
  });

  test('names the subscription by its id in the interface’s own form, unless another field names the subscription', () => {
    const invoiceOf = (object: object) => {
      const said = { id: 'evt_1', type: 'invoice.payment_failed', data: { object }, created: START };
      return readStripeEvent(said)?.object.invoice;
    };
    expect(invoiceOf({ id: 'sub_s1' })).toMatchObject({ subscriptionId: 'sub_s1' });
    expect(invoiceOf({ id: 'in_1', subscription: 'sub_s1' })).toMatchObject({
      invoiceId: 'in_1',
      subscriptionId: 'sub_s1',
    });
    const ours = { id: 'in_1', metadata: { subscription_id: 'sub_1' } };
    expect(invoiceOf(ours)).toMatchObject({ subscriptionId: undefined, ourSubscriptionId: 'sub_1' });
  });

  test.each([
    ['Stripe', readStripeEvent],
    ['PayPal', readPayPalEvent],
    ['Square', readSquareEvent],
  ])('has the interface’s own form only without Stripe’s envelope, at %s', (_, read) => {
    const said = { id: 'evt_1', type: 'invoice.payment_failed', data: { object: { id: 'in_1' } }, created: START };
    expect(read(said)).toMatchObject({ isOfInterface: true });
    expect(read({ ...said, object: 'event' })).not.toHaveProperty('isOfInterface');
    expect(read({ ...said, type: 'invoice.finalized' })).not.toHaveProperty('isOfInterface');
    expect(read({ ...said, type: 'customer.subscription.updated' })).not.toHaveProperty('isOfInterface');
  });

  test('can also name our subscription', () => {
    const object = { id: 'in_1', subscription: 'sub_s1', metadata: { subscription_id: 'sub_1' } };
    expect(readEventInvoice(object)).toMatchObject({ subscriptionId: 'sub_s1', ourSubscriptionId: 'sub_1' });
  });
});

test('the reader of an event never fails, for any content', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('customer.subscription.updated', 'invoice.payment_failed'), (json, type) => {
      const object: unknown = { ...newer, ...newerInvoice, ...Object(JSON.parse(json)) };
      expect(() => readStripeEvent(own(type, Object(object)))).not.toThrow();
    }),
  );
});

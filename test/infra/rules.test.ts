import { describe, expect, test } from 'vitest';
import { triggers } from '../../functions/api/catalogue.ts';
import { matchesPattern } from '../../infra/local/messaging/bus-pattern.ts';
import { PROVIDER_SLOTS } from '../../shared/core/settings.ts';
import { iso } from '../../shared/core/time.ts';
import type { Customer } from '../../shared/customers/customer.ts';
import { customerEvents } from '../../shared/customers/customer-events.ts';
import { providerBusEvent } from '../../shared/event-log/stored-event.ts';
import type { Membership } from '../../shared/memberships/membership.ts';
import { membershipEvents } from '../../shared/memberships/membership-events.ts';
import { claimHoldCall, withoutHoldCall } from '../../shared/payments/holds/hold-versions.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentEvents } from '../../shared/payments/payment-events.ts';
import { type BusEvent, CANONICAL_EVENTS } from '../../shared/platform/bus-event.ts';
import { INBOUND_EVENTS } from '../../shared/providers/event-port.ts';
import { membershipOf } from '../../shared/subscriptions/record/membership-of.ts';
import { subscriptionEvents } from '../../shared/subscriptions/record/subscription-events.ts';
import { NOON, payment } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';
import { synthesize } from './synthesized.ts';

const { ofType, words } = synthesize();

/** An event that the code derives from a change, in the form in which EventBridge matches it with rules. */
const onBus = ({ source, type, detail }: BusEvent) => ({
  source,
  'detail-type': type,
  detail: JSON.parse(JSON.stringify(detail)),
});
type OnBus = ReturnType<typeof onBus>;

const paymentsOf = (fields: Partial<VisiblePayment>): readonly BusEvent[] => {
  const made = payment(fields);
  return [
    ...paymentEvents(undefined, made),
    ...paymentEvents(made, { ...made, version: 2, status: 'succeeded' }),
    ...paymentEvents(made, { ...made, version: 2, status: 'failed', failureCode: 'do_not_honor' }),
    ...heldOf(made),
    ...moneyBackOf({ ...made, status: 'succeeded', version: 2 }),
  ];
};

const heldOf = (made: VisiblePayment): readonly BusEvent[] => {
  const held = { ...made, captureMethod: 'manual', status: 'requires_capture', version: 2 } as const;
  return [
    ...paymentEvents(made, held),
    ...paymentEvents(held, { ...held, version: 3, cause: 'capture_due', captureDueSent: true }),
    ...paymentEvents(held, { ...held, version: 3, status: 'canceled', holdEnd: 'released' }),
    ...(['capture', 'release'] as const).flatMap((call) => failedCallOf(held, call)),
    ...paymentEvents(
      { ...held, status: 'succeeded' },
      { ...held, version: 3, status: 'succeeded', totalCents: held.totalCents + 1 },
    ),
  ];
};

const failedCallOf = (held: VisiblePayment, call: 'capture' | 'release'): readonly BusEvent[] => {
  const claimed = claimHoldCall(
    held,
    call === 'release'
      ? { kind: 'release', claimedAt: iso(NOON) }
      : { kind: 'capture', totalCents: 1, taxCents: 0, discountCents: 0, claimedAt: iso(NOON) },
  );
  return paymentEvents(claimed, withoutHoldCall(claimed, NOON, { call, reason: 'not_done' }));
};

const moneyBackOf = (paid: VisiblePayment): readonly BusEvent[] => {
  const refund = { id: 'ref_00000000000000000000000a', amountCents: 500 };
  const dispute = { id: 'dsp_00000000000000000000000a', amountCents: 500 };
  const next = (change: Partial<VisiblePayment>) => paymentEvents(paid, { ...paid, version: 3, ...change });
  return [
    ...next({ cause: 'refund', refund: { ...refund, status: 'succeeded' } }),
    ...next({ cause: 'refund', refund: { ...refund, status: 'failed' } }),
    ...next({ cause: 'metadata', metadata: { shipped: true } }),
    ...next({ cause: 'dispute', dispute: { ...dispute, status: 'needs_response' }, disputes: [dispute] }),
    ...next({ cause: 'dispute', dispute: { ...dispute, status: 'won' } }),
    ...next({
      cause: 'dispute',
      dispute: { ...dispute, status: 'under_review', was: 'under_review', termsChanged: true },
    }),
  ];
};

const subscribed = subscription({ status: 'active', version: 1 });
const member = membershipOf(subscribed) as Membership;
const customer: Customer = {
  id: 'cust_00000000000000000000000a',
  version: 1,
  createdAt: subscribed.createdAt,
  updatedAt: subscribed.createdAt,
  providerId: 'provider_a',
  providerCustomerId: 'cus_1',
  userId: 'user_1',
};

const ofOthers = paymentsOf({}).map(onBus);
const ofSubscriptions = paymentsOf({ subscriptionId: subscribed.id }).map(onBus);
const ofRecords = [
  ...subscriptionEvents(undefined, subscribed),
  ...subscriptionEvents(subscribed, { ...subscribed, version: 2 }),
  ...subscriptionEvents(subscribed, { ...subscribed, version: 2, status: 'canceled' }),
  ...membershipEvents(undefined, { ...member, status: 'pending' }),
  ...membershipEvents(undefined, { ...member, status: 'active' }),
  ...membershipEvents(
    { ...member, status: 'active' },
    { ...member, version: 2, status: 'active', endsAt: '2026-05-01' },
  ),
  ...membershipEvents({ ...member, status: 'active' }, { ...member, version: 2, status: 'cancelled' }),
  ...customerEvents(undefined, customer),
  ...customerEvents(customer, { ...customer, version: 2 }),
].map(onBus);
const canonical = [...ofOthers, ...ofSubscriptions, ...ofRecords];
const ofProviders = PROVIDER_SLOTS.flatMap((providerId) =>
  [...INBOUND_EVENTS, 'PAYMENT.CAPTURE.COMPLETED', 'something.new'].map((rawType) =>
    onBus(providerBusEvent({ providerId, eventId: 'evt_1', rawType, type: undefined })),
  ),
);

const busRules = ofType('AWS::Events::Rule').filter(({ Properties }) => Properties.EventPattern);
const feeding = (queue: string) => {
  const [rule, ...more] = busRules.filter(({ Properties }) => words(Properties.Targets[0].Arn) === `${queue}.Arn`);
  expect(more).toEqual([]);
  return (event: OnBus): boolean => matchesPattern(rule?.Properties.EventPattern, event);
};

describe('the rules of the bus', () => {
  test('are tested with every event that the code publishes', () => {
    expect([...new Set(canonical.map((event) => event['detail-type']))].sort()).toEqual([...CANONICAL_EVENTS].sort());
  });

  test('send only provider events to apply-provider-event', () => {
    const takes = feeding('ApplyProviderEventQueue');
    expect(ofProviders.filter((event) => !takes(event))).toEqual([]);
    expect(canonical.filter(takes)).toEqual([]);
  });

  test('send only settled payments of subscriptions to follow-payment', () => {
    const takes = feeding('FollowPaymentQueue');
    expect(ofSubscriptions.filter(takes).map((event) => event['detail-type'])).toEqual([
      'payment.succeeded',
      'payment.failed',
    ]);
    expect([...ofOthers, ...ofRecords, ...ofProviders].filter(takes)).toEqual([]);
  });

  test('send every event to the webhook dispatcher', () => {
    const takes = feeding('WebhookDispatchQueue');
    expect([...canonical, ...ofProviders].filter((event) => !takes(event))).toEqual([]);
  });

  test('are as many as declared, and every pattern matches an event', () => {
    expect(busRules).toHaveLength(
      triggers.flatMap((trigger) => (trigger.kind === 'queue' ? trigger.rules : [])).length,
    );
    for (const { logicalId, Properties } of busRules) {
      const met = [...canonical, ...ofProviders].some((event) => matchesPattern(Properties.EventPattern, event));
      expect(met, logicalId).toBe(true);
    }
  });
});

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { EVENTS } from '../../shared/openapi/event-bodies.ts';
import { paymentEvents } from '../../shared/payments/payment-events.ts';
import { CANONICAL_EVENTS, type CanonicalEvent } from '../../shared/platform/bus-event.ts';
import { subscriptionEvents } from '../../shared/subscriptions/record/subscription-events.ts';
import { SAMPLES } from '../../shared/webhooks/event-samples.ts';
import { payment } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

/** The differences of the data from the documented fields of the event. An undocumented field is a difference. */
const faultsOf = (event: CanonicalEvent, data: unknown): string[] =>
  z
    .strictObject(EVENTS[event].data)
    .safeParse(data)
    .error?.issues.map(({ path, message }) => `${path}: ${message}`) ?? [];

describe('the events of the API document', () => {
  test.each(CANONICAL_EVENTS)('%s: document every field of the test event, and require no other field', (event) => {
    expect(faultsOf(event, SAMPLES[event])).toEqual([]);
  });

  test('have the fields of the events that the code derives from records', () => {
    const derived = [
      ...paymentEvents(undefined, payment({ status: 'succeeded' })),
      ...subscriptionEvents(undefined, subscription({ status: 'active' })),
    ];
    const payloadSchema = z.object({ payload: z.object({ event: z.enum(CANONICAL_EVENTS), data: z.unknown() }) });
    const faults = derived.map(({ detail }) => {
      const { payload } = payloadSchema.parse(detail);
      return { event: payload.event, faults: faultsOf(payload.event, payload.data) };
    });
    expect(faults).toEqual([
      { event: 'payment.created', faults: [] },
      { event: 'payment.succeeded', faults: [] },
      { event: 'subscription.created', faults: [] },
    ]);
  });
});

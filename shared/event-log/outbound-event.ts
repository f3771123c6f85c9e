/**
 * @module A bus event prepared for targets. It is a canonical event, or a provider's event with a reference to the
 * stored bytes.
 */

import * as z from 'zod';
import { plainId } from '../core/ids.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import type { CanonicalEvent } from '../platform/bus-event.ts';
import { ACTED_ON_EVENTS, type InboundEventType } from '../providers/event-port.ts';
import type { Content } from './event-content.ts';

export interface OutboundEvent {
  /** The webhook-id header, the same for every target, retry and replay. */
  readonly id: string;
  /** The value of the header webhook-event. */
  readonly name: string;
  readonly kind: 'canonical' | 'raw';
  /** Every name that a filter may use for the event. */
  readonly aliases: readonly string[];
  readonly provider: string;
  readonly content: Content;
  readonly organizationId: string | undefined;
  readonly userId: string | undefined;
  /** The trace of the work that caused the event, if known. */
  readonly traceparent?: string | undefined;
}

const canonicalSchema = z.object({
  source: z.literal('payments'),
  'detail-type': z.string(),
  detail: z.object({
    id: z.string(),
    traceparent: z.string().optional(),
    organization_id: z.string().nullish(),
    user_id: z.string().nullish(),
    payload: z.looseObject({ event: z.string(), provider: z.string(), timestamp: z.string() }),
  }),
});

const rawSchema = z.object({
  source: z.literal('payments.providers'),
  'detail-type': z.string(),
  detail: z.object({
    id: z.string(),
    traceparent: z.string().optional(),
    provider_id: z.enum(PROVIDER_SLOTS),
    event_id: z.string(),
    type: z.enum(ACTED_ON_EVENTS).optional(),
  }),
});

export const outboundEventOf = (message: unknown): OutboundEvent => {
  const parsed = z.union([canonicalSchema, rawSchema]).parse(message);
  const name = parsed['detail-type'];
  const id = plainId('message', parsed.detail.id);
  const { traceparent } = parsed.detail;
  if (parsed.source === 'payments') {
    const { organization_id: organizationId, user_id: userId, payload } = parsed.detail;
    return {
      id,
      name,
      kind: 'canonical',
      aliases: [name],
      provider: payload.provider,
      content: { body: JSON.stringify(payload) },
      organizationId: organizationId ?? undefined,
      userId: userId ?? undefined,
      traceparent,
    };
  }
  const { provider_id: providerId, event_id: eventId, type } = parsed.detail;
  return {
    id,
    name,
    kind: 'raw',
    aliases: rawAliases(providerId, name.slice(providerId.length + 1), type),
    provider: providerId,
    content: { providerId, eventId },
    organizationId: undefined,
    userId: undefined,
    traceparent,
  };
};

/** A provider event's full name, its type at the provider and in the API, and the matching canonical event. */
export const rawAliases = (
  provider: string,
  rawType: string,
  type: InboundEventType | undefined,
): readonly string[] => {
  const types = type === undefined ? [rawType] : [...new Set([rawType, type])];
  const canonical = type && TRANSLATED[type];
  return [...types.flatMap((one) => [`${provider}:${one}`, one]), ...(canonical ? [canonical] : [])];
};

const TRANSLATED: Readonly<Partial<Record<InboundEventType, CanonicalEvent>>> = {
  'payment_intent.succeeded': 'payment.succeeded',
  'payment_intent.failed': 'payment.failed',
  'subscription.created': 'subscription.created',
  'subscription.updated': 'subscription.updated',
  'subscription.deleted': 'subscription.cancelled',
  'subscription.trial_will_end': 'subscription.updated',
  'invoice.payment_succeeded': 'payment.succeeded',
  'invoice.payment_failed': 'payment.failed',
  'customer.created': 'customer.created',
  'customer.updated': 'customer.updated',
};

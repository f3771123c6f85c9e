/** @module Immediately sends provider events with content chosen by a test. */

import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import { postTo } from '../protocol/deliveries.ts';
import { ControlError, type ControlParts } from './control-call.ts';

const CONTRACT_TYPES: ReadonlySet<string> = new Set([
  'payment_intent.succeeded',
  'payment_intent.failed',
  'payment_intent.canceled',
  'payment_intent.processing',
  'payment_intent.requires_action',
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.updated',
  'subscription.created',
  'subscription.updated',
  'subscription.deleted',
  'subscription.trial_will_end',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'customer.created',
  'customer.updated',
  'customer.deleted',
]);

const MAX_TIMES = 1_000;

export const sentEvent = z.object({
  provider: z.enum(PROVIDER_SLOTS),
  type: z.string().min(1).max(200),
  object: z.record(z.string(), z.unknown()),
  id: z.string().min(1).max(255).optional(),
  created: z.int().optional(),
  vocabulary: z.enum(['contract', 'native']).optional(),
  signature: z.enum(['valid', 'invalid', 'missing', 'stale']).default('valid'),
  times: z.int().min(1).max(MAX_TIMES).default(1),
});
export type SentEvent = z.output<typeof sentEvent>;

/** Sends the event `times` times. @returns the response to the last delivery */
export const sendEvent = async (parts: ControlParts, event: SentEvent): Promise<{ status: number; body: unknown }> => {
  const slot = parts.options.slots[event.provider];
  const vendor = parts.vendors.find(({ adapter }) => adapter === slot.adapter);
  if (!vendor) throw new ControlError(400, `${event.provider} has no adapter whose events can be signed here`);
  const id = event.id ?? vendor.formatId('event', parts.units.count('event'), parts.units.tag);
  const created = event.created ?? Math.floor(parts.clock.now() / 1_000);
  const { type, object } = event;
  const vocabulary = event.vocabulary ?? (CONTRACT_TYPES.has(type) ? 'contract' : 'native');
  const raw = JSON.stringify(
    vocabulary === 'contract'
      ? { id, type, provider: event.provider, data: { object }, created }
      : vendor.webhooks.envelope({
          id,
          type,
          object,
          created,
          cause: undefined,
          apiVersion: parts.units.eventsVersion(),
        }),
  );
  let answer = { status: 0, body: '' };
  for (let sent = 0; sent < event.times; sent += 1) {
    const headers = vendor.webhooks.headersOf({ raw, slot, at: parts.clock.now(), kind: event.signature });
    answer = await postTo(parts.options, slot.webhookUrl, { headers, body: raw });
  }
  if (answer.status === 0) throw new ControlError(502, `${slot.webhookUrl} gave no response: ${answer.body}`);
  return { status: answer.status, body: readable(answer.body) };
};

const readable = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

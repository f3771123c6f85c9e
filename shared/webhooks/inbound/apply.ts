import * as z from 'zod';
import type { IdKind } from '../../core/ids.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { iso } from '../../core/time.ts';
import type { Handled, Receive } from '../../messaging/consumers.ts';
import { saveMethod } from '../../payments/attempts/save-method.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import type { BillingDeps } from '../../subscriptions/billing/biller.ts';
import { providerEventKey } from '../../table/keys.ts';
import { type LogEntry, writeLog } from '../record/log-entry.ts';
import { type StoredEvent, storedEventOf } from '../record/stored-event.ts';
import { applyCustomerEvent, isCustomerEvent } from './customer-event.ts';
import { applyMethodEvent, isMethodEvent } from './method-event.ts';
import { type Applied, applyPaymentEvent, isPaymentEvent, type PaymentEventType } from './payment-event.ts';
import type { EventResult, OwnerIds } from './result.ts';
import { applySubscriptionEvent, isSubscriptionEvent } from './subscription-event.ts';

export interface ApplyEventDeps extends BillingDeps {
  readonly newId: (kind: IdKind) => string;
  readonly deleteHistory: boolean;
}

const messageSchema = z.object({ detail: z.object({ provider_id: z.enum(PROVIDER_SLOTS), event_id: z.string() }) });

/** When an event about a record that is not there yet is tried again: seconds, by receive. */
const EARLY_RETRY_SECONDS = [60, 300, 1_800];

/** Applies one stored provider event to its record, and logs what became of it. */
export const applyProviderEvent = async (
  deps: ApplyEventDeps,
  message: unknown,
  receive: Receive,
): Promise<Handled> => {
  const { provider_id: slot, event_id: eventId } = messageSchema.parse(message).detail;
  const item = await deps.table.get(providerEventKey(slot, eventId));
  if (!item) return 'done';
  const stored = storedEventOf(item);
  const body: unknown = JSON.parse(stored.raw.toString('utf8'));
  const event = (await deps.providers.find(slot))?.readEvent(body);
  if (!event) throw new Error('a stored event can no longer be read');
  const applied = await act(deps, slot, event);
  if (applied.kind === 'early') {
    const seconds = EARLY_RETRY_SECONDS[receive.count - 1];
    if (seconds !== undefined) return { comeBackInSeconds: seconds };
  }
  await writeLog(deps.table, entryOf(deps, stored, body, applied));
  deps.log.info('provider event applied', {
    event_id: event.id,
    event_type: event.rawType,
    provider: slot,
    outcome: applied.kind,
    ...('reason' in applied && { reason: applied.reason }),
    ...('payment' in applied && { payment_id: applied.payment.id }),
  });
  return 'done';
};

/** A success that asked for its method to be saved has it saved here too; else its appointment does. */
const applyToPayment = async (
  deps: ApplyEventDeps,
  slot: StoredEvent['providerId'],
  event: ProviderEvent,
  type: PaymentEventType,
): Promise<Applied> => {
  const applied = await applyPaymentEvent(deps, slot, event, type);
  if (applied.kind === 'applied') await saveMethod(deps, applied.payment);
  return applied;
};

type Acted = Applied | EventResult | { readonly kind: 'not acted on'; readonly reason: string };

const act = async (deps: ApplyEventDeps, slot: StoredEvent['providerId'], event: ProviderEvent): Promise<Acted> => {
  const { type } = event;
  if (isPaymentEvent(type)) return applyToPayment(deps, slot, event, type);
  if (isMethodEvent(type)) return applyMethodEvent(deps, slot, event, type);
  if (isCustomerEvent(type)) return applyCustomerEvent(deps, slot, event, type);
  if (isSubscriptionEvent(type)) return applySubscriptionEvent(deps, slot, event, type);
  return { kind: 'not acted on', reason: event.type === undefined ? 'unknown event type' : 'no record concerned' };
};

const entryOf = (deps: ApplyEventDeps, stored: StoredEvent, body: unknown, applied: Acted): LogEntry => ({
  provider: stored.providerId,
  eventType: stored.rawType,
  eventId: stored.eventId,
  status: applied.kind === 'quarantined' || applied.kind === 'early' ? 'failed' : 'success',
  direction: 'inbound',
  attempt: 1,
  payload: body,
  response: responseOf(applied),
  createdAt: iso(deps.now()),
  ...ownerOf(applied),
  ...('payment' in applied && { paymentId: applied.payment.id }),
});

const ownerOf = (applied: Acted): OwnerIds => {
  const owner = 'payment' in applied ? applied.payment : 'owner' in applied ? applied.owner : {};
  return { organizationId: owner.organizationId, userId: owner.userId };
};

const responseOf = (applied: Acted): Readonly<Record<string, unknown>> => {
  switch (applied.kind) {
    case 'applied':
    case 'ignored':
    case 'quarantined':
      return {
        outcome: applied.kind,
        ...('payment' in applied && { payment_id: applied.payment.id }),
        ...('status' in applied && { status: applied.status }),
        ...('reason' in applied && { reason: applied.reason }),
      };
    case 'early':
      return { outcome: 'unmatched', reason: 'no such record here' };
    case 'not acted on':
      return { outcome: 'ignored', reason: applied.reason };
  }
};

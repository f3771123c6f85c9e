import * as z from 'zod';
import { iso } from '../core/time.ts';
import type { Log } from '../observability/logger.ts';
import { type Applied, applyPaymentEvent, isPaymentEvent } from '../payments/apply-event.ts';
import type { ProviderEvent } from '../providers/provider.ts';
import type { Providers } from '../providers/registry.ts';
import { PROVIDER_SLOTS } from '../settings.ts';
import { providerEventKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type LogEntry, logItem } from '../webhooks/log.ts';
import { type StoredEvent, storedEventOf } from '../webhooks/provider-event.ts';
import type { Handled } from './consumer.ts';

export interface ApplyEventDeps {
  readonly table: Table;
  readonly providers: Providers;
  readonly log: Log;
  readonly now: () => number;
}

const messageSchema = z.object({ detail: z.object({ provider_id: z.enum(PROVIDER_SLOTS), event_id: z.string() }) });

/** When an event about a record that is not there yet is tried again: seconds, by receive. */
const EARLY_RETRY_SECONDS = [60, 300, 1_800];

/** Applies one stored provider event to its record, and logs what became of it. */
export const applyProviderEvent = async (
  deps: ApplyEventDeps,
  message: unknown,
  receiveCount: number,
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
    const seconds = EARLY_RETRY_SECONDS[receiveCount - 1];
    if (seconds !== undefined) return { comeBackInSeconds: seconds };
  }
  await deps.table.put(logItem(entryOf(deps, stored, body, applied)));
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

type Acted = Applied | { readonly kind: 'not acted on'; readonly reason: string };

const act = async (deps: ApplyEventDeps, slot: StoredEvent['providerId'], event: ProviderEvent): Promise<Acted> => {
  if (isPaymentEvent(event.type)) return applyPaymentEvent(deps, slot, event, event.type);
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
  ...('payment' in applied && { organizationId: applied.payment.organizationId, userId: applied.payment.userId }),
});

const responseOf = (applied: Acted): Readonly<Record<string, unknown>> => {
  switch (applied.kind) {
    case 'applied':
      return { outcome: 'applied', payment_id: applied.payment.id, status: applied.status };
    case 'ignored':
    case 'quarantined':
      return { outcome: applied.kind, payment_id: applied.payment.id, reason: applied.reason };
    case 'early':
      return { outcome: 'unmatched', reason: 'no such record here' };
    case 'not acted on':
      return { outcome: 'ignored', reason: applied.reason };
  }
};

/** @module Replays an outbound event to its target, under the same id and with the retries of a new event. */

import { DomainError } from '../core/errors.ts';
import { type Delivery, deliveryForReplay, keyForReplay, replayBody } from '../event-log/delivery.ts';
import type { LogRecord } from '../event-log/log-entry.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Queues } from '../platform/queues.ts';
import { requireSender } from './log-access.ts';
import { type LogDeps, logFor } from './read-logs.ts';

type ReplayDeps = LogDeps & { readonly queues: Queues };

export const replayDelivery = async (deps: ReplayDeps, request: ApiRequest<{ id: string }>): Promise<Reply> => {
  const record = await entryToReplay(deps, request);
  const delivery = await storedDelivery(deps, record);
  await deps.queues.send('webhook-delivery', [{ body: replayBody(delivery), group: delivery.target }]);
  return {
    data: { event_id: delivery.id, event: delivery.event, target: delivery.target, status: 'queued' },
    message: 'The event is sent again',
  };
};

/** @returns the entry @throws DomainError if the caller may not see the entry, or may not replay its event */
export const entryToReplay = async (deps: LogDeps, request: ApiRequest<{ id: string }>): Promise<LogRecord> => {
  const record = await logFor(deps, request);
  await requireSender(deps, request.caller, record.organizationId);
  return record;
};

/** @throws DomainError INVALID_STATE for an inbound event, and for an event that is no longer kept */
const storedDelivery = async ({ table }: ReplayDeps, record: LogRecord): Promise<Delivery> => {
  const key = keyForReplay(record);
  if (key === undefined) {
    throw new DomainError('INVALID_STATE', { message: 'Only an outbound event can be sent again' });
  }
  const item = await table.get(key);
  if (!item && record.eventId.startsWith('msg_test_')) {
    throw new DomainError('INVALID_STATE', {
      message: 'A test event is not stored; send another test event with POST /webhooks/test',
    });
  }
  if (!item)
    throw new DomainError('INVALID_STATE', { message: 'The event is no longer stored, because 30 days have passed' });
  return deliveryForReplay(record, item);
};

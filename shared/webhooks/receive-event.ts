/** @module Receives a provider's webhook. It verifies the raw bytes, stores the event in one put, then replies. */

import { DomainError, invalid } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import type { Log } from '../core/logger.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { iso, type Now } from '../core/time.ts';
import { logItem } from '../event-log/log-entry.ts';
import { storedEventItem } from '../event-log/stored-event.ts';
import { parseJson } from '../http/json-body.ts';
import { enforceLimits, type RateLimit, type Reservation } from '../http/rate-limit.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Table } from '../platform/table.ts';
import type { EventReceiver } from '../providers/event-port.ts';
import type { Receivers } from '../providers/registry.ts';

export interface ReceiveDeps {
  readonly table: Table;
  readonly receivers: Receivers;
  readonly rateLimits: boolean;
  readonly log: Log;
  readonly now: Now;
}

const REFUSED_SIGNATURES: RateLimit = {
  name: 'refused-signature',
  max: 60,
  windowSeconds: 60,
  by: ({ http }) => http.sourceNetwork,
};

export const receiveProviderEvent = async (
  deps: ReceiveDeps,
  slot: ProviderSlot,
  request: ApiRequest,
): Promise<Reply> => {
  const receiver = await deps.receivers.find(slot);
  if (!receiver) throw new DomainError('ROUTE_NOT_FOUND');
  const { verdict, place } = await verify(deps, receiver, request);
  if (verdict === 'unavailable') throw new DomainError('PROVIDER_UNAVAILABLE');
  if (verdict === 'invalid') {
    if (deps.rateLimits && !place) await enforceLimits(deps, [REFUSED_SIGNATURES], request);
    return refuse(deps, slot, request);
  }
  const [reply] = await Promise.all([accept(deps, receiver, request), place?.release()]);
  return reply;
};

/**
 * If only the provider can verify the signature, the request first counts as a refused signature of its sender. So
 * forged requests, even concurrent ones, cause no more calls than the limit of refused signatures. A valid signature is
 * subtracted again. If the provider does not respond, the request stays counted.
 */
const verify = async (deps: ReceiveDeps, receiver: EventReceiver, request: ApiRequest) => {
  const places: Reservation[] = [];
  const verdict = await receiver.verifyWebhook({
    raw: request.http.rawBody,
    headers: request.http.headers,
    now: deps.now(),
    beforeAsking: async () => {
      if (deps.rateLimits) places.push(await enforceLimits(deps, [REFUSED_SIGNATURES], request));
    },
  });
  return { verdict, place: places[0] };
};

const accept = async (deps: ReceiveDeps, receiver: EventReceiver, { http }: ApiRequest): Promise<Reply> => {
  const event = readEvent(receiver, http.rawBody);
  const stored = await store(() =>
    deps.table.put(
      storedEventItem({ providerId: receiver.slot, event, raw: http.rawBody, receivedAt: iso(deps.now()) }),
      [{ absent: true }],
    ),
  );
  if (!stored.ok) return { data: { received: true, duplicate: true } };
  return { data: { received: true, event_id: event.id, ...(event.type === undefined && { ignored: true }) } };
};

const readEvent = (receiver: EventReceiver, raw: Buffer) => {
  const event = receiver.readEvent(parseJson(raw.toString('utf8')));
  if (!event) throw invalid([{ path: '', rule: 'event', message: 'is not an event of this provider' }]);
  return event;
};

/** An event that cannot be stored gets a 503, so that the provider sends it again. */
const store = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (cause) {
    throw new DomainError('STORAGE_UNAVAILABLE', { cause });
  }
};

/** Logs a refused signature without its payload. The rate limit bounds the entries per address. */
const refuse = async (deps: ReceiveDeps, slot: ProviderSlot, { http }: ApiRequest): Promise<never> => {
  deps.log.warn('provider event refused', { provider: slot, reason: 'signature', request_id: http.requestId });
  await deps.table.put(
    logItem({
      provider: slot,
      eventType: 'unknown',
      eventId: `refused:${fingerprint(http.requestId).slice(0, 16)}`,
      status: 'failed',
      direction: 'inbound',
      attempt: 1,
      payload: {},
      response: { error: 'INVALID_WEBHOOK_SIGNATURE' },
      createdAt: iso(deps.now()),
    }),
  );
  throw new DomainError('INVALID_WEBHOOK_SIGNATURE');
};

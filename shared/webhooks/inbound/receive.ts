import { DomainError, invalid } from '../../core/errors.ts';
import { fingerprint } from '../../core/ids.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import { iso, type Now } from '../../core/time.ts';
import type { RateLimit } from '../../http/endpoint.ts';
import { enforceLimits, type Reservation, reserve } from '../../http/rate-limit.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { Log } from '../../observability/logger.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { Providers } from '../../providers/registry/registry.ts';
import type { Table } from '../../table/table.ts';
import { logItem } from '../record/log-entry.ts';
import { storedEventItem } from '../record/stored-event.ts';

export interface ReceiveDeps {
  readonly table: Table;
  readonly providers: Providers;
  readonly rateLimits: boolean;
  readonly log: Log;
  readonly now: Now;
}

const REFUSED_SIGNATURES: RateLimit = {
  name: 'refused-signature',
  max: 60,
  windowSeconds: 60,
  by: (request) => request.sourceNetwork,
};

/** Takes a provider's webhook: verified over the raw bytes, stored in one conditional put, then answered. */
export const receiveProviderEvent = async (
  deps: ReceiveDeps,
  slot: ProviderSlot,
  request: ApiRequest,
): Promise<Reply> => {
  const provider = await deps.providers.find(slot);
  if (!provider?.acceptsWebhooks) throw new DomainError('ROUTE_NOT_FOUND');
  const { verdict, place } = await verify(deps, provider, request);
  if (verdict === 'unavailable') throw new DomainError('PROVIDER_UNAVAILABLE');
  if (verdict === 'invalid') {
    if (deps.rateLimits && !place) await enforceLimits(deps, [REFUSED_SIGNATURES], request);
    return refuse(deps, slot, request);
  }
  const [reply] = await Promise.all([accept(deps, provider, request), place?.release()]);
  return reply;
};

/**
 * Where the provider itself has to be asked, the request first takes a place in its sender's window of refused
 * signatures: forged requests cause no more calls than the window has places, however many come at once. A valid
 * signature gives the place back. A place is kept where the provider gave no answer.
 */
const verify = async (deps: ReceiveDeps, provider: PaymentProvider, request: ApiRequest) => {
  const places: Reservation[] = [];
  const verdict = await provider.verifyWebhook({
    raw: request.rawBody,
    headers: request.headers,
    now: deps.now(),
    beforeAsking: async () => {
      if (deps.rateLimits) places.push(await reserve(deps, REFUSED_SIGNATURES, request));
    },
  });
  return { verdict, place: places[0] };
};

const accept = async (deps: ReceiveDeps, provider: PaymentProvider, request: ApiRequest): Promise<Reply> => {
  const event = read(provider, request.rawBody);
  const stored = await store(() =>
    deps.table.put(storedEventItem(provider.slot, event, request.rawBody, iso(deps.now())), [{ absent: true }]),
  );
  if (!stored.ok) return { data: { received: true, duplicate: true } };
  return { data: { received: true, event_id: event.id, ...(event.type === undefined && { ignored: true }) } };
};

const read = (provider: PaymentProvider, raw: Buffer) => {
  let body: unknown;
  try {
    body = JSON.parse(raw.toString('utf8'));
  } catch (cause) {
    throw new DomainError('INVALID_JSON', { cause });
  }
  const event = provider.readEvent(body);
  if (!event) throw invalid([{ path: '', rule: 'event', message: 'is not an event of this provider' }]);
  return event;
};

/** Stored nowhere: 503, so that the provider sends it again. */
const store = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (cause) {
    throw new DomainError('STORAGE_UNAVAILABLE', { cause });
  }
};

/** A refused signature is logged without its payload; one address can fill the log only so fast. */
const refuse = async (deps: ReceiveDeps, slot: ProviderSlot, request: ApiRequest): Promise<never> => {
  deps.log.warn('provider event refused', { provider: slot, reason: 'signature', request_id: request.requestId });
  await deps.table.put(
    logItem({
      provider: slot,
      eventType: 'unknown',
      eventId: `refused:${fingerprint(request.requestId).slice(0, 16)}`,
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

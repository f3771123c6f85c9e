import { type Key, memberKey, organizationKey, referenceKey } from '../../shared/platform/keys.ts';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import type { Ask, Json, Service } from './service.ts';

/** A scenario's measured request. Its records already exist. */
export interface PreparedRequest {
  readonly ask: Ask;
  readonly status: number;
  /** A request before the measured request, which caches the session; by default the caller's list. */
  readonly warm?: Ask;
  /** The stored item, if its size counts. */
  readonly stores?: Key;
}

export type Scenario = (service: Service) => Promise<PreparedRequest>;

/** Seconds until no membership is cached. */
export const UNCACHED = 301;
/** Seconds until no service key is cached. */
export const KEY_UNCACHED = 6;

/** A payment of typical size, with two of the four optional texts and two keys of metadata. */
export const typical = (fields: Fields = {}): Fields => ({
  total_cents: 12_950,
  currency: 'EUR',
  payment_method_id: VISA,
  description: 'Order 1042: two tickets, 14 May',
  reference_code: 'ORDER-1042',
  metadata: { order_id: '1042', source: 'web' },
  ...fields,
});
export type Fields = Readonly<Record<string, unknown>>;

export interface BenchUser {
  readonly userId: string;
  readonly email: string;
  readonly headers: Readonly<Record<string, string>>;
}

let people = 0;

export const person = async (service: Service, claims: Fields = {}): Promise<BenchUser> => {
  people += 1;
  const email = `jane.doe.${people}@example.com`;
  const session = await service.control('/sessions', { email, expires_in: 30 * DAY_SECONDS, ...claims });
  return { userId: session.user_id, email, headers: { 'x-session-id': session.session_id } };
};

/** A service key with every scope needed by the benches. It acts for the payer, or without a payer for the merchant. */
export const backendOf = async (service: Service, payer?: BenchUser): Promise<Pick<BenchUser, 'headers'>> => {
  const admin = await person(service, { is_admin: true });
  const scopes = ['payments:read', 'payments:write', 'refunds:write'];
  const made = await service.must(post('/admin/keys', admin, { name: 'Shop backend', scopes }));
  return {
    headers: {
      authorization: `Bearer ${made.data.secret}`,
      ...(payer && { 'x-act-for': `user:${payer.userId}` }),
    },
  };
};

export const post = (path: string, { headers }: Pick<BenchUser, 'headers'>, body: unknown = {}): Ask => ({
  method: 'POST',
  path,
  body,
  headers,
});
export const get = (path: string, { headers }: Pick<BenchUser, 'headers'>): Ask => ({ method: 'GET', path, headers });
export const withKey = (ask: Ask, key: string): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'idempotency-key': key },
});
export const listOf = (who: Pick<BenchUser, 'headers'>): Ask => get('/payments?limit=1', who);

/** The request, preceded by a list request that caches its caller's session. */
export const warmed = (who: BenchUser, ask: Ask, status = 200): PreparedRequest => ({ ask, status, warm: listOf(who) });

export const intent = (service: Service, who: BenchUser, fields: Fields = {}): Promise<Json> =>
  service.must(post('/payments/intents', who, typical(fields)));

export const paid = async (service: Service, who: BenchUser, fields: Fields = {}): Promise<Json> => {
  const payment = await intent(service, who, fields);
  await service.must(post(`/payments/confirm/${payment.id}`, who));
  return payment;
};

const TIMES = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

/** Stores an organization with its owner as the only member, in the form that access decisions read. @returns its id */
export const storeOrganization = async (service: Service, { userId }: BenchUser): Promise<string> => {
  people += 1;
  const id = `org_${String(people).padStart(24, '0')}`;
  await service.store(organizationKey(id), { id, version: 1, name: 'Acme', ownerUserId: userId, ...TIMES });
  const key = memberKey(id, userId);
  const memberId = key.sk.slice(key.sk.indexOf('#') + 1);
  await service.store(key, { id: memberId, organizationId: id, userId, role: 'owner', ...TIMES });
  return id;
};

/** Stores a project of the user or of the given owner. @returns its id */
export const projectOf = async (
  service: Service,
  { userId }: BenchUser,
  owner: Fields = { owner_user_id: userId },
): Promise<string> => {
  people += 1;
  const id = `proj_${String(people).padStart(24, '0')}`;
  const [created_at, updated_at] = [TIMES.createdAt, TIMES.updatedAt];
  await service.store(referenceKey('projects', id), {
    id,
    version: 1,
    name: 'Website',
    slug: 'website',
    ...owner,
    metadata: {},
    created_at,
    updated_at,
  });
  return id;
};

export const savedMethod = async (service: Service, who: BenchUser): Promise<string> => {
  const body = { provider_id: 'provider_a', provider_payment_method_token: VISA };
  return (await service.must(post('/payment-methods', who, body))).id;
};

export interface Guest extends Pick<BenchUser, 'headers'> {
  readonly payment: Json;
  readonly email: string;
}

export const newGuest = async (service: Service): Promise<Guest> => {
  people += 1;
  const email = `gus.doe.${people}@example.com`;
  const payment = await service.must(
    post('/payments/intents', { headers: {} }, guestIntentBody(typical(), { email, name: 'Gus Doe' })),
  );
  return { payment, email, headers: { 'x-guest-token': payment.guest_token } };
};

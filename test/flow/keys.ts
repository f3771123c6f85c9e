import { expect } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn, type User } from './flow.ts';
import type { RequestOptions, TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

/** Steps of tests about service keys; a refused step fails the test. */
type Fields = Readonly<Record<string, unknown>>;

/** Every scope, written by hand and not read from the service's own table. */
export const ALL_SCOPES = [
  ...['payments:read', 'subscriptions:read', 'customers:read'],
  ...['payments:write', 'methods:write', 'subscriptions:write', 'organizations:write'],
  ...['payments:operate', 'payments:capture', 'refunds:write', 'subscriptions:operate', 'catalog:write'],
  'links:write',
  ...['webhooks:read', 'webhooks:write', 'admin:cache', 'admin:erasures', 'imports:write'],
] as const;

export interface TestKey {
  readonly id: string;
  readonly secret: string;
  /** The part of the secret that only its holder knows. */
  readonly last: string;
  readonly admin: RequestOptions;
}

/** The key of a response that shows its secret. */
export const shownKey = ({ id, secret }: ParsedJson, admin: RequestOptions): TestKey => ({
  id,
  admin,
  secret,
  last: secret.slice(`psk_${'0'.repeat(24)}_`.length),
});

export const newAdmin = (service: TestHost): Promise<User> =>
  signIn(service, { is_admin: true, expires_in: YEAR_SECONDS });

/** A key with every scope unless the fields say otherwise. */
export const createKey = async (service: TestHost, admin: User, fields: Fields = {}): Promise<TestKey> => {
  const body = { name: 'Shop backend', scopes: ALL_SCOPES, ...fields };
  const made = await service.post('/admin/keys', body, admin.options);
  expect(made).toMatchObject({ status: 201, body: { success: true, data: { status: 'active' } } });
  return shownKey(made.body.data, admin.options);
};

type Keyed = Pick<TestKey, 'secret'>;

/** Requests with the key, as the merchant. */
export const asMerchant = ({ secret }: Keyed): RequestOptions => ({ bearer: secret });

/** Requests with the key for a payer, `user:<id>` or `organization:<id>`. */
export const actingFor = ({ secret }: Keyed, payer: string): RequestOptions => ({
  bearer: secret,
  headers: { 'x-act-for': payer },
});

export const forUser = (key: Keyed, { userId }: Pick<User, 'userId'>): RequestOptions =>
  actingFor(key, `user:${userId}`);

export const forOrganization = (key: Keyed, id: string): RequestOptions => actingFor(key, `organization:${id}`);

export const changeKey = (service: TestHost, { id, admin }: TestKey, fields: Fields) =>
  service.request('PATCH', `/admin/keys/${id}`, { ...admin, body: fields });

export const rotateKey = (service: TestHost, { id, admin }: TestKey, fields: Fields = {}) =>
  service.post(`/admin/keys/${id}/rotate`, fields, admin);

export const revokeKey = async (service: TestHost, { id, admin }: TestKey): Promise<void> => {
  expect(await service.request('DELETE', `/admin/keys/${id}`, admin)).toMatchObject({ status: 204 });
};

/** The response to every secret that is not valid. */
export const NOT_VALID = {
  status: 401,
  body: { success: false, code: 'API_KEY_INVALID', error: 'The service key is not valid' },
};

/** A request that every key with payments:read may send. */
export const useKey = (service: TestHost, key: Keyed, options: RequestOptions = {}) =>
  service.get('/admin/payments?limit=1', { ...asMerchant(key), ...options });

/** @module What exists before the first operation: service keys, products, an organization, methods and payments. */
import type { Prng } from '../kernel/prng.ts';
import type { HistoryJson, Person } from '../model/history.ts';
import type { Client } from './client.ts';
import { drawFirstToken, drawToken } from './methods-to-try.ts';
import type { WorldKey } from './operation.ts';
import { drawAmount, withCode } from './payments.ts';
import {
  ACCOUNTS,
  ADA,
  BEN,
  CLEO,
  CODES,
  DAN,
  FAY,
  GUESTS,
  OLI,
  PRODUCTS,
  PROJECT,
  ROOT,
  TIERS,
  USERS,
  WORLD_PROVIDERS,
} from './people.ts';
import { drawPrice } from './subscriptions.ts';

const PAYERS_SCOPES = ['payments', 'subscriptions', 'methods', 'organizations'].map((of) => `${of}:write`);
const READ_SCOPES = ['payments', 'subscriptions', 'customers', 'webhooks'].map((of) => `${of}:read`);
const KEYS: readonly (readonly [name: WorldKey, scopes: readonly string[]])[] = [
  ['backend', [...PAYERS_SCOPES, ...READ_SCOPES]],
  ['revoked', [...PAYERS_SCOPES, ...READ_SCOPES]],
  ['narrow', ['admin:cache']],
  ['merchant', ['payments:read', 'subscriptions:read', 'refunds:write', 'payments:capture', 'subscriptions:operate']],
];

const makeKeys = async (client: Client, prng: Prng): Promise<void> => {
  for (const [name, scopes] of KEYS) {
    const asked = {
      kind: 'request',
      person: ROOT,
      method: 'POST',
      path: '/admin/keys',
      body: { name, scopes },
    } as const;
    const { body } = await client.ask('create a service key', asked, prng);
    // The repeated request after a lost response shows no secret.
    if (typeof body?.data?.secret !== 'string') continue;
    client.holdKey(name, body.data.secret);
    if (name !== 'revoked') continue;
    const path = `/admin/keys/${body.data.id}`;
    const { status } = await client.ask(
      'revoke a service key',
      { kind: 'request', person: ROOT, method: 'DELETE', path },
      prng,
    );
    if (status !== 204) client.holdKey(name, '');
  }
};

/** Prepares sessions, reference records and, mostly, an organization with members and saved methods. */
export const prepare = async (client: Client, prng: Prng, merchants: readonly Person[]): Promise<void> => {
  for (const person of ACCOUNTS) await client.signIn(person);
  await makeKeys(client, prng.fork('keys'));
  const put = (path: string, body: Readonly<Record<string, unknown>>) =>
    client.ask('write a reference record', { kind: 'request', person: ROOT, method: 'PUT', path, body }, prng);
  await put(`/admin/tiers/${TIERS.gold}`, {
    ...{ name: 'Gold', slug: 'gold', rank: 1, features: [], is_active: true },
    entity_type: prng.pick(['user', 'user', 'organization']),
    product_ids: [PRODUCTS.monthly.id],
  });
  for (const { id, ...product } of Object.values(PRODUCTS)) {
    await put(`/admin/products/${id}`, {
      ...{ name: id, is_active: true, currency: 'USD', subtotal_cents: product.total_cents },
      ...product,
      metadata: { membership_type_id: TIERS.gold },
    });
  }
  for (const { id, ...code } of CODES) await put(`/admin/discounts/${id}`, { name: id, ...code });
  await put(`/admin/projects/${PROJECT}`, { name: 'Course', slug: 'course', owner_user_id: ADA.userId });
  const users = [...USERS, ...merchants];
  if (prng.chance(0.85)) await found(client, prng, users);
  for (const person of users) {
    if (!prng.chance(0.6)) continue;
    await saveFirst(client, prng, person);
    if (prng.chance(0.2)) await saveFirst(client, prng, person);
  }
  for (const person of [...users, ...GUESTS]) if (prng.chance(0.4)) await beginPayment(client, prng, { person });
};

const MEMBERS = [
  [BEN, 'admin'],
  [CLEO, 'billing'],
  [DAN, 'member'],
  [ROOT, 'admin'],
  [FAY, 'billing'],
  [OLI, 'member'],
] as const;

const found = async (client: Client, prng: Prng, users: readonly Person[]): Promise<void> => {
  const post = (path: string, body: Readonly<Record<string, unknown>>) =>
    client.ask('found an organization', { kind: 'request', person: ADA, method: 'POST', path, body }, prng);
  const { body } = await post('/organizations', { name: 'Acme' });
  const id = body?.data?.id;
  if (id === undefined) return;
  for (const [added, role] of MEMBERS.filter(([person]) => users.includes(person))) {
    if (!prng.chance(0.7)) continue;
    await post(`/organizations/${id}/members`, { email: added.email, role });
    await client.ask('read', { kind: 'request', person: added, method: 'GET', path: `/organizations/${id}` }, prng);
    if (role !== 'member' && prng.chance(0.4)) await beginPayment(client, prng, { person: added, organizationId: id });
  }
};

interface Beginner {
  readonly person: Person;
  readonly organizationId?: string;
}

const beginPayment = async (client: Client, prng: Prng, { person, organizationId }: Beginner): Promise<void> => {
  const provider = prng.pick(WORLD_PROVIDERS);
  const body = {
    provider_id: provider,
    total_cents: drawAmount(prng),
    currency: 'USD',
    ...(prng.chance(0.6) && { payment_method_id: drawToken(prng, provider) }),
    ...(organizationId !== undefined && { organization_id: organizationId }),
    ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
  };
  await client.ask(
    'create a payment',
    { kind: 'request', person, method: 'POST', path: '/payments/intents', body },
    prng,
  );
};

const saveFirst = async (client: Client, prng: Prng, person: Person): Promise<void> => {
  const provider = prng.pick(['provider_a', 'provider_a', 'provider_b', 'provider_c'] as const);
  const body = {
    provider_id: provider,
    provider_payment_method_token: drawFirstToken(prng, provider),
    ...(prng.chance(0.5) && { is_default: true }),
  };
  const saving = { kind: 'request', person, method: 'POST', path: '/payment-methods', body } as const;
  const { status, body: method } = await client.ask('save a method', saving, prng);
  if (status === 201 && prng.chance(0.6)) await subscribeFirst({ client, prng, person }, method);
};

interface First {
  readonly client: Client;
  readonly prng: Prng;
  readonly person: Person;
}

const subscribeFirst = async ({ client, prng, person }: First, method: HistoryJson): Promise<void> => {
  const reading = { kind: 'request', person, method: 'GET', path: '/customers' } as const;
  const { body: customers } = await client.ask('read', reading, prng);
  const customer = Array.isArray(customers) && customers.find((one) => one.provider_id === method.provider_id);
  if (!customer) return;
  const body = {
    customer_id: customer.id,
    payment_method_id: method.id,
    provider_id: method.provider_id,
    ...withCode(prng, drawPrice(prng)),
  };
  await client.ask('subscribe', { kind: 'request', person, method: 'POST', path: '/subscriptions', body }, prng);
};

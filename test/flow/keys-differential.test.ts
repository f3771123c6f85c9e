import { beforeAll, describe, expect, test } from 'vitest';
import { fullAddress } from '../builders/address.ts';
import { DECLINED, intentBody, paidIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { signIn } from './flow.ts';
import { type RequestOptions, startTestHost, type TestHost } from './host.ts';
import { createKey, forUser, newAdmin } from './keys.ts';
import type { ParsedJson } from './routes.ts';

/**
 * The same operations of the same user on two new hosts, once by session and once by a service key that acts for the
 * user. The responses may differ in the actor, in ids and in times only.
 */
interface Answered {
  readonly step: string;
  readonly status: number;
  readonly body: ParsedJson;
}

const PAYER = { user_id: 'user_payer', email: 'payer@example.com' };
const PEER = 'peer@example.com';
const START = '2027-03-01T12:00:00.000Z';
const UNKNOWN = '0'.repeat(24);

const OUR_ID = /\b(pay|pmt|addr|cust|subs|ref|org|mem|mbr|gst)_[0-9a-f]{24}\b/g;
const PROVIDER_ID = /\b(pi|pm|cus|sub|ch|py|seti|in|re)_[A-Za-z0-9_]{6,}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Numbers the ids in the order of their appearance, and hides times and actors. Removes request ids and cursors. */
const withoutChance = () => {
  const names = new Map<string, string>();
  const nameOf = (id: string, kind: string): string => {
    const known = names.get(id) ?? `${kind}_${names.size}`;
    names.set(id, known);
    return known;
  };
  const plain = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replaceAll(OUR_ID, nameOf).replaceAll(PROVIDER_ID, nameOf).replaceAll(TIME, 'time');
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => {
        if (name === 'request_id' || name === 'next_cursor') return [];
        return [[name, name === 'actor' ? 'actor' : plain(inner)]];
      }),
    );
  };
  return plain;
};

/** Removes the provider's events from a timeline. */
const withoutEvents = (body: ParsedJson) =>
  Array.isArray(body?.data)
    ? { ...body, data: body.data.filter(({ kind }: ParsedJson) => kind !== 'provider_event') }
    : body;

const operate = async (service: TestHost, options: RequestOptions): Promise<Answered[]> => {
  const answers: Answered[] = [];
  const call = async (method: string, path: string, sent: RequestOptions = {}) => {
    const answer = await service.request(method, path, { ...options, ...sent });
    // Each record gets its own time, because lists order records of the same time by id.
    await service.advance(1);
    await service.settle();
    answers.push({ step: `${method} ${path}`, status: answer.status, body: withoutEvents(answer.body) });
    return answer.body?.data ?? answer.body;
  };
  const get = (path: string) => call('GET', path);
  const post = (path: string, body: unknown = {}, more: RequestOptions = {}) => call('POST', path, { ...more, body });

  const address = await post('/addresses', fullAddress());
  const other = await post('/addresses', fullAddress({ type: 'shipping' }));
  await post('/addresses', { country: 'nowhere' });
  await get(`/addresses/${address.id}`);
  await call('PUT', `/addresses/${address.id}`, { body: { alias: 'Home' } });
  await post(`/addresses/${address.id}/set-default`);
  await get('/addresses');
  await call('DELETE', `/addresses/${other.id}`);
  await get(`/addresses/${other.id}`);
  await get(`/addresses/addr_${UNKNOWN}`);

  const customer = await post('/customers', customerBody());
  await get(`/customers/${customer.id}`);
  await call('PUT', `/customers/${customer.id}`, { body: { phone: '+1 555 0100' } });
  await get('/customers');
  await get(`/customers/cust_${UNKNOWN}`);

  const method = await post('/payment-methods', methodBody());
  const spare = await post('/payment-methods', methodBody());
  await get(`/payment-methods/${method.id}`);
  await call('PUT', `/payment-methods/${method.id}`, { body: { alias: 'Blue card' } });
  await call('PATCH', `/payment-methods/${method.id}/billing-address`, { body: { billing_address_id: address.id } });
  await post(`/payment-methods/${method.id}/set-default`);
  await get('/payment-methods');
  await call('DELETE', `/payment-methods/${spare.id}`);
  await post('/payment-methods', { provider_id: 'provider_a' });

  const intent = await post('/payments/intents', intentBody({ payment_method_id: method.id }));
  await call('PUT', `/payments/intents/${intent.id}`, { body: { concept: 'Tea' } });
  await get(`/payments/${intent.id}`);
  await post(`/payments/confirm/${intent.id}`, {}, { idempotencyKey: 'confirm-once' });
  await post(`/payments/confirm/${intent.id}`, {}, { idempotencyKey: 'confirm-once' });
  await get(`/payments/${intent.id}?include_methods=true`);
  await get(`/payments/${intent.id}/timeline`);
  await get(`/payments/${intent.id}/refunds`);
  await get(`/payments/${intent.id}/disputes`);
  await call('PUT', `/payments/intents/${intent.id}`, { body: { concept: 'Too late' } });
  const canceled = await post('/payments', paidIntentBody(), { idempotencyKey: 'create-once' });
  await post('/payments', paidIntentBody(), { idempotencyKey: 'create-once' });
  await post('/payments', paidIntentBody({ total_cents: 1 }), { idempotencyKey: 'create-once' });
  await post(`/payments/intents/${canceled.id}/cancel`);
  await post(`/payments/confirm/${canceled.id}`);
  const declined = await post('/payments/intents', intentBody());
  await post(`/payments/confirm/${declined.id}`, { payment_method_id: DECLINED });
  await post(`/payments/confirm/${declined.id}`, { payment_method_id: VISA });
  const secured = await post('/payments/intents', intentBody({ payment_method_id: THREE_D_SECURE }));
  await post(`/payments/confirm/${secured.id}`);
  await post('/payments/intents', { total_cents: 'much' });
  await get(`/payments/pay_${UNKNOWN}`);
  await get('/payments?orderDir=asc');
  await get('/payments/summary');

  const names = { customer_id: customer.id, payment_method_id: method.id, provider_id: 'provider_a' };
  const subscription = await post('/subscriptions', subscriptionBody(names));
  await get(`/subscriptions/${subscription.id}`);
  await call('PATCH', `/subscriptions/${subscription.id}`, { body: { metadata: { seat: '1' } } });
  await call('PATCH', `/subscriptions/${subscription.id}/billing-address`, {
    body: { billing_address_id: address.id },
  });
  await post(`/subscriptions/${subscription.id}/pause`);
  await post(`/subscriptions/${subscription.id}/resume`);
  await post(`/subscriptions/${subscription.id}/cancel`);
  await post(`/subscriptions/${subscription.id}/reactivate`);
  await get(`/subscriptions/${subscription.id}/timeline`);
  await post(`/subscriptions/${subscription.id}/cancel`, { cancel_at_period_end: false });
  await get('/subscriptions');
  await get('/memberships');
  await call('DELETE', `/payment-methods/${method.id}`);
  await call('DELETE', `/customers/${customer.id}`);

  const organization = await post('/organizations', { name: 'Acme' });
  await get('/organizations');
  await get(`/organizations/${organization.id}`);
  await call('PUT', `/organizations/${organization.id}`, { body: { name: 'Acme and Sons' } });
  await post(`/organizations/${organization.id}/members`, { email: 'nobody@example.com', role: 'member' });
  const member = await post(`/organizations/${organization.id}/members`, { email: PEER, role: 'member' });
  await get(`/organizations/${organization.id}/members`);
  await call('PUT', `/organizations/${organization.id}/members/${member.id}`, { body: { role: 'billing' } });
  await post('/payments/intents', intentBody({ organization_id: organization.id }));
  await get(`/payments?organization_id=${organization.id}`);
  await get(`/payments?organization_id=org_${UNKNOWN}`);
  await call('DELETE', `/organizations/${organization.id}/members/${member.id}`);
  await post(`/organizations/${organization.id}/leave`);
  await call('DELETE', `/organizations/${organization.id}`);
  await get(`/organizations/${organization.id}`);
  return answers;
};

const onNewHost = async (optionsOf: (service: TestHost) => Promise<RequestOptions>): Promise<Answered[]> => {
  const service = await startTestHost({ frozen: true });
  try {
    await service.moveTo(START);
    await service.session({ user_id: 'user_peer', email: PEER });
    return await operate(service, await optionsOf(service));
  } finally {
    await service.stop();
  }
};

let bySession: Answered[];
let byKey: Answered[];

beforeAll(async () => {
  bySession = await onNewHost(async (service) => (await signIn(service, PAYER)).options);
  byKey = await onNewHost(async (service) => {
    const user = await signIn(service, PAYER);
    return forUser(await createKey(service, await newAdmin(service)), user);
  });
});

const LEAST_OPERATIONS = 60;

describe('a service key that acts for a user', () => {
  test('gets the responses of the user’s session, except the actor, ids and times', () => {
    expect(bySession.length).toBeGreaterThanOrEqual(LEAST_OPERATIONS);
    const [ofSession, ofKey] = [withoutChance(), withoutChance()];
    expect(byKey.map(ofKey)).toEqual(bySession.map(ofSession));
  });

  test('gets every expected status of success and failure, and no server error', () => {
    const statuses = new Set(bySession.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 201, 204, 400, 402, 403, 404, 409, 422]);
    expect(bySession.filter(({ status }) => status >= 500)).toEqual([]);
  });

  test('appears in the history as a key on behalf of the user', () => {
    const ofTimeline = (answers: readonly Answered[]) =>
      answers.filter(({ step }) => step.endsWith('/timeline')).flatMap(({ body }) => body.data);
    const actorsOf = (answers: readonly Answered[], type: string) =>
      ofTimeline(answers).flatMap(({ actor }) => (actor?.type === type ? [actor] : []));
    const ofUser = actorsOf(bySession, 'user');
    expect(ofUser.length).toBeGreaterThan(4);
    expect(ofUser.every(({ id }) => id === PAYER.user_id)).toBe(true);
    const onBehalf = { type: 'key', on_behalf_of: { type: 'user', id: PAYER.user_id } };
    expect(actorsOf(byKey, 'key')).toEqual(ofUser.map(() => onBehalf));
    expect(actorsOf(byKey, 'user')).toEqual([]);
  });
});

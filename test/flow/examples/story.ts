import type { ParsedJson, RequestOptions, TestHost } from '../host.ts';
import type { Tell, Told } from './recorder.ts';

/**
 * A small company from its first day: one success of every route, in an order in which each record exists before its
 * use.
 */
export const story = async (service: TestHost, tell: Tell): Promise<void> => {
  const people = await peopleOf(service);
  await references(tell, people);
  await organizations(service, tell, people);
  const payer = await payers(tell, people);
  await payments(service, tell, { people, payer });
  await subscriptions(tell, people, payer);
  await events(service, tell, people);
  await operations(service, tell, people);
};

interface People {
  readonly ada: RequestOptions;
  readonly admin: RequestOptions;
  readonly grace: RequestOptions;
}

interface Payer {
  readonly customerId: string;
  readonly methodId: string;
  readonly addressId: string;
}

const SUMMARY = { interval: 'month', group_by: 'provider' };
const ADA = 'ada@example.com';
const GRACE = 'grace@example.com';
const GUS = 'gus@example.com';

const peopleOf = async (service: TestHost): Promise<People> => {
  const signIn = async (name: string, last_name: string, more = {}): Promise<RequestOptions> => {
    const person = {
      user_id: `user_${name.toLowerCase()}`,
      email: `${name.toLowerCase()}@example.com`,
      name,
      last_name,
    };
    return { session: (await service.control('POST', '/sessions', { ...person, ...more })).session_id };
  };
  return {
    ada: await signIn('Ada', 'Lovelace'),
    grace: await signIn('Grace', 'Hopper'),
    admin: await signIn('Olga', 'Perator', { is_admin: true }),
  };
};

/** What other services own: a platform admin writes it here. */
const references = async (tell: Tell, { admin: by }: People): Promise<void> => {
  const put = (kind: string, id: string, body: unknown) => tell('admin.put-record', { params: { kind, id }, body, by });
  await put('projects', 'garden', { name: 'Garden', slug: 'garden', billing_email: 'garden@example.com' });
  await put('invites', 'invite-2f6b', {
    project_id: 'garden',
    inviter_name: 'Ada Lovelace',
    role: 'editor',
    email: GRACE,
    expires_at: '2199-01-01T00:00:00.000Z',
  });
  await put('tiers', 'gold', {
    name: 'Gold',
    slug: 'gold',
    description: 'Everything, and first',
    rank: 3,
    entity_type: 'user',
    features: ['all-courses', 'priority-support'],
    product_ids: ['gold-plan'],
  });
  await put('products', 'gold-plan', {
    name: 'Gold plan',
    description: 'All courses, by the month',
    subtotal_cents: 1_900,
    tax_cents: 361,
    total_cents: 2_261,
    currency: 'EUR',
    billing_interval: 'monthly',
    metadata: { membership_type_id: 'gold' },
  });
  await tell('admin.get-record', { params: { kind: 'products', id: 'gold-plan' }, by });
  await tell('admin.list-records', { params: { kind: 'tiers' }, query: { limit: '20' }, by });
  await tell('memberships.list-tiers');
  await tell('projects.preview-invite', { params: { token: 'invite-2f6b' } });
};

const organizations = async (service: TestHost, tell: Tell, { ada: by, grace }: People): Promise<void> => {
  const other = await tell('organizations.create', { body: { name: 'Closed again' }, by });
  await tell('organizations.remove', { params: { id: other.data.id }, by });
  const made = await tell('organizations.create', {
    body: { name: 'Engines Ltd', business_email: 'office@engines.example.com', tax_id: 'DE129273398' },
    by,
  });
  const params = { id: made.data.id };
  const join = (body = { email: GRACE, role: 'member' }) => tell('organizations.add-member', { params, body, by });
  await tell('organizations.update', { params, body: { business_phone: '+49 30 901820' }, by });
  await join();
  await tell('organizations.leave', { params, body: {}, by: grace });
  const { data: member } = await join();
  const one = { ...params, memberId: member.id };
  await tell('organizations.change-role', { params: one, body: { role: 'billing' }, by });
  await tell('organizations.list-members', { params, query: { role: 'billing', page: '1', limit: '20' }, by });
  await tell('organizations.remove-member', { params: one, by });
  await tell('organizations.get', { params, by });
  await tell('organizations.list', { query: { page: '1', limit: '20' }, by });
  await service.settle();
};

const payers = async (tell: Tell, { ada: by }: People): Promise<Payer> => {
  const provider = { provider_id: 'provider_a' };
  const gone = await tell('customers.create', { body: { ...provider, email: 'old@example.com' }, by });
  await tell('customers.remove', { params: { id: gone.id }, by });
  const customer = await tell('customers.create', {
    body: { ...provider, email: ADA, name: 'Ada Lovelace', metadata: { source: 'newsletter' } },
    by,
  });
  await tell('customers.get', { params: { id: customer.id }, by });
  await tell('customers.update', { params: { id: customer.id }, body: { phone: '+49 30 901820' }, by });
  await tell('customers.list', { query: { provider_id: 'provider_a', limit: '20' }, by });

  const full = {
    line1: 'Unter den Linden 6',
    city: 'Berlin',
    postal_code: '10117',
    country: 'DE',
    name: 'Ada Lovelace',
  };
  const moved = await tell('addresses.create', { body: full, by });
  await tell('addresses.remove', { params: { id: moved.id }, by });
  const address = await tell('addresses.create', { body: { ...full, type: 'billing', alias: 'Home' }, by });
  const at = { id: address.id };
  await tell('addresses.get', { params: at, by });
  await tell('addresses.update', { params: at, body: { line2: '3rd floor' }, by });
  await tell('addresses.set-default', { params: at, body: {}, by });
  await tell('addresses.list', { query: { type: 'billing', completeness: 'full' }, by });

  const lost = await saved(tell, by, {});
  await tell('payment-methods.remove', { params: { id: lost.id }, by });
  const method = await saved(tell, by, { alias: 'Visa, blue' });
  const card = { id: method.id };
  await tell('payment-methods.get', { params: card, by });
  await tell('payment-methods.update', { params: card, body: { alias: 'Visa, company' }, by });
  await tell('payment-methods.link-address', { params: card, body: { billing_address_id: address.id }, by });
  await tell('payment-methods.set-default', { params: card, body: {}, by });
  await tell('payment-methods.list', { query: { card_brand: 'visa', limit: '20' }, by });
  return { customerId: customer.id, methodId: method.id, addressId: address.id };
};

const saved = (tell: Tell, by: RequestOptions, more: object): Promise<ParsedJson> =>
  tell('payment-methods.create', {
    body: { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa', ...more },
    by,
  });

const payments = async (
  service: TestHost,
  tell: Tell,
  { people, payer }: { readonly people: People; readonly payer: Payer },
): Promise<void> => {
  const { ada: by } = people;
  const guest = { total_cents: 700, currency: 'EUR', guest_data: { email: GUS, name: 'Gus Guest' } };
  await tell('payments.create-intent', { body: guest });
  await tell('payments.list-guest', { params: { email: GUS }, query: { limit: '20' } });
  const canceled = await tell('payments.create', {
    body: { amount_cents: 1_200, currency: 'EUR', concept: 'Workshop', reference_code: 'INV-2026-0042' },
    by,
  });
  await tell('payments.cancel-intent', { params: { id: canceled.id }, body: {}, by });
  const intent = await tell('payments.create-intent', {
    body: {
      subtotal_cents: 2_500,
      tax_cents: 475,
      total_cents: 2_975,
      currency: 'EUR',
      description: 'Two notebooks',
      payment_method_id: payer.methodId,
      billing_address_id: payer.addressId,
      metadata: { basket: 'b-1842' },
    },
    by,
  });
  const params = { id: intent.id };
  await later(service);
  await tell('payments.update-intent', { params, body: { discount_cents: 300, total_cents: 2_675 }, by });
  await later(service);
  await tell('payments.confirm', { params, body: {}, by });
  await later(service);
  await tell('payments.sync', { params: { provider_payment_id: intent.provider_payment_id }, body: {}, by });
  await tell('payments.get', { params, query: { include: 'payment_method' }, by });
  await tell('payments.timeline', { params, by });
  await service.settle();
  await moneyBack(service, tell, { people, paymentId: intent.id });
  await tell('payments.summary', { query: SUMMARY, by });
  await tell('payments.list', { query: { status: 'succeeded', orderBy: 'created_at', limit: '20' }, by });
};

interface MoneyBack {
  readonly people: People;
  readonly paymentId: string;
}

/** Support gives a part back, then the payer's bank disputes the rest. */
const moneyBack = async (service: TestHost, tell: Tell, { people, paymentId }: MoneyBack): Promise<void> => {
  const params = { id: paymentId };
  await later(service);
  const refund = await tell('refunds.create', {
    params,
    body: { amount_cents: 475, reason: 'requested_by_customer', description: 'One notebook came damaged' },
    by: people.admin,
  });
  await tell('refunds.get', { params: { id: refund.id }, by: people.ada });
  await tell('refunds.list-of-payment', { params, by: people.ada });
  await tell('refunds.list', { query: { status: 'succeeded', limit: '20' }, by: people.admin });
  await later(service);
  await service.control('POST', `/simulator/payments/${paymentId}/disputes`, { reason: 'fraudulent' });
  await service.settle();
  await tell('disputes.list-of-payment', { params, by: people.ada });
  await tell('disputes.list', { query: { status: 'needs_response', limit: '20' }, by: people.admin });
};

const subscriptions = async (tell: Tell, { ada: by }: People, payer: Payer): Promise<void> => {
  await subscribeAsGuest(tell);
  const body = { customer_id: payer.customerId, payment_method_id: payer.methodId, product_id: 'gold-plan' };
  const { id } = await tell('subscriptions.create', { body, by });
  const params = { id };
  const change = (name: string, with_: unknown = {}) => tell(`subscriptions.${name}`, { params, body: with_, by });
  await change('update', { metadata: { seats: '3' } });
  await change('link-address', { billing_address_id: payer.addressId });
  await change('pause');
  await change('resume');
  await change('cancel', { cancel_at_period_end: true });
  await change('reactivate');
  await tell('subscriptions.get', { params, by });
  await tell('subscriptions.timeline', { params, by });
  await tell('subscriptions.list', { query: { status: 'active', include_pm: 'true', limit: '20' }, by });
  const { data } = await tell('memberships.list', { query: { entity_type: 'user', entity_id: 'user_ada' }, by });
  await tell('memberships.get', { params: { id: data[0].id }, by });
};

const subscribeAsGuest = async (tell: Tell): Promise<void> => {
  const guest_data = { email: GUS, name: 'Gus Guest' };
  const customer = await tell('customers.create', { body: { provider_id: 'provider_a', guest_data } });
  const by = { guestToken: customer.guest_token };
  const method = await saved(tell, by, {});
  const price = { total_cents: 500, currency: 'EUR', billing_interval: 'monthly' };
  await tell('subscriptions.create', {
    body: { customer_id: customer.id, payment_method_id: method.id, ...price },
    by,
  });
  await tell('subscriptions.list-guest', { params: { email: GUS }, query: { limit: '20' } });
};

/** Moves the clock, so that no two steps have the same time. */
const later = async (service: TestHost): Promise<void> => {
  await service.settle();
  await service.advance(20);
};

/** Events as providers send them, each for a payment of theirs. */
const events = async (service: TestHost, tell: Tell, { ada: by }: People): Promise<void> => {
  for (const [slot, method] of [
    ['a', 'pm_card_visa'],
    ['b', 'SIM-OK'],
    ['c', 'cnon:card-nonce-ok'],
  ] as const) {
    const provider = `provider_${slot}`;
    const price = { total_cents: 1_500, currency: 'USD' };
    const intent = await service.post('/payments', { ...price, provider_id: provider, payment_method_id: method }, by);
    await later(service);
    await service.post(`/payments/confirm/${intent.body.id}`, {}, by);
    await service.settle();
    const object = { id: intent.body.provider_payment_id, amount: 1_500, currency: 'usd', status: 'succeeded' };
    const created = Math.floor(service.now() / 1_000);
    const body = { id: `evt_example_${slot}`, type: 'payment_intent.succeeded', provider, data: { object }, created };
    const send: Told['send'] = () => service.sendEvent({ provider, type: body.type, object, id: body.id, created });
    await tell(`webhooks.provider-${slot}`, { body, send });
  }
  await service.settle();
};

const operations = async (service: TestHost, tell: Tell, { admin: by }: People): Promise<void> => {
  const query = { event_type: 'payment.succeeded', status: 'success', limit: '1' };
  const [entry] = await tell('webhooks.list-logs', { query, by });
  await tell('webhooks.get-log', { params: { id: entry.id }, by });
  await tell('webhooks.send-test', { body: { event: 'payment.succeeded', test_data: { amount: 100 } }, by });
  await tell('webhooks.replay-log', { params: { id: entry.id }, body: {}, by });
  await service.settle();
  await tell('admin.list-payments', { query: { status: 'succeeded', min_cents: '100', limit: '2' }, by });
  const erasure = await tell('admin.request-erasure', { body: { email: 'former.guest@example.com' }, by });
  await tell('admin.get-erasure', { params: { id: erasure.data.id }, by });
  await tell('admin.clear-cache', { body: { cache_type: 'organization_membership' }, by });
  await tell('admin.delete-record', { params: { kind: 'invites', id: 'invite-2f6b' }, by });
  await tell('admin.summary', { query: SUMMARY, by });
  await tell('api.config');
  await tell('api.health');
  await service.settle();
};

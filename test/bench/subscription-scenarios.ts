import { plainId } from '../../shared/core/ids.ts';
import { referenceKey } from '../../shared/platform/keys.ts';
import {
  type BenchUser,
  type Fields,
  get,
  type PreparedRequest,
  person,
  post,
  type Scenario,
  warmed,
} from './people.ts';
import type { Ask, Json, Service } from './service.ts';
import type { SubscriptionRow } from './subscription-budgets.ts';

/** A provider without its own billing, so the bench measures the service's billing. */
const PROVIDER = { provider_id: 'provider_c' };
const PLAN = {
  ...{ subtotal_cents: 2_900, total_cents: 2_900, currency: 'USD' },
  ...{ billing_interval: 'monthly', concept: 'Plan M, monthly' },
};

interface Payer extends BenchUser {
  readonly names: Fields;
}

const saveMethod = async (service: Service, who: BenchUser): Promise<string> => {
  const body = { ...PROVIDER, provider_payment_method_token: 'cnon:card-nonce-ok' };
  return (await service.must(post('/payment-methods', who, body))).id;
};

const payer = async (service: Service): Promise<Payer> => {
  const who = await person(service);
  const customer = await service.must(post('/customers', who, { ...PROVIDER, email: 'jane.doe@example.com' }));
  const names = { ...PROVIDER, customer_id: customer.id, payment_method_id: await saveMethod(service, who) };
  return { ...who, names };
};

const TIMES = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };

/** A product that includes a membership tier. */
const productOf = async (service: Service): Promise<string> => {
  const id = 'plan-gold';
  await service.store(referenceKey('products', id), {
    ...{ id, version: 1, name: 'Gold', is_active: true, interval_multiplier: 1, trial_days: 0, provider_refs: {} },
    ...{ subtotal_cents: 2_900, tax_cents: 0, discount_cents: 0, total_cents: 2_900 },
    ...{ currency: 'USD', billing_interval: 'monthly', metadata: { membership_type_id: 'gold' }, ...TIMES },
  });
  return id;
};

const subscribe = (service: Service, who: Payer, fields: Fields = PLAN): Promise<Json> =>
  service.must(post('/subscriptions', who, { ...who.names, ...fields }));

const create =
  (fields: (service: Service) => Promise<Fields>): Scenario =>
  async (service) => {
    const who = await payer(service);
    return warmed(who, post('/subscriptions', who, { ...who.names, ...(await fields(service)) }), 201);
  };

const patch = (path: string, who: BenchUser, body: Fields): Ask => ({
  method: 'PATCH',
  path,
  body,
  headers: who.headers,
});

/** @param ask creates the measured request about an active subscription */
const onSubscription =
  (
    ask: (id: string, who: Payer, service: Service) => Ask | Promise<Ask>,
    before: readonly (readonly [string, Fields])[] = [],
  ): Scenario =>
  async (service): Promise<PreparedRequest> => {
    const who = await payer(service);
    const { id } = await subscribe(service, who);
    for (const [command, body] of before) await service.must(post(`/subscriptions/${id}/${command}`, who, body));
    return warmed(who, await ask(id, who, service));
  };

const NOW = { cancel_at_period_end: false };
const command =
  (name: string, body: Fields = {}) =>
  (id: string, who: Payer): Ask =>
    post(`/subscriptions/${id}/${name}`, who, body);

/** A product with a higher price and without a membership. */
const dearPlan = async (service: Service): Promise<string> => {
  const id = 'plan-dear';
  await service.store(referenceKey('products', id), {
    ...{ id, version: 1, name: 'Dear', is_active: true, interval_multiplier: 1, trial_days: 0, provider_refs: {} },
    ...{ subtotal_cents: 9_900, tax_cents: 0, discount_cents: 0, total_cents: 9_900 },
    ...{ currency: 'USD', billing_interval: 'monthly', metadata: {}, ...TIMES },
  });
  return id;
};

/** @param route the path after the subscription's id */
const toPlan = (route: string, body: Fields): Scenario =>
  onSubscription(async (id, who, service) =>
    post(`/subscriptions/${id}/${route}`, who, { product_id: await dearPlan(service), ...body }),
  );

const onMember =
  (path: (id: string) => string): Scenario =>
  async (service) => {
    const who = await payer(service);
    const { id } = await subscribe(service, who, { product_id: await productOf(service) });
    return warmed(who, get(path(id), who));
  };

export const SUBSCRIPTION_SCENARIOS = {
  'create subscription': create(async () => PLAN),
  'create subscription with a membership': create(async (service) => ({ product_id: await productOf(service) })),
  'create subscription, on trial': create(async () => ({ ...PLAN, trial_days: 14 })),
  'get subscription': onSubscription((id, who) => get(`/subscriptions/${id}`, who)),
  'timeline of a subscription': onSubscription((id, who) => get(`/subscriptions/${id}/timeline`, who)),
  'list subscriptions': onSubscription((_, who) => get('/subscriptions?limit=10', who)),
  'list subscriptions of all owners': async (service) => {
    const [by, who] = [await person(service, { is_admin: true }), await payer(service)];
    for (let made = 0; made < 3; made += 1) await subscribe(service, who);
    await service.settle();
    return warmed(by, get('/admin/subscriptions?limit=2', by));
  },
  'list subscriptions by a guest e-mail': async () => ({
    ask: { method: 'GET', path: '/subscriptions/guest/unknown@example.com' },
    status: 200,
  }),
  'list subscriptions with methods': onSubscription((_, who) => get('/subscriptions?limit=10&include_pm=true', who)),
  'change subscription, metadata': onSubscription((id, who) =>
    patch(`/subscriptions/${id}`, who, { metadata: { seat: '12' } }),
  ),
  'change subscription, method': onSubscription(async (id, who, service) =>
    patch(`/subscriptions/${id}`, who, { payment_method_id: await saveMethod(service, who) }),
  ),
  'link address of subscription': onSubscription(async (id, who, service) => {
    const address = await service.must(post('/addresses', who, { country: 'US', is_partial: true, type: 'billing' }));
    return patch(`/subscriptions/${id}/billing-address`, who, { billing_address_id: address.id });
  }),
  'cancel subscription at its end': onSubscription(command('cancel')),
  'cancel subscription now': onSubscription(command('cancel', NOW)),
  'reactivate subscription': onSubscription(command('reactivate'), [['cancel', NOW]]),
  'pause subscription': onSubscription(command('pause')),
  'resume subscription': onSubscription(command('resume'), [['pause', {}]]),
  'preview a change of the plan': toPlan('change/preview', {}),
  'change the plan now': toPlan('change', {}),
  'change the plan at the end of the period': toPlan('change', { when: 'period_end' }),
  'withdraw a change of the plan': async (service) => {
    const who = await payer(service);
    const { id } = await subscribe(service, who);
    const body = { product_id: await dearPlan(service), when: 'period_end' };
    await service.must(post(`/subscriptions/${id}/change`, who, body));
    return warmed(who, { method: 'DELETE', path: `/subscriptions/${id}/change`, headers: who.headers });
  },
  'list memberships': onMember(() => '/memberships'),
  'get membership': onMember((id) => `/memberships/${plainId('membership', id, 'gold')}`),
} as const satisfies Readonly<Record<SubscriptionRow, Scenario>>;

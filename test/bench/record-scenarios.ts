/** @module Scenarios of customers, methods, addresses, organizations and reference records. */
import { fullAddress } from '../builders/address.ts';
import { intentBody, VISA } from '../builders/intent.ts';
import { customerBody } from '../builders/payer.ts';
import { inviteBody, productBody, tierBody } from '../builders/reference.ts';
import { targetOf } from '../builders/target-of.ts';
import { type BenchUser, type Fields, get, person, post, type Scenario, warmed, withKey } from './people.ts';
import type { RecordRow } from './record-budgets.ts';
import type { Ask, Json, Service } from './service.ts';

const write = (target: string, { headers }: BenchUser, body?: unknown): Ask => ({
  ...targetOf(target),
  headers,
  ...(body !== undefined && { body }),
});

/** A person's request about an existing record. */
const having =
  (
    make: (service: Service, who: BenchUser) => Promise<Json>,
    ask: (id: string, who: BenchUser) => Ask,
    status = 200,
  ): Scenario =>
  async (service) => {
    const who = await person(service);
    const { id } = await make(service, who);
    await service.settle();
    return warmed(who, ask(id, who), status);
  };

const making =
  (path: string, body: Fields, key?: string): Scenario =>
  async (service) => {
    const who = await person(service);
    const ask = post(path, who, body);
    return warmed(who, key === undefined ? ask : withKey(ask, key), 201);
  };

const METHOD = { provider_id: 'provider_a', provider_payment_method_token: VISA };
const customer = (service: Service, who: BenchUser) => service.must(post('/customers', who, customerBody()));
const method = (service: Service, who: BenchUser, fields: Fields = {}) =>
  service.must(post('/payment-methods', who, { ...METHOD, ...fields }));
const address = (service: Service, who: BenchUser, fields: Fields = {}) =>
  service.must(post('/addresses', who, fullAddress(fields)));
const organization = async (service: Service, who: BenchUser) =>
  (await service.must(post('/organizations', who, { name: 'Acme' }))).data;

interface Company {
  readonly id: string;
  readonly owner: BenchUser;
  readonly member: BenchUser;
  readonly memberId: string;
}

const company = async (service: Service): Promise<Company> => {
  const [owner, member] = [await person(service), await person(service)];
  const { id } = await organization(service, owner);
  const body = { email: member.email, role: 'member' };
  const added = await service.must(post(`/organizations/${id}/members`, owner, body));
  return { id, owner, member, memberId: added.data.id };
};

const inCompany =
  (ask: (company: Company) => { readonly who: BenchUser; readonly ask: Ask }, status = 200): Scenario =>
  async (service) => {
    const { who, ask: asked } = ask(await company(service));
    return warmed(who, asked, status);
  };

const admin = async (service: Service): Promise<BenchUser> => person(service, { is_admin: true });

/** A search for another user's payment. */
const searching =
  (textOf: (payment: Json, payer: BenchUser) => string): Scenario =>
  async (service) => {
    const [by, other] = [await admin(service), await person(service)];
    const payment = await service.must(post('/payments/intents', other, intentBody()));
    await service.settle();
    return warmed(by, get(`/admin/search?q=${encodeURIComponent(textOf(payment, other))}`, by));
  };

const withRecord =
  (
    [kind, body]: readonly [kind: 'products' | 'tiers' | 'invites', body: Fields],
    ask: (id: string, who: BenchUser) => Ask,
    status = 200,
  ): Scenario =>
  async (service) => {
    const who = await admin(service);
    const id = `bench_${who.userId.slice(-8)}`;
    await service.must(write('PUT /admin/projects/bench', who, { name: 'Bench', slug: 'bench' }));
    await service.must(write(`PUT /admin/${kind}/${id}`, who, body));
    return warmed(who, ask(id, who), status);
  };

export const RECORD_SCENARIOS: Readonly<Record<RecordRow, Scenario>> = {
  'create customer': making('/customers', customerBody()),
  'create customer with an Idempotency-Key': making('/customers', customerBody(), 'bench-c'),
  'get customer': having(customer, (id, who) => get(`/customers/${id}`, who)),
  'list customers': having(customer, (_, who) => get('/customers', who)),
  'update customer': having(customer, (id, who) => write(`PUT /customers/${id}`, who, { name: 'Grace Hopper' })),
  'delete customer, another is there': async (service) => {
    const who = await person(service);
    await customer(service, who);
    const { id } = await customer(service, who);
    return warmed(who, write(`DELETE /customers/${id}`, who), 204);
  },
  'delete customer, the only one': having(customer, (id, who) => write(`DELETE /customers/${id}`, who), 204),

  'create payment method': async (service) => {
    const who = await person(service);
    await customer(service, who);
    return warmed(who, post('/payment-methods', who, METHOD), 201);
  },
  'create payment method, the first': making('/payment-methods', METHOD),
  'get payment method': having(method, (id, who) => get(`/payment-methods/${id}`, who)),
  'list payment methods': having(method, (_, who) => get('/payment-methods', who)),
  'update payment method': having(method, (id, who) => write(`PUT /payment-methods/${id}`, who, { alias: 'Work' })),
  'link an address to a payment method': async (service) => {
    const who = await person(service);
    const [{ id }, { id: addressId }] = [await method(service, who), await address(service, who)];
    const body = { billing_address_id: addressId };
    return warmed(who, write(`PATCH /payment-methods/${id}/billing-address`, who, body));
  },
  'set default payment method': having(method, (id, who) => post(`/payment-methods/${id}/set-default`, who)),
  'delete payment method': having(method, (id, who) => write(`DELETE /payment-methods/${id}`, who), 204),
  'delete payment method, the default': having(
    (service, who) => method(service, who, { is_default: true }),
    (id, who) => write(`DELETE /payment-methods/${id}`, who),
    204,
  ),

  'create address': making('/addresses', fullAddress()),
  'create address as default': making('/addresses', fullAddress({ is_default: true })),
  'get address': having(address, (id, who) => get(`/addresses/${id}`, who)),
  'list addresses': having(address, (_, who) => get('/addresses', who)),
  'list addresses, the first page': having(
    async (service, who) => {
      await address(service, who);
      return address(service, who);
    },
    (_, who) => get('/addresses?limit=1', who),
  ),
  'list payments of all owners': async (service) => {
    const by = await admin(service);
    for (let made = 0; made < 3; made += 1) await service.must(post('/payments/intents', by, intentBody()));
    await service.settle();
    return warmed(by, get('/admin/payments?limit=2', by));
  },
  'find a payment of any owner by its id': async (service) => {
    const [by, other] = [await admin(service), await person(service)];
    const { id } = await service.must(post('/payments/intents', other, intentBody()));
    await service.settle();
    return warmed(by, get(`/admin/payments?search=${id}`, by));
  },
  'search by an id': searching(({ id }) => id),
  'search by an id of a provider': searching(({ provider_payment_id }) => provider_payment_id),
  'search by an e-mail address': searching((_, { email }) => email),
  'update address': having(address, (id, who) => write(`PUT /addresses/${id}`, who, { city: 'Springfield' })),
  'set default address': having(address, (id, who) => post(`/addresses/${id}/set-default`, who)),
  'delete address': having(address, (id, who) => write(`DELETE /addresses/${id}`, who), 204),

  'create organization': making('/organizations', { name: 'Acme' }),
  'list organizations': having(organization, (_, who) => get('/organizations', who)),
  'get organization': having(organization, (id, who) => get(`/organizations/${id}`, who)),
  'update organization': having(organization, (id, who) =>
    write(`PUT /organizations/${id}`, who, { name: 'Acme Ltd' }),
  ),
  'delete organization': having(organization, (id, who) => write(`DELETE /organizations/${id}`, who)),
  'list members': inCompany(({ id, owner }) => ({ who: owner, ask: get(`/organizations/${id}/members`, owner) })),
  'add member': async (service) => {
    const { id, owner } = await company(service);
    const { email } = await person(service);
    return warmed(owner, post(`/organizations/${id}/members`, owner, { email, role: 'billing' }), 201);
  },
  'change role': inCompany(({ id, owner, memberId }) => ({
    who: owner,
    ask: write(`PUT /organizations/${id}/members/${memberId}`, owner, { role: 'admin' }),
  })),
  'remove member': inCompany(({ id, owner, memberId }) => ({
    who: owner,
    ask: write(`DELETE /organizations/${id}/members/${memberId}`, owner),
  })),
  'leave organization': inCompany(({ id, member }) => ({
    who: member,
    ask: post(`/organizations/${id}/leave`, member),
  })),

  'list tiers': withRecord(['tiers', tierBody()], () => ({ method: 'GET', path: '/memberships/tiers' })),
  'preview invite': withRecord(['invites', inviteBody({ project_id: 'bench' })], (token) => ({
    method: 'GET',
    path: `/projects/invites/${token}`,
  })),
  'clear cache': async (service) => {
    const who = await admin(service);
    return warmed(who, post('/admin/cache/clear', who, { cache_type: 'organization_membership' }));
  },
  'request an erasure': async (service) => {
    const who = await admin(service);
    const warm = post('/admin/erasures', who, { user_id: 'bench_warm' });
    await service.must(warm);
    return warmed(who, post('/admin/erasures', who, { user_id: `bench_${who.userId}` }), 202);
  },
  'get an erasure': async (service) => {
    const who = await admin(service);
    const made = await service.must(post('/admin/erasures', who, { user_id: `read_${who.userId}` }));
    return warmed(who, get(`/admin/erasures/${made.data.id}`, who));
  },
  'put reference record': withRecord(['products', productBody()], (id, who) =>
    write(`PUT /admin/products/${id}`, who, productBody({ name: 'Renamed' })),
  ),
  'get reference record': withRecord(['products', productBody()], (id, who) => get(`/admin/products/${id}`, who)),
  'list reference records': withRecord(['products', productBody()], (_, who) => get('/admin/products', who)),
  'delete reference record': withRecord(
    ['products', productBody()],
    (id, who) => write(`DELETE /admin/products/${id}`, who),
    204,
  ),
};

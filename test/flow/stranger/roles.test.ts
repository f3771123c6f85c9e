import { describe, expect, test } from 'vitest';
import { expectError, recordOf, type SignedCaller, service as startService } from './http.ts';
import { CARD, HOME, MONTHLY, recordsIn } from './records.ts';

/** The table of roles and permissions: who may do what in an organization. */
const service = startService();
const make = recordsIn(service);

const MANAGERS = ['owner', 'admin', 'billing'] as const;
const ROLES = [...MANAGERS, 'member'] as const;
type Role = (typeof ROLES)[number];

/** One organization with a person of each role, and records of each kind that its owner has made. */
const office = async () => {
  const owner = await service.person();
  const { id: organization_id } = await make.organization(owner.caller);
  const callers: Record<Role, SignedCaller> = {
    owner: owner.caller,
    admin: (await make.member(organization_id, owner.caller, 'admin')).caller,
    billing: (await make.member(organization_id, owner.caller, 'billing')).caller,
    member: (await make.member(organization_id, owner.caller, 'member')).caller,
  };
  const { id: customer_id } = await make.customer(owner, { organization_id });
  const { id: payment_method_id } = await make.method(owner.caller, { organization_id });
  const { id: address } = await make.address(owner.caller, { organization_id });
  const { id: payment } = await make.payment(owner.caller, { organization_id });
  const body = { ...MONTHLY, organization_id, customer_id, payment_method_id };
  const { id: subscription } = recordOf(await service.post('/subscriptions', body, owner.caller));
  return { organization_id, callers, customer_id, payment_method_id, address, payment, subscription };
};
let shared: ReturnType<typeof office> | undefined;
const theOffice = () => {
  shared ??= office();
  return shared;
};

/** A create of each kind that a permission governs. */
const CREATES = {
  'canManagePayments, a payment': async () => ({
    path: '/payments/intents',
    body: { subtotal_cents: 900, total_cents: 900, currency: 'USD' },
  }),
  'canManagePayments, a customer': async () => ({
    path: '/customers',
    body: { provider_id: 'provider_a', email: service.email() },
  }),
  'canManageSubscriptions, a subscription': async () => {
    const { customer_id, payment_method_id } = await theOffice();
    return { path: '/subscriptions', body: { ...MONTHLY, customer_id, payment_method_id } };
  },
  'canManagePaymentMethods, a payment method': async () => ({
    path: '/payment-methods',
    body: { provider_id: 'provider_a', provider_payment_method_token: CARD },
  }),
  'canManageAddresses, an address': async () => ({ path: '/addresses', body: HOME }),
} as const;

describe.each(Object.entries(CREATES))('%s', (_, request) => {
  test.each(MANAGERS)('can be created for the organization by the role %s', async (role) => {
    const { organization_id, callers } = await theOffice();
    const { path, body } = await request();
    const answer = await service.post(path, { ...body, organization_id }, callers[role]);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(recordOf(answer)).toMatchObject({ organization_id });
  });

  test('cannot be created for the organization by the role member', async () => {
    const { organization_id, callers } = await theOffice();
    const { path, body } = await request();
    const answer = await service.post(path, { ...body, organization_id }, callers.member);
    expectError(answer, 403, 'INSUFFICIENT_PERMISSIONS');
  });

  test('cannot be created for the organization by another user', async () => {
    const { organization_id } = await theOffice();
    const { caller } = await service.person();
    const { path, body } = await request();
    expectError(await service.post(path, { ...body, organization_id }, caller), 403);
  });
});

/** What each role reads and only managers change. */
const RECORDS = async () => {
  const { customer_id, payment_method_id, address, payment, subscription } = await theOffice();
  return {
    payment: { path: `/payments/${payment}`, list: '/payments' },
    customer: { path: `/customers/${customer_id}`, list: '/customers' },
    subscription: { path: `/subscriptions/${subscription}`, list: '/subscriptions' },
    'payment method': { path: `/payment-methods/${payment_method_id}`, list: '/payment-methods' },
    address: { path: `/addresses/${address}`, list: '/addresses' },
  };
};
const KINDS = ['payment', 'customer', 'subscription', 'payment method', 'address'] as const;

describe.each(KINDS)('the %s of an organization', (kind) => {
  test.each(ROLES)('can be read and listed by the role %s', async (role) => {
    const { organization_id, callers } = await theOffice();
    const { path, list } = (await RECORDS())[kind];
    expect((await service.get(path, callers[role])).status).toBe(200);
    const listed = await service.get(`${list}?organization_id=${organization_id}`, callers[role]);
    expect(listed.status).toBe(200);
    expect(recordOf(listed).length).toBeGreaterThan(0);
  });

  test('is closed to others', async () => {
    const { organization_id } = await theOffice();
    const { path, list } = (await RECORDS())[kind];
    const { caller } = await service.person();
    expectError(await service.get(path, caller), 403);
    expectError(await service.get(`${list}?organization_id=${organization_id}`, caller), 403);
  });
});

describe('the role member', () => {
  test('cannot change any record of the organization', async () => {
    const { callers, customer_id, payment_method_id, address, payment, subscription } = await theOffice();
    const changes = [
      ['PUT', `/payments/intents/${payment}`, { description: 'x' }],
      ['POST', `/payments/confirm/${payment}`, { payment_method_id: CARD }],
      ['PUT', `/customers/${customer_id}`, { name: 'x' }],
      ['DELETE', `/customers/${customer_id}`, undefined],
      ['PUT', `/payment-methods/${payment_method_id}`, { alias: 'x' }],
      ['PATCH', `/payment-methods/${payment_method_id}/billing-address`, { billing_address_id: null }],
      ['POST', `/payment-methods/${payment_method_id}/set-default`, undefined],
      ['DELETE', `/payment-methods/${payment_method_id}`, undefined],
      ['PUT', `/addresses/${address}`, { alias: 'x' }],
      ['POST', `/addresses/${address}/set-default`, undefined],
      ['DELETE', `/addresses/${address}`, undefined],
      ['PATCH', `/subscriptions/${subscription}`, { metadata: { x: 1 } }],
      ['PATCH', `/subscriptions/${subscription}/billing-address`, { billing_address_id: null }],
      ['POST', `/subscriptions/${subscription}/cancel`, {}],
      ['POST', `/subscriptions/${subscription}/reactivate`, undefined],
    ] as const;
    for (const [method, path, body] of changes) {
      const answer = await service.send(method, path, { body, caller: callers.member });
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 403 });
      expectError(answer, 403, 'INSUFFICIENT_PERMISSIONS');
    }
  });
});

describe('an organization’s subscription', () => {
  test.each(MANAGERS)('allows changes of metadata and address by the role %s', async (role) => {
    const { callers, subscription, address } = await theOffice();
    const path = `/subscriptions/${subscription}`;
    expect((await service.patch(path, { metadata: { by: role } }, callers[role])).status).toBe(200);
    const linked = await service.patch(`${path}/billing-address`, { billing_address_id: address }, callers[role]);
    expect(recordOf(linked)).toMatchObject({ billing_address_id: address });
  });

  test('accepts a payment method of the session’s user', async () => {
    const { callers, subscription } = await theOffice();
    const { id: payment_method_id } = await make.method(callers.admin);
    const answer = await service.patch(`/subscriptions/${subscription}`, { payment_method_id }, callers.admin);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(recordOf(answer)).toMatchObject({ payment_method_id });
  });
});

describe('the routes of organizations', () => {
  test.each(['admin', 'billing', 'member'] as const)(
    'leave changes of members to the owner, and refuse the role %s',
    async (role) => {
      const { organization_id, callers } = await theOffice();
      const members = `/organizations/${organization_id}/members`;
      const [own] = recordOf(await service.get(`${members}?role=owner`, callers[role]));
      const other = await service.person();
      const code = 'INSUFFICIENT_PERMISSIONS';
      expectError(await service.post(members, { email: other.email, role: 'member' }, callers[role]), 403, code);
      expectError(await service.put(`${members}/${own.id}`, { role: 'admin' }, callers[role]), 403, code);
      expectError(await service.delete(`${members}/${own.id}`, callers[role]), 403, code);
    },
  );
});

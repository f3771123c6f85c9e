import { expect } from 'vitest';
import { payPageEntry } from '../../../functions/pay-page/bundle.ts';
import { plainId } from '../../../shared/core/ids.ts';
import { iso } from '../../../shared/core/time.ts';
import { deliveryItem } from '../../../shared/event-log/delivery.ts';
import { logItem } from '../../../shared/event-log/log-entry.ts';
import { present } from '../../builders/present.ts';
import { changeTable } from '../flow.ts';
import type { TestHost } from '../host.ts';
import { newAdmin } from '../keys.ts';
import { createStaffedOrganization, type MatrixFixtures, type RecordCreator } from './fixtures.ts';
import {
  ASK_AS_PAYER,
  type CallerName,
  type Column,
  CREATE,
  CREATE_ALONE,
  CREATE_FROM_OWN,
  LEAVE,
  LINK_TOKEN,
  LIST,
  LIST_BY_TOKEN,
  LIST_OF_ENTITY,
  LOG_READ,
  LOG_REPLAY,
  type MatrixTable,
  ORGANIZATION_READ,
  OWNER_ONLY,
  PLATFORM_ADMIN,
  PUBLIC,
  READ,
  READ_BY_TOKEN,
  REFUND,
  SIGNATURE,
  SIGNED_IN,
  WRITE,
  WRITE_BY_TOKEN,
  WRITE_OR_ADMIN,
} from './tables.ts';

export interface CellRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface MatrixRoute {
  readonly table: MatrixTable;
  /** The status of a successful request. */
  readonly success: number;
  readonly changes: boolean;
  /** @param fresh true if the request needs a record of its own, because it may succeed and change the record */
  readonly ask: (
    service: TestHost,
    fixtures: MatrixFixtures,
    cell: { caller: CallerName; column: Column; fresh: boolean },
  ) => Promise<CellRequest>;
}

type Grant = Pick<MatrixRoute, 'table' | 'success' | 'changes'>;
const reading = (table: MatrixTable): Grant => ({ table, success: 200, changes: false });
const writing = (table: MatrixTable, success = 200): Grant => ({ table, success, changes: true });

/** Records shared by several requests to one host. Several test files may run in one process. */
const perHost = <T>(): ((service: TestHost) => Map<string, Promise<T>>) => {
  const known = new WeakMap<TestHost, Map<string, Promise<T>>>();
  return (service) => {
    const records = known.get(service) ?? new Map<string, Promise<T>>();
    known.set(service, records);
    return records;
  };
};

type Kind = 'payment' | 'method' | 'customer' | 'address';

interface Made {
  readonly id: string;
  readonly provider_payment_id?: string;
}

/** Makes a record of a kind with the rights of `maker`. */
const make = async (service: TestHost, kind: Kind, { options, fields }: RecordCreator): Promise<Made> => {
  const bodies = {
    payment: ['/payments/intents', { total_cents: 500, currency: 'USD', payment_method_id: 'pm_card_visa' }],
    method: ['/payment-methods', { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa' }],
    customer: ['/customers', { provider_id: 'provider_a', email: 'payer@example.com' }],
    address: ['/addresses', { country: 'US', is_partial: true, type: 'billing' }],
  } as const;
  const [path, body] = bodies[kind];
  const made = await service.post(path, { ...body, ...fields }, options);
  expect(made, `${kind} ${JSON.stringify(made.body)}`).toMatchObject({ status: 201 });
  return made.body;
};

/** A paid payment of that maker. */
const makePaid = async (service: TestHost, maker: RecordCreator): Promise<Made> => {
  const payment = await make(service, 'payment', maker);
  const confirmed = await service.post(`/payments/confirm/${payment['id']}`, {}, maker.options);
  expect(confirmed, JSON.stringify(confirmed.body)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  return payment;
};

/** A refund of 1.00 by a platform admin. */
const makeRefund = async (service: TestHost, maker: RecordCreator): Promise<Made> => {
  const payment = await makePaid(service, maker);
  // An admin other than the possible owner of the payment.
  const { session_id: session } = await service.session({ is_admin: true });
  const made = await service.post(`/payments/${payment['id']}/refunds`, { amount_cents: 100 }, { session });
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 });
  return made.body;
};

const adminOf = (fixtures: MatrixFixtures) => ({
  session: fixtures.callers['platform admin'].carriers[0]?.headers['x-session-id'] ?? '',
});

const refunds = perHost<Made>();
const readingRefund: MatrixRoute = {
  table: READ_BY_TOKEN,
  success: 200,
  changes: false,
  ask: async (service, fixtures, { caller, column }) => {
    const key = `${column} ${column === 'own' ? fixtures.userIdOf(caller) : ''}`;
    const made = refunds(service).get(key) ?? makeRefund(service, fixtures.makerOf(caller, column));
    refunds(service).set(key, made);
    return { path: `/refunds/${(await made)['id']}` };
  },
};

/** A command on a paid payment of the column's owner. */
const onPaid = (success: number, pathOf: (id: string) => string, body: object): MatrixRoute => ({
  table: REFUND,
  success,
  changes: true,
  ask: async (service, fixtures, cell) => {
    const { caller, column, fresh } = cell;
    const payment = fresh
      ? await makePaid(service, fixtures.makerOf(caller, column))
      : await recordFor(service, fixtures, { ...cell, kind: 'payment' });
    return { path: pathOf(payment['id']), body };
  },
});

/** A payment whose amount is held. */
const makeHeld = async (service: TestHost, maker: RecordCreator): Promise<Made> => {
  const fields = { ...maker.fields, capture_method: 'manual' };
  const payment = await make(service, 'payment', { ...maker, fields });
  const confirmed = await service.post(`/payments/confirm/${payment['id']}`, {}, maker.options);
  expect(confirmed, JSON.stringify(confirmed.body)).toMatchObject({ body: { status: 'requires_capture' } });
  return payment;
};

const capturing: MatrixRoute = {
  table: REFUND,
  success: 200,
  changes: true,
  ask: async (service, fixtures, cell) => {
    const { caller, column, fresh } = cell;
    const payment = fresh
      ? await makeHeld(service, fixtures.makerOf(caller, column))
      : await recordFor(service, fixtures, { ...cell, kind: 'payment' });
    return { path: `/payments/${payment['id']}/capture`, body: {} };
  },
};

const shared = perHost<Made>();
const recordFor = (
  service: TestHost,
  fixtures: MatrixFixtures,
  wanted: { kind: Kind; caller: CallerName; column: Column; fresh: boolean },
): Promise<Made> => {
  const { kind, caller, column, fresh } = wanted;
  if (fresh) return make(service, kind, fixtures.makerOf(caller, column));
  const key = `${kind} ${column} ${column === 'own' ? fixtures.userIdOf(caller) : ''}`;
  const known = shared(service).get(key) ?? make(service, kind, fixtures.makerOf(caller, column));
  shared(service).set(key, known);
  return known;
};

const onRecord = (
  kind: Kind,
  grant: Grant,
  { path, body }: { readonly path: (record: Made) => string; readonly body?: unknown },
): MatrixRoute => ({
  ...grant,
  ask: async (service, fixtures, cell) => ({
    path: path(await recordFor(service, fixtures, { ...cell, kind })),
    ...(body !== undefined && { body }),
  }),
});

/** Customer and method of a maker, at a provider whose subscriptions the service bills. */
const payerOf = async (service: TestHost, { options, fields }: RecordCreator): Promise<Record<string, string>> => {
  const provider_id = 'provider_c';
  const token = { provider_payment_method_token: 'cnon:card-nonce-ok' };
  const customer = await service.post('/customers', { provider_id, email: 'payer@example.com', ...fields }, options);
  const method = await service.post('/payment-methods', { provider_id, ...token, ...fields }, options);
  expect([customer.status, method.status]).toEqual([201, 201]);
  return { provider_id, customer_id: customer.body.id, payment_method_id: method.body.id };
};

const payers = perHost<Record<string, string>>();
const payerFor = (service: TestHost, maker: RecordCreator): Promise<Record<string, string>> => {
  const key = JSON.stringify(maker);
  const known = payers(service).get(key) ?? payerOf(service, maker);
  payers(service).set(key, known);
  return known;
};

/** A free subscription is active immediately. */
const FREE = { subtotal_cents: 0, total_cents: 0, currency: 'USD', billing_interval: 'monthly' };

const subscribe = async (service: TestHost, maker: RecordCreator, body: Record<string, unknown>) => {
  const names = await payerFor(service, maker);
  const made = await service.post('/subscriptions', { ...body, ...names, ...maker.fields }, maker.options);
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201, body: { status: 'active' } });
  return made.body;
};

const sharedSubscriptions = perHost<Made>();

interface OnSubscription {
  readonly path: (id: string) => string;
  /** The body of a request that changes the record. */
  readonly body?: unknown;
  /** The body if the caller is the merchant. A merchant may change other fields of a payer's record than the payer. */
  readonly merchantsBody?: unknown;
  readonly product?: string;
  /** Commands that bring a separate subscription to the state that the request needs. */
  readonly before?: readonly string[];
  /** True if the platform admin schedules a change first. */
  readonly isScheduled?: true;
}

/** The callers that may be the merchant: an admin, a key, and a user with a staff role. */
const MERCHANTS: readonly CallerName[] = ['platform admin', 'anonymous', 'user without organization'];

/** A payer picks another product; a merchant may set any price or interval. */
const OTHER_PLAN = {
  body: { product_id: 'gold-plan', when: 'period_end' },
  merchantsBody: { interval_multiplier: 2, when: 'period_end' },
} as const;

/** All reads share one subscription; a request that may change the subscription gets a new one. */
const onSubscription = (
  table: MatrixTable,
  { path, body, merchantsBody = body, product, before = [], isScheduled }: OnSubscription,
): MatrixRoute => ({
  ...(body === undefined ? reading(table) : writing(table)),
  ask: async (service, fixtures, { caller, column, fresh }) => {
    const maker = fixtures.makerOf(caller, column);
    const make = async () => {
      const made = await subscribe(service, maker, product === undefined ? FREE : { product_id: product });
      for (const step of fresh ? before : []) {
        expect((await service.post(`/subscriptions/${made.id}/${step}`, {}, maker.options)).status).toBe(200);
      }
      if (fresh && isScheduled) {
        const { options } = await newAdmin(service);
        const to = `/subscriptions/${made.id}/change`;
        expect((await service.post(to, OTHER_PLAN.merchantsBody, options)).status).toBe(200);
      }
      return made;
    };
    const key = `${product} ${column} ${column === 'own' ? fixtures.userIdOf(caller) : ''}`;
    const made = fresh ? make() : (sharedSubscriptions(service).get(key) ?? make());
    if (!fresh) sharedSubscriptions(service).set(key, made);
    const isPayers = column === 'own' || (column === 'organization' && caller !== 'platform admin');
    const sent = !isPayers && MERCHANTS.includes(caller) ? merchantsBody : body;
    return { path: path((await made).id), ...(sent !== undefined && { body: sent }) };
  },
});

/** The creator of the caller's own customer and method. A caller that can own nothing uses a stranger's. */
const ownMaker = (fixtures: MatrixFixtures, caller: CallerName, column: Column): RecordCreator => {
  if (column === 'organization' || column === 'another organization') return fixtures.makerOf(caller, column);
  const { headers = {} } = fixtures.callers[caller].carriers[0] ?? {};
  const canOwn = headers['x-guest-token'] !== undefined || fixtures.userIdOf(caller) !== fixtures.userIdOf('anonymous');
  return canOwn ? { options: { headers }, fields: {} } : fixtures.makerOf(caller, 'own');
};

const subscribing: MatrixRoute = {
  table: CREATE_FROM_OWN,
  success: 201,
  changes: true,
  ask: async (service, fixtures, cell) => {
    const { body } = await creating('', CREATE, FREE).ask(service, fixtures, cell);
    const names = await payerFor(service, ownMaker(fixtures, cell.caller, cell.column));
    return { path: '/subscriptions', body: Object.assign({}, body, names) };
  },
};

const GOLD_PLAN = 'gold-plan';

const entityIn = (fixtures: MatrixFixtures, column: Column): Record<string, string> => {
  if (column === "another's") return { entity_type: 'user', entity_id: fixtures.userIdOf('anonymous') };
  const { organization_id: id } = organizationIn(fixtures, column);
  return id === undefined ? {} : { entity_type: 'organization', entity_id: id };
};

const organizationIn = (fixtures: MatrixFixtures, column: Column): Record<string, string> => {
  if (column === 'organization') return { organization_id: fixtures.organizationId };
  return column === 'another organization' ? { organization_id: fixtures.anotherOrganizationId } : {};
};

/** A create. In the columns of another user and of the guest, the request names an address of that owner. */
const creating = (path: string, table: MatrixTable, body: Record<string, unknown>): MatrixRoute => ({
  table,
  success: 201,
  changes: true,
  ask: async (service, fixtures, { caller, column }) => {
    const names = column === "another's" || column === 'guest';
    const address = names
      ? await recordFor(service, fixtures, { kind: 'address', caller, column, fresh: false })
      : undefined;
    return {
      path,
      body: {
        ...body,
        ...organizationIn(fixtures, column),
        ...(address && { billing_address_id: address['id'] }),
        ...(fixtures.callers[caller].guestData && { guest_data: fixtures.callers[caller].guestData }),
      },
    };
  },
});

const listing = (path: string, table: MatrixTable): MatrixRoute => ({
  table,
  success: 200,
  changes: false,
  ask: async (_, fixtures, { column }) => ({ path, query: organizationIn(fixtures, column) }),
});

const always = (grant: Grant, asked: CellRequest): MatrixRoute => ({ ...grant, ask: async () => asked });

const check = { code: 'SPRING', subtotal_cents: 500, currency: 'USD' };
const tier = { name: 'Gold', slug: 'gold', entity_type: 'user' };
let tiers = 0;

/** Every request that may delete a tier gets a separate tier. */
const deletingTier: MatrixRoute = {
  table: PLATFORM_ADMIN,
  success: 204,
  changes: true,
  ask: async (service, fixtures, { fresh }) => {
    if (!fresh) return { path: '/admin/tiers/gold' };
    tiers += 1;
    const path = `/admin/tiers/gone-${tiers}`;
    expect((await service.put(path, tier, adminOf(fixtures))).status).toBe(200);
    return { path };
  },
};

/** An erasure of an unknown user, requested by a platform admin. */
const readingErasure: MatrixRoute = {
  table: PLATFORM_ADMIN,
  success: 200,
  changes: false,
  ask: async (service, fixtures) => {
    const made = await service.post('/admin/erasures', { user_id: 'user_unknown' }, adminOf(fixtures));
    expect(made.status).toBe(202);
    return { path: `/admin/erasures/${made.body.data.id}` };
  },
};

const NEW_KEY = { name: 'Shop backend', scopes: ['payments:read'] };

const newKey = async (service: TestHost, fixtures: MatrixFixtures): Promise<string> => {
  const made = await service.post('/admin/keys', NEW_KEY, adminOf(fixtures));
  expect(made.status).toBe(201);
  return made.body.data.id;
};

const keys = perHost<string>();
/** A service key. Every request that may change it gets a separate key. */
const onKey = (grant: Grant, pathOf: (id: string) => string, body?: unknown): MatrixRoute => ({
  ...grant,
  ask: async (service, fixtures, { fresh }) => {
    const made = (fresh ? undefined : keys(service).get('')) ?? newKey(service, fixtures);
    if (!fresh) keys(service).set('', made);
    return { path: pathOf(await made), ...(body !== undefined && { body }) };
  },
});

const newLink = async (service: TestHost, fixtures: MatrixFixtures): Promise<string> => {
  const made = await service.post('/payment-links', intent, adminOf(fixtures));
  expect(made.status).toBe(201);
  return made.body.data.id;
};

const links = perHost<string>();
/** A payment link. Every request that may change it gets a separate link. */
const onLink = (grant: Grant, body?: unknown): MatrixRoute => ({
  ...grant,
  ask: async (service, fixtures, { fresh }) => {
    const made = (fresh ? undefined : links(service).get('')) ?? newLink(service, fixtures);
    if (!fresh) links(service).set('', made);
    return { path: `/payment-links/${await made}`, ...(body !== undefined && { body }) };
  },
});

interface Staff {
  readonly organizationId: string;
  readonly memberId: string;
}

const UNKNOWN_MEMBER = 'mem_000000000000000000000000';

/**
 * An organization that the request may change, with the owner of the column's organization and members of every role.
 */
const staffFor = async (
  service: TestHost,
  fixtures: MatrixFixtures,
  { column, fresh }: { readonly column: Column; readonly fresh: boolean },
): Promise<Staff> => {
  const owner = column === 'organization' ? 'owner' : 'owner of another organization';
  const session = fixtures.callers[owner].carriers[0]?.headers['x-session-id'] ?? '';
  const emails = {
    member: { email: 'member@example.com' },
    billing: { email: 'billing@example.com' },
    admin: { email: 'admin@example.com' },
  };
  const existing = column === 'organization' ? fixtures.organizationId : fixtures.anotherOrganizationId;
  const organizationId = fresh ? await createStaffedOrganization(service, { session }, emails) : existing;
  if (!fresh) return { organizationId, memberId: UNKNOWN_MEMBER };
  const members = await service.get(`/organizations/${organizationId}/members?role=member`, { session });
  return { organizationId, memberId: present(members.body.data[0]).id };
};

const inOrganization = (
  grant: Grant,
  pathOf: (staff: Staff) => string,
  bodyOf?: (service: TestHost, fresh: boolean) => Promise<unknown>,
): MatrixRoute => ({
  ...grant,
  ask: async (service, fixtures, { column, fresh }) => ({
    path: pathOf(await staffFor(service, fixtures, { column, fresh })),
    ...(bodyOf && { body: await bodyOf(service, fresh) }),
  }),
});

let joiners = 0;
/** A user who is not a member yet. */
const joiner = async (service: TestHost, fresh: boolean): Promise<unknown> => {
  if (!fresh) return { email: 'joiner@example.com', role: 'member' };
  joiners += 1;
  const email = `joiner.${joiners}@example.com`;
  await service.session({ email });
  return { email, role: 'member' };
};

/** One log entry of a sent event per column, but one per caller for the caller's own. Each can be resent. */
const logEntries = perHost<string>();
const ofLogEntry = (table: MatrixTable, changes: boolean, asked: (id: string) => CellRequest): MatrixRoute => ({
  table,
  success: 200,
  changes,
  ask: async (service, fixtures, { caller, column }) => {
    const key = column === 'own' ? `own ${fixtures.userIdOf(caller)}` : column;
    const known = logEntries(service).get(key) ?? storeLogEntry(service, fixtures, { caller, column });
    logEntries(service).set(key, known);
    return asked(await known);
  },
});

const storeLogEntry = async (
  service: TestHost,
  fixtures: MatrixFixtures,
  { caller, column }: { readonly caller: CallerName; readonly column: Column },
): Promise<string> => {
  const owner = {
    own: { userId: fixtures.userIdOf(caller) },
    "another's": { userId: fixtures.userIdOf('anonymous') },
    organization: { organizationId: fixtures.organizationId },
    'another organization': { organizationId: fixtures.anotherOrganizationId },
    guest: {},
  }[column];
  const id = `msg_${column} ${caller}`;
  const event = { provider: 'provider_a', target: 'WEBHOOK_1', ...owner };
  const entry = logItem({
    ...event,
    eventType: 'payment.created',
    eventId: id,
    status: 'success',
    direction: 'outbound',
    attempt: 1,
    payload: {},
    response: {},
    createdAt: iso(service.now()),
  });
  const delivery = { ...event, id, event: 'payment.created', content: { body: '{}' } };
  await changeTable(service, { put: entry });
  await changeTable(service, { put: deliveryItem(delivery, service.now()) });
  return String(entry['id']);
};

const intent = { total_cents: 500, currency: 'USD' };
const method = { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa' };
const address = { country: 'US', is_partial: true, type: 'billing' };

/** Every route of the catalogue by its id. */
export const ROUTES: Readonly<Record<string, MatrixRoute>> = {
  'payments.create-intent': creating('/payments/intents', CREATE, intent),
  'payments.create': creating('/payments', CREATE, intent),
  'payments.update-intent': onRecord('payment', writing(WRITE), {
    path: ({ id }) => `/payments/intents/${id}`,
    body: { concept: 'x' },
  }),
  'payments.cancel-intent': onRecord('payment', writing(WRITE_OR_ADMIN), {
    path: ({ id }) => `/payments/intents/${id}/cancel`,
    body: {},
  }),
  'payments.confirm': onRecord('payment', writing(WRITE_BY_TOKEN), {
    path: ({ id }) => `/payments/confirm/${id}`,
    body: {},
  }),
  'payments.sync': onRecord('payment', writing(WRITE_OR_ADMIN), {
    path: (record) => `/payments/sync/${record.provider_payment_id}`,
    body: {},
  }),
  'payments.get': onRecord('payment', reading(READ_BY_TOKEN), { path: ({ id }) => `/payments/${id}` }),
  'payments.timeline': onRecord('payment', reading(READ_BY_TOKEN), { path: ({ id }) => `/payments/${id}/timeline` }),
  'payments.capture': capturing,
  'payments.change-metadata': onPaid(200, (id) => `/payments/${id}`, { metadata: { a: '1' } }),
  'payments.link': onRecord('payment', writing(PLATFORM_ADMIN, 201), {
    path: ({ id }) => `/payments/${id}/link`,
    body: {},
  }),
  'discounts.check': { ...creating('/discounts/check', ASK_AS_PAYER, check), success: 200, changes: false },
  'refunds.create': onPaid(201, (id) => `/payments/${id}/refunds`, {}),
  'refunds.list-of-payment': onRecord('payment', reading(READ_BY_TOKEN), {
    path: ({ id }) => `/payments/${id}/refunds`,
  }),
  'refunds.get': readingRefund,
  'refunds.list': always(reading(PLATFORM_ADMIN), { path: '/refunds' }),
  'disputes.list-of-payment': onRecord('payment', reading(READ_BY_TOKEN), {
    path: ({ id }) => `/payments/${id}/disputes`,
  }),
  'disputes.list': always(reading(PLATFORM_ADMIN), { path: '/disputes' }),
  'payments.list': listing('/payments', LIST_BY_TOKEN),
  'payments.summary': listing('/payments/summary', LIST),
  'payments.list-guest': always(reading(PUBLIC), { path: '/payments/guest/gina@example.com' }),
  'payment-methods.create': creating('/payment-methods', CREATE, method),
  'payment-methods.get': onRecord('method', reading(READ_BY_TOKEN), { path: ({ id }) => `/payment-methods/${id}` }),
  'payment-methods.list': listing('/payment-methods', LIST_BY_TOKEN),
  'payment-methods.update': onRecord('method', writing(WRITE), {
    path: ({ id }) => `/payment-methods/${id}`,
    body: { alias: 'x' },
  }),
  'payment-methods.link-address': onRecord('method', writing(WRITE), {
    path: ({ id }) => `/payment-methods/${id}/billing-address`,
    body: {
      billing_address_id: null,
    },
  }),
  'payment-methods.set-default': onRecord('method', writing(WRITE), {
    path: ({ id }) => `/payment-methods/${id}/set-default`,
    body: {},
  }),
  'payment-methods.remove': onRecord('method', writing(WRITE, 204), { path: ({ id }) => `/payment-methods/${id}` }),
  'customers.create': creating('/customers', CREATE_ALONE, { provider_id: 'provider_a', email: 'payer@example.com' }),
  'customers.get': onRecord('customer', reading(READ), { path: ({ id }) => `/customers/${id}` }),
  'customers.list': listing('/customers', LIST),
  'customers.update': onRecord('customer', writing(WRITE), {
    path: ({ id }) => `/customers/${id}`,
    body: { phone: '1' },
  }),
  'customers.remove': onRecord('customer', writing(WRITE, 204), { path: ({ id }) => `/customers/${id}` }),
  'addresses.create': creating('/addresses', CREATE_ALONE, address),
  'addresses.get': onRecord('address', reading(READ), { path: ({ id }) => `/addresses/${id}` }),
  'addresses.list': listing('/addresses', LIST),
  'addresses.update': onRecord('address', writing(WRITE), {
    path: ({ id }) => `/addresses/${id}`,
    body: { alias: 'x' },
  }),
  'addresses.remove': onRecord('address', writing(WRITE, 204), { path: ({ id }) => `/addresses/${id}` }),
  'addresses.set-default': onRecord('address', writing(WRITE), {
    path: ({ id }) => `/addresses/${id}/set-default`,
    body: {},
  }),
  'subscriptions.create': subscribing,
  'subscriptions.get': onSubscription(READ, { path: (id) => `/subscriptions/${id}` }),
  'subscriptions.timeline': onSubscription(READ, { path: (id) => `/subscriptions/${id}/timeline` }),
  'subscriptions.list': listing('/subscriptions', LIST),
  'subscriptions.list-guest': always(reading(PUBLIC), { path: '/subscriptions/guest/gina@example.com' }),
  'subscriptions.update': onSubscription(WRITE, {
    path: (id) => `/subscriptions/${id}`,
    body: { metadata: { a: 'b' } },
  }),
  'subscriptions.link-address': onSubscription(WRITE, {
    path: (id) => `/subscriptions/${id}/billing-address`,
    body: { billing_address_id: null },
  }),
  'subscriptions.cancel': onSubscription(WRITE_OR_ADMIN, { path: (id) => `/subscriptions/${id}/cancel`, body: {} }),
  'subscriptions.reactivate': onSubscription(WRITE, {
    path: (id) => `/subscriptions/${id}/reactivate`,
    body: {},
    before: ['cancel'],
  }),
  'subscriptions.pause': onSubscription(WRITE, { path: (id) => `/subscriptions/${id}/pause`, body: {} }),
  'subscriptions.resume': onSubscription(WRITE, {
    path: (id) => `/subscriptions/${id}/resume`,
    body: {},
    before: ['pause'],
  }),
  'subscriptions.change': onSubscription(WRITE_OR_ADMIN, {
    path: (id) => `/subscriptions/${id}/change`,
    ...OTHER_PLAN,
  }),
  'subscriptions.preview-change': onSubscription(WRITE_OR_ADMIN, {
    path: (id) => `/subscriptions/${id}/change/preview`,
    ...OTHER_PLAN,
  }),
  'subscriptions.withdraw-change': {
    ...onSubscription(WRITE_OR_ADMIN, { path: (id) => `/subscriptions/${id}/change`, isScheduled: true }),
    ...writing(WRITE_OR_ADMIN),
  },
  'subscriptions.link': {
    ...onSubscription(PLATFORM_ADMIN, { path: (id) => `/subscriptions/${id}/link`, body: {} }),
    success: 201,
  },
  'pay.start': always(writing(LINK_TOKEN, 201), { path: '/pay/start', body: { email: 'g@example.com', name: 'G' } }),
  'pay.state': always(reading(LINK_TOKEN), { path: '/pay/state' }),
  'pay.confirm': always(writing(LINK_TOKEN), { path: '/pay/confirm', body: {} }),
  'pay.method': always(writing(LINK_TOKEN), {
    path: '/pay/method',
    body: { provider_payment_method_token: 'pm_card_visa' },
  }),
  'pay.cancel': always(writing(LINK_TOKEN), { path: '/pay/cancel', body: {} }),
  'pay.keep': always(writing(LINK_TOKEN), { path: '/pay/keep', body: {} }),
  'payment-links.create': always(writing(PLATFORM_ADMIN, 201), { path: '/payment-links', body: intent }),
  'payment-links.list': always(reading(PLATFORM_ADMIN), { path: '/payment-links' }),
  'payment-links.get': onLink(reading(PLATFORM_ADMIN)),
  'payment-links.update': onLink(writing(PLATFORM_ADMIN), { description: 'x' }),
  'payment-links.archive': onLink(writing(PLATFORM_ADMIN, 204)),
  'organizations.create': always(writing(SIGNED_IN, 201), { path: '/organizations', body: { name: 'New' } }),
  'organizations.list': always(reading(SIGNED_IN), { path: '/organizations' }),
  'organizations.get': inOrganization(reading(ORGANIZATION_READ), (staff) => `/organizations/${staff.organizationId}`),
  'organizations.update': inOrganization(
    writing(OWNER_ONLY),
    (staff) => `/organizations/${staff.organizationId}`,
    async () => ({
      name: 'Renamed',
    }),
  ),
  'organizations.remove': inOrganization(writing(OWNER_ONLY), (staff) => `/organizations/${staff.organizationId}`),
  'organizations.list-members': inOrganization(
    reading(ORGANIZATION_READ),
    (staff) => `/organizations/${staff.organizationId}/members`,
  ),
  'organizations.add-member': inOrganization(
    writing(OWNER_ONLY, 201),
    (staff) => `/organizations/${staff.organizationId}/members`,
    joiner,
  ),
  'organizations.change-role': inOrganization(
    writing(OWNER_ONLY),
    (staff) => `/organizations/${staff.organizationId}/members/${staff.memberId}`,
    async () => ({ role: 'billing' }),
  ),
  'organizations.remove-member': inOrganization(
    writing(OWNER_ONLY),
    (staff) => `/organizations/${staff.organizationId}/members/${staff.memberId}`,
  ),
  'organizations.leave': inOrganization(
    writing(LEAVE),
    (staff) => `/organizations/${staff.organizationId}/leave`,
    async () => ({}),
  ),
  'admin.request-erasure': always(writing(PLATFORM_ADMIN, 202), {
    path: '/admin/erasures',
    body: { user_id: 'user_unknown' },
  }),
  'admin.get-erasure': readingErasure,
  'admin.import': always(writing(PLATFORM_ADMIN), {
    path: '/admin/imports',
    body: {
      ...{ provider_id: 'provider_a', dry_run: true },
      rows: [{ provider_customer_id: 'cus_unknown', owner: 'guest:gus@example.com' }],
    },
  }),
  'admin.create-key': always(writing(PLATFORM_ADMIN, 201), { path: '/admin/keys', body: NEW_KEY }),
  'admin.list-keys': always(reading(PLATFORM_ADMIN), { path: '/admin/keys' }),
  'admin.get-key': onKey(reading(PLATFORM_ADMIN), (id) => `/admin/keys/${id}`),
  'admin.update-key': onKey(writing(PLATFORM_ADMIN), (id) => `/admin/keys/${id}`, { name: 'Renamed' }),
  'admin.rotate-key': onKey(writing(PLATFORM_ADMIN), (id) => `/admin/keys/${id}/rotate`, {}),
  'admin.revoke-key': onKey(writing(PLATFORM_ADMIN, 204), (id) => `/admin/keys/${id}`),
  'admin.clear-cache': always(writing(PLATFORM_ADMIN), { path: '/admin/cache/clear', body: { cache_type: 'all' } }),
  'admin.list-payments': always(reading(PLATFORM_ADMIN), { path: '/admin/payments' }),
  'admin.list-subscriptions': always(reading(PLATFORM_ADMIN), { path: '/admin/subscriptions' }),
  'admin.list-customers': always(reading(PLATFORM_ADMIN), { path: '/admin/customers' }),
  'admin.export-payments': always(reading(PLATFORM_ADMIN), { path: '/admin/export/payments' }),
  'admin.export-refunds': always(reading(PLATFORM_ADMIN), { path: '/admin/export/refunds' }),
  'admin.export-person': always(reading(PLATFORM_ADMIN), { path: '/admin/persons/user:user_unknown/export' }),
  'admin.search': always(reading(PLATFORM_ADMIN), { path: '/admin/search', query: { q: 'ada@example.com' } }),
  'admin.summary': always(reading(PLATFORM_ADMIN), { path: '/admin/summary' }),
  'admin.put-record': always(writing(PLATFORM_ADMIN), { path: '/admin/tiers/gold', body: tier }),
  'admin.get-record': always(reading(PLATFORM_ADMIN), { path: '/admin/tiers/gold' }),
  'admin.list-records': always(reading(PLATFORM_ADMIN), { path: '/admin/tiers' }),
  'admin.delete-record': deletingTier,
  'memberships.get': onSubscription(READ, {
    path: (id) => `/memberships/${plainId('membership', id, 'gold')}`,
    product: GOLD_PLAN,
  }),
  'memberships.list': {
    table: LIST_OF_ENTITY,
    success: 200,
    changes: false,
    ask: async (_, fixtures, { column }) => ({ path: '/memberships', query: entityIn(fixtures, column) }),
  },
  'products.list': always(reading(SIGNED_IN), { path: '/products' }),
  'memberships.list-tiers': always(reading(PUBLIC), { path: '/memberships/tiers' }),
  'api.health': always(reading(PUBLIC), { path: '/health' }),
  'api.config': always(reading(PUBLIC), { path: '/config' }),
  'api.me': always(reading(SIGNED_IN), { path: '/me' }),
  'api.openapi': always(reading(PUBLIC), { path: '/openapi.json' }),
  'console.page': always(reading(PUBLIC), { path: '/console' }),
  'console.file': always(reading(PUBLIC), { path: '/console/payments' }),
  'pay-page.page': always(reading(PUBLIC), { path: '/pay' }),
  'pay-page.file': always(reading(PUBLIC), { path: `/pay/assets/${payPageEntry.script}` }),
  'projects.preview-invite': always(reading(PUBLIC), { path: '/projects/invites/invite-1' }),
  'webhooks.list-logs': always(reading(SIGNED_IN), { path: '/webhooks/logs' }),
  'webhooks.get-log': ofLogEntry(LOG_READ, false, (entry) => ({ path: `/webhooks/logs/${entry}` })),
  'webhooks.replay-log': ofLogEntry(LOG_REPLAY, true, (entry) => ({
    path: `/webhooks/logs/${entry}/replay`,
    body: {},
  })),
  'webhooks.send-test': always(writing(PLATFORM_ADMIN), {
    path: '/webhooks/test',
    body: { event: 'payment.succeeded' },
  }),
  'webhooks.provider-a': always(writing(SIGNATURE), { path: '/webhooks/provider_a', body: {} }),
  'webhooks.provider-b': always(writing(SIGNATURE), { path: '/webhooks/provider_b', body: {} }),
  'webhooks.provider-c': always(writing(SIGNATURE), { path: '/webhooks/provider_c', body: {} }),
};

import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { confirm, createPaidIntent, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { type Company, company } from './payers.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';
import { nodesAt, SECRET } from './targets.ts';

/**
 * Which fields of shared records each audience sees on each route. Each payment is paid, refunded by an admin with
 * notes, and disputed. The test fails if a payer sees a field that is not listed here.
 */
const port = await freePort();
const service = withHost({
  frozen: true,
  port,
  env: nodesAt(port, { all: { EVENTS: 'all', EVENT_MODE: 'both', SECRET } }),
});

const REFUND = {
  ...{ amount_cents: 500, reason: 'requested_by_customer', description: 'NOTE-OF-STAFF' },
  metadata: { ticket: 'TICKET-OF-STAFF' },
};

const NOTES = ['NOTE-OF-STAFF', 'TICKET-OF-STAFF'];
/** Texts from a target's response and from a provider's raw objects. */
const RAW = ['"received":true', 'livemode', 'risk_score', 'amount_captured', '"evidence_details', 'receipt_url'];

const CHANGE = [
  ...['kind', 'at', 'version', 'actor.type', 'actor.id', 'request_id', 'status', 'cause', 'attempt'],
  ...['refund.id', 'refund.amount_cents', 'refund.status', 'refund.reason'],
  ...['dispute.id', 'dispute.amount_cents', 'dispute.status', 'dispute.reason', 'dispute.evidence_due_by'],
];
const LOGGED = [
  ...['kind', 'at', 'actor.type', 'actor.id', 'request_id', 'event_type', 'event_id', 'log_id', 'reason'],
  ...['outcome', 'target', 'status', 'attempt', 'http_status', 'next_attempt_at'],
];
const LOG = [
  ...['id', 'provider', 'event_type', 'status', 'direction', 'attempt', 'target', 'event_id', 'created_at'],
  ...['response.outcome', 'response.reason', 'response.payment_id', 'response.status', 'response.http_status'],
  ...['response.duration_ms', 'response.error', 'next_attempt_at'],
];
const EVENT = [
  ...['payload.id', 'payload.type', 'payload.provider', 'payload.created', 'payload.data.object.id'],
  ...['payload.data.object.amount', 'payload.data.object.currency', 'payload.data.object.status'],
];
const CANONICAL = [
  ...['payload.event', 'payload.provider', 'payload.timestamp'],
  ...['payment_id', 'amount', 'currency', 'status', 'project', 'provider_payment_id', 'organization_id'].map(
    (name) => `payload.data.${name}`,
  ),
  ...['reference_code', 'metadata', 'product_id', 'quantity', 'subtotal', 'tax', 'discount', 'discount_code'].map(
    (name) => `payload.data.${name}`,
  ),
  ...[
    'billing_address',
    'customer_id',
    'subscription_id',
    'failure_code',
    'user.id',
    'user.type',
    'user.email',
    'refunded_cents',
  ].map((name) => `payload.data.${name}`),
  ...['refund.id', 'refund.amount', 'refund.reason', 'refund.status'].map((name) => `payload.data.${name}`),
  ...['id', 'amount', 'reason', 'status', 'evidence_due_by'].map((name) => `payload.data.dispute.${name}`),
  'payload.data.payment_method_details',
  ...['type', 'wallet_type', 'card_brand', 'last_four', 'funding', 'country', 'bank_name', 'fingerprint'].map(
    (name) => `payload.data.payment_method_details.${name}`,
  ),
  ...['', '.result', '.version', '.liability_shifted'].map(
    (name) => `payload.data.payment_method_details.three_d_secure${name}`,
  ),
];
const REFUNDS = [
  ...['id', 'payment_id', 'amount_cents', 'currency', 'status', 'reason', 'description', 'metadata', 'source'],
  ...['provider_id', 'provider_refund_id', 'failure_code', 'created_by', 'created_at', 'updated_at', 'completed_at'],
];

/** The paths of all leaves. An empty object counts as a leaf. */
const leavesOf = (value: unknown, path = ''): string[] => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path === '' ? name : `${path}.${name}`));
};

interface Owned {
  readonly payment: PaymentBody;
  readonly refundId: string;
}

type Entries = readonly ParsedJson[];

interface Route {
  readonly name: string;
  readonly read: (owned: Owned, options: RequestOptions) => Promise<Entries>;
  readonly fieldsOf: (entry: ParsedJson) => readonly string[];
  readonly staffSee: () => readonly string[];
  /** Set if the route shows the webhook log, because guests cannot read the log. */
  readonly notForGuests?: true;
}

const data = async (path: string, options: RequestOptions) => {
  const { status, body } = await service.get(path, options);
  expect({ path, status }).toEqual({ path, status: 200 });
  return body.data ?? body;
};

const logsOf = async (options: RequestOptions): Promise<ParsedJson[]> => data('/webhooks/logs?limit=100', options);
const fieldsOfLog = ({ direction }: { readonly direction: string }) => [
  ...LOG,
  ...(direction === 'inbound' ? EVENT : CANONICAL),
];

const ROUTES: readonly Route[] = [
  {
    name: 'GET /webhooks/logs',
    read: (_, options) => logsOf(options),
    fieldsOf: fieldsOfLog,
    staffSee: () => RAW,
    notForGuests: true,
  },
  {
    name: 'GET /webhooks/logs/:id',
    read: async (_, options) =>
      Promise.all((await logsOf(options)).map(({ id }) => data(`/webhooks/logs/${id}`, options))),
    fieldsOf: fieldsOfLog,
    staffSee: () => RAW,
    notForGuests: true,
  },
  {
    name: 'GET /payments/:id/timeline',
    read: ({ payment }, options) => data(`/payments/${payment.id}/timeline`, options),
    fieldsOf: ({ kind }) => (kind === 'change' ? CHANGE : LOGGED),
    staffSee: () => [admin.userId],
  },
  {
    name: 'GET /payments/:id/refunds',
    read: ({ payment }, options) => data(`/payments/${payment.id}/refunds`, options),
    fieldsOf: () => REFUNDS,
    staffSee: () => [...NOTES, admin.userId],
  },
  {
    name: 'GET /refunds/:id',
    read: async ({ refundId }, options) => [await data(`/refunds/${refundId}`, options)],
    fieldsOf: () => REFUNDS,
    staffSee: () => [...NOTES, admin.userId],
  },
];

let admin: User;
let user: User;
let acme: Company;
let ownerIn: User;
let memberIn: User;
let guest: RequestOptions;
const owned: Record<string, Owned> = {};

const AUDIENCES = [
  ['the payer', 'personal', () => user.options],
  ['the owner of the organization', 'company', () => ownerIn.options],
  ['a member of the organization', 'company', () => memberIn.options],
  ['a guest', 'guests', () => guest],
] as const;

const goneThrough = async (payment: PaymentBody, options: RequestOptions): Promise<Owned> => {
  expect((await confirm(service, payment.id, options)).status).toBe(200);
  await service.settle();
  const made = await service.post(`/payments/${payment.id}/refunds`, REFUND, admin.options);
  expect(made).toMatchObject({ status: 201, body: { description: 'NOTE-OF-STAFF', created_by: admin.userId } });
  await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
  await service.settle();
  return { payment, refundId: made.body.id };
};

beforeAll(async () => {
  admin = await signIn(service, { is_admin: true });
  user = await signIn(service);
  acme = await company(service);
  const within = ({ userId }: User) => signIn(service, { user_id: userId, organization_id: acme.id });
  [ownerIn, memberIn] = [await within(acme.owner), await within(acme.member)];
  owned['personal'] = await goneThrough(await createPaidIntent(service, user), user.options);
  const organizations = await createPaidIntent(service, acme.owner, { organization_id: acme.id });
  owned['company'] = await goneThrough(organizations, acme.owner.options);
  const asGuest = guestIntentBody({ payment_method_id: VISA });
  const { body } = await service.post('/payments/intents', asGuest, {});
  guest = { guestToken: body.guest_token };
  owned['guests'] = await goneThrough(body, guest);
});

const of = (whose: string): Owned => {
  const found = owned[whose];
  if (!found) throw new Error(`no payment of ${whose}`);
  return found;
};

describe.each(ROUTES)('$name', ({ read, fieldsOf, staffSee, notForGuests }) => {
  test.each(AUDIENCES.filter(([, whose]) => !(notForGuests && whose === 'guests')))(
    'shows %s only the listed fields',
    async (_, whose, optionsOf) => {
      const entries = await read(of(whose), optionsOf());
      expect(entries.length).toBeGreaterThan(0);
      for (const entry of entries) {
        const fields = fieldsOf(entry);
        expect({ entry, others: leavesOf(entry).filter((path) => !fields.includes(path)) }).toEqual({
          entry,
          others: [],
        });
      }
      const text = JSON.stringify(entries);
      expect([...NOTES, ...RAW, admin.userId].filter((hidden) => text.includes(hidden))).toEqual([]);
    },
  );

  test('shows platform admins the fields that payers do not see', async () => {
    const text = JSON.stringify(await read(of('personal'), admin.options));
    expect(staffSee().filter((hidden) => !text.includes(hidden))).toEqual([]);
  });
});

/**
 * @module What the merchant's people and programs may do. A scope names routes; a staff role and a service key are sets
 * of scopes, and a platform admin has all of them. Route checks, documentation, the console's buttons and tests read
 * this table.
 */

import { keysOf } from '../core/rows.ts';

export const STAFF_ROLES = ['support', 'finance', 'operations'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

interface ScopeRow {
  /** What it permits, as a sentence for the reference. */
  readonly words: string;
  readonly roles: readonly StaffRole[];
}

const ALL_ROLES = STAFF_ROLES;

export const SCOPE_TABLE = {
  'payments:read': {
    words: 'Read payments, refunds, disputes, timelines and summaries of every owner.',
    roles: ALL_ROLES,
  },
  'subscriptions:read': {
    words: 'Read subscriptions, their timelines and memberships of every owner.',
    roles: ALL_ROLES,
  },
  'customers:read': {
    words: 'Read customers, payment methods, addresses and organizations of every owner.',
    roles: ['support', 'finance'],
  },
  'payments:write': { words: 'Create, update, confirm and cancel payments for a payer.', roles: [] },
  'methods:write': { words: 'Change payment methods, customers and addresses for a payer.', roles: [] },
  'subscriptions:write': { words: 'Create and change subscriptions for a payer.', roles: [] },
  'organizations:write': { words: 'Change organizations and their members for a payer.', roles: [] },
  'payments:operate': {
    words: "Sync payments, cancel anyone's unconfirmed payment, and change the metadata of a final payment.",
    roles: ['support', 'operations'],
  },
  'payments:capture': { words: 'Capture and release holds.', roles: ['finance', 'operations'] },
  'refunds:write': { words: 'Refund payments.', roles: ['support', 'finance'] },
  'links:write': {
    words: 'Make links to hosted pages, for payments and subscriptions of every owner, and payment links.',
    roles: ALL_ROLES,
  },
  'subscriptions:operate': {
    words: "Cancel anyone's subscription, and set a free price.",
    roles: ['finance', 'operations'],
  },
  'catalog:write': {
    words: 'Read and change products, projects, tiers, invites and discount codes.',
    roles: ['operations'],
  },
  'webhooks:read': { words: 'Read the webhook log of every owner.', roles: ['support', 'operations'] },
  'webhooks:write': { words: 'Send logged events again, and send test events.', roles: ['operations'] },
  'admin:cache': { words: 'Clear caches.', roles: ['operations'] },
  'imports:write': { words: 'Import the customers and subscriptions of another integration.', roles: [] },
  'admin:erasures': {
    words: 'Erase a person, read the state of an erasure, and export what is stored about a person.',
    roles: [],
  },
} as const satisfies Readonly<Record<string, ScopeRow>>;

export type Scope = keyof typeof SCOPE_TABLE;

export const SCOPES: readonly Scope[] = keysOf(SCOPE_TABLE);

const WRITE_SCOPES: Readonly<Partial<Record<Scope, Scope>>> = {
  'payments:read': 'payments:write',
  'subscriptions:read': 'subscriptions:write',
  'customers:read': 'methods:write',
};

/** The scope to act for a payer on the records that the scope permits to read. */
export const writeScopeOf = (readScope: Scope): Scope | undefined => WRITE_SCOPES[readScope];

export const rolesOfScope = (scope: Scope): readonly StaffRole[] => SCOPE_TABLE[scope].roles;

export const scopesOfRole = (role: StaffRole): readonly Scope[] =>
  SCOPES.filter((scope) => rolesOfScope(scope).includes(role));

/**
 * The scopes of one route. `merchant` permits it on every owner's records, `payer` for the payer whom a key's X-Act-For
 * names. A route without `merchant` needs a payer, or a guest where it takes `guest_data`.
 */
export interface RouteScopes {
  readonly merchant?: Scope;
  /** Permits the route to service keys, in place of `merchant`. */
  readonly keys?: Scope;
  /** Permits the route to the merchant, in place of `merchant`, for a payment whose amount is held. */
  readonly held?: Scope;
  readonly payer?: Scope;
  /** The route reads one owner's list. The merchant names the owner in this parameter, or reads the list of all owners. */
  readonly ownersList?: { readonly parameter?: 'organization_id' | 'entity_id'; readonly ofAll: string };
}

const reads = (scope: Scope): RouteScopes => ({ merchant: scope, payer: scope });
const readsList = (
  scope: Scope,
  ofAll: string,
  parameter: 'organization_id' | 'entity_id' = 'organization_id',
): RouteScopes => ({ ...reads(scope), ownersList: { parameter, ofAll } });
const forPayer = (scope: Scope): RouteScopes => ({ payer: scope });
const forMerchant = (scope: Scope): RouteScopes => ({ merchant: scope });

const PAYMENTS_LIST = 'GET /admin/payments';

/** By the id of the endpoint. A route that is not here takes no key, because it is public or only for sessions. */
const ROUTE_SCOPES: Readonly<Record<string, RouteScopes>> = {
  'payments.create-intent': forPayer('payments:write'),
  'payments.create': forPayer('payments:write'),
  'payments.update-intent': forPayer('payments:write'),
  'payment-links.create': forMerchant('links:write'),
  'payment-links.list': forMerchant('links:write'),
  'payment-links.get': forMerchant('links:write'),
  'payment-links.update': forMerchant('links:write'),
  'payment-links.archive': forMerchant('links:write'),
  'discounts.check': forPayer('payments:write'),
  'payments.confirm': forPayer('payments:write'),
  'payments.cancel-intent': { merchant: 'payments:operate', held: 'payments:capture', payer: 'payments:write' },
  'payments.capture': forMerchant('payments:capture'),
  'payments.change-metadata': { merchant: 'payments:operate', keys: 'payments:write' },
  'payments.sync': forMerchant('payments:operate'),
  'payments.link': forMerchant('links:write'),
  'payments.get': reads('payments:read'),
  'payments.timeline': reads('payments:read'),
  'payments.list': readsList('payments:read', PAYMENTS_LIST),
  'payments.summary': readsList('payments:read', 'GET /admin/summary'),
  'refunds.create': forMerchant('refunds:write'),
  'refunds.list-of-payment': reads('payments:read'),
  'refunds.get': reads('payments:read'),
  'refunds.list': forMerchant('payments:read'),
  'disputes.list-of-payment': reads('payments:read'),
  'disputes.list': forMerchant('payments:read'),
  'payment-methods.create': forPayer('methods:write'),
  'payment-methods.get': reads('customers:read'),
  'payment-methods.list': readsList('customers:read', 'GET /admin/search'),
  'payment-methods.update': forPayer('methods:write'),
  'payment-methods.link-address': forPayer('methods:write'),
  'payment-methods.set-default': forPayer('methods:write'),
  'payment-methods.remove': forPayer('methods:write'),
  'customers.create': forPayer('methods:write'),
  'customers.get': reads('customers:read'),
  'customers.list': readsList('customers:read', 'GET /admin/search'),
  'customers.update': forPayer('methods:write'),
  'customers.remove': forPayer('methods:write'),
  'addresses.create': forPayer('methods:write'),
  'addresses.get': reads('customers:read'),
  'addresses.list': readsList('customers:read', 'GET /admin/search'),
  'addresses.update': forPayer('methods:write'),
  'addresses.set-default': forPayer('methods:write'),
  'addresses.remove': forPayer('methods:write'),
  'subscriptions.create': forPayer('subscriptions:write'),
  'subscriptions.link': forMerchant('links:write'),
  'subscriptions.get': reads('subscriptions:read'),
  'subscriptions.timeline': reads('subscriptions:read'),
  'subscriptions.list': readsList('subscriptions:read', 'GET /admin/subscriptions'),
  'subscriptions.update': forPayer('subscriptions:write'),
  'subscriptions.link-address': forPayer('subscriptions:write'),
  'subscriptions.cancel': { merchant: 'subscriptions:operate', payer: 'subscriptions:write' },
  'subscriptions.reactivate': forPayer('subscriptions:write'),
  'subscriptions.pause': forPayer('subscriptions:write'),
  'subscriptions.resume': forPayer('subscriptions:write'),
  'subscriptions.change': { merchant: 'subscriptions:operate', payer: 'subscriptions:write' },
  'subscriptions.preview-change': { merchant: 'subscriptions:operate', payer: 'subscriptions:write' },
  'subscriptions.withdraw-change': { merchant: 'subscriptions:operate', payer: 'subscriptions:write' },
  'products.list': reads('subscriptions:read'),
  'memberships.get': reads('subscriptions:read'),
  'memberships.list': readsList('subscriptions:read', 'GET /admin/subscriptions', 'entity_id'),
  'organizations.create': forPayer('organizations:write'),
  'organizations.list': { ...reads('customers:read'), ownersList: { ofAll: 'GET /admin/search' } },
  'organizations.get': reads('customers:read'),
  'organizations.update': forPayer('organizations:write'),
  'organizations.remove': forPayer('organizations:write'),
  'organizations.list-members': reads('customers:read'),
  'organizations.add-member': forPayer('organizations:write'),
  'organizations.change-role': forPayer('organizations:write'),
  'organizations.remove-member': forPayer('organizations:write'),
  'organizations.leave': forPayer('organizations:write'),
  'webhooks.list-logs': forMerchant('webhooks:read'),
  'webhooks.get-log': forMerchant('webhooks:read'),
  'webhooks.send-test': forMerchant('webhooks:write'),
  'webhooks.replay-log': forMerchant('webhooks:write'),
  'admin.search': forMerchant('payments:read'),
  'admin.list-payments': forMerchant('payments:read'),
  'admin.list-subscriptions': forMerchant('subscriptions:read'),
  'admin.list-customers': forMerchant('customers:read'),
  'admin.export-payments': forMerchant('payments:read'),
  'admin.export-refunds': forMerchant('payments:read'),
  'admin.export-person': forMerchant('admin:erasures'),
  'admin.summary': forMerchant('payments:read'),
  'admin.clear-cache': forMerchant('admin:cache'),
  'admin.request-erasure': forMerchant('admin:erasures'),
  'admin.get-erasure': forMerchant('admin:erasures'),
  'admin.import': forMerchant('imports:write'),
  'admin.put-record': forMerchant('catalog:write'),
  'admin.get-record': forMerchant('catalog:write'),
  'admin.delete-record': forMerchant('catalog:write'),
  'admin.list-records': forMerchant('catalog:write'),
};

export const scopesOfRoute = (endpointId: string): RouteScopes | undefined => ROUTE_SCOPES[endpointId];

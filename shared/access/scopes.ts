/**
 * @module The permissions of the merchant's people and programs. A scope permits a set of routes. Staff roles and
 * service keys are sets of scopes, and platform admins have every scope. Route checks, documentation, the console's
 * buttons and tests read this table.
 */

import { keysOf } from '../core/rows.ts';

export const STAFF_ROLES = ['support', 'finance', 'operations'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

const ALL_ROLES = STAFF_ROLES;

const STAFF_OF_SCOPE = {
  'payments:read': ALL_ROLES,
  'subscriptions:read': ALL_ROLES,
  'customers:read': ['support', 'finance'],
  'payments:write': [],
  'methods:write': [],
  'subscriptions:write': [],
  'organizations:write': [],
  'payments:operate': ['support', 'operations'],
  'payments:capture': ['finance', 'operations'],
  'refunds:write': ['support', 'finance'],
  'links:write': ALL_ROLES,
  'subscriptions:operate': ['finance', 'operations'],
  'catalog:write': ['operations'],
  'webhooks:read': ['support', 'operations'],
  'webhooks:write': ['operations'],
  'admin:cache': ['operations'],
  'imports:write': [],
  'admin:erasures': [],
} as const satisfies Readonly<Record<string, readonly StaffRole[]>>;

export type Scope = keyof typeof STAFF_OF_SCOPE;

export const SCOPES: readonly Scope[] = keysOf(STAFF_OF_SCOPE);

const WRITE_SCOPES: Readonly<Partial<Record<Scope, Scope>>> = {
  'payments:read': 'payments:write',
  'subscriptions:read': 'subscriptions:write',
  'customers:read': 'methods:write',
};

/** The scope to act for a payer on records of this read scope. */
export const writeScopeOf = (readScope: Scope): Scope | undefined => WRITE_SCOPES[readScope];

export const rolesOfScope = (scope: Scope): readonly StaffRole[] => STAFF_OF_SCOPE[scope];

export const scopesOfRole = (role: StaffRole): readonly Scope[] =>
  SCOPES.filter((scope) => rolesOfScope(scope).includes(role));

/**
 * The scopes of one route. `merchant` permits it on every owner's records, `payer` only for the payer in X-Act-For. A
 * route without `merchant` needs a payer, or a guest if it accepts `guest_data`.
 */
export interface RouteScopes {
  readonly merchant?: Scope;
  /** Replaces `merchant` for service keys. */
  readonly keys?: Scope;
  /** Replaces `merchant` for a payment with a held amount. */
  readonly held?: Scope;
  readonly payer?: Scope;
  /**
   * Set if the route lists one owner's records. The merchant names the owner in `parameter`, or uses the list `ofAll`.
   */
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

/**
 * The scopes of each route, by endpoint id. Routes without a row accept no key, because they are public or only for
 * sessions.
 */
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

/**
 * @module PayPal's protocol over the ledger, with OAuth, orders, authorizations, captures, refunds, disputes, the
 * vault, and the verification of webhooks.
 */

import { createHash } from 'node:crypto';
import { chargeFees } from '../../ledger/fees.ts';
import type { LedgerIdKind, Unit } from '../../ledger/unit.ts';
import { type Answer, type Call, NOT_OFFERED, Refused, type Vendor, type VendorCaller } from '../../protocol/vendor.ts';
import { accessRoutes, identify, refusedToken } from '../wire/access.ts';
import { paypalError } from '../wire/errors.ts';
import { paypalMinorUnits } from '../wire/order-fields.ts';
import type { PayPalRoute } from '../wire/request.ts';
import { methodOfTestValue } from '../wire/tokens.ts';
import { takeApproval } from './approval.ts';
import { captureOnSite, paypalAuthorizationRoutes } from './authorizations.ts';
import { paypalDisputeRoutes } from './disputes.ts';
import { eventNotificationRoutes } from './event-notifications.ts';
import { paypalOrderRoutes } from './orders.ts';
import { paypalRefundRoutes } from './refunds.ts';
import { vaultRoutes } from './vault.ts';
import { verifyRoutes } from './verify.ts';
import { paypalWebhooks } from './webhooks.ts';

const ROUTES: readonly PayPalRoute[] = [
  ...accessRoutes,
  ...paypalOrderRoutes,
  ...paypalAuthorizationRoutes,
  ...paypalRefundRoutes,
  ...paypalDisputeRoutes,
  ...vaultRoutes,
  ...verifyRoutes,
  ...eventNotificationRoutes,
];

const HOUR_MS = 3_600_000;
const KEY_MAX = 108;
const PAYMENTS = '/v2/payments/';
const KEPT_HOURS: readonly (readonly [prefix: string, hours: number])[] = [
  ['/v3/vault/', 3],
  [PAYMENTS, 45 * 24],
];

export const paypal: Vendor = {
  adapter: 'paypal',
  operations: ROUTES,
  webhooks: paypalWebhooks,
  looksLive: () => false,
  identify,
  execute: (call, caller, unit) => execute(call, caller, unit),
  takeCustomerStep: takeApproval,
  captureOnSite,
  // If an order has no payment source, its payer reaches PayPal through the `approve` link.
  awaitsApproval: ({ status, latestChargeId }) => status === 'requires_payment_method' && latestChargeId === null,
  methodOf: (unit, testValue) => {
    const method = methodOfTestValue(unit, testValue);
    if (!method) throw new Refused(paypalError(404));
    return method;
  },
  minorUnits: paypalMinorUnits,
  fees: chargeFees({ basisPoints: 349, fixed: 49 }),
  formatId: (kind, n, tag) => formatId(kind, n, tag),
  headersOf: (_call, requestId) => ({ 'paypal-debug-id': requestId }),
  serverError: () => paypalError(500),
  rateLimited: () => paypalError(429),
  idempotency: {
    keyOf: (call) => (call.method === 'POST' ? (call.headers.get('paypal-request-id') ?? undefined) : undefined),
    fingerprintOf: (call) =>
      createHash('sha256')
        .update(JSON.stringify([call.path, call.body]))
        .digest('hex'),
    keepMs: ({ path }) => (KEPT_HOURS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 6) * HOUR_MS,
    // PayPal does not compare requests, so a repeated key always returns the first response.
    reused: () => undefined,
    inUse: () => paypalError(409),
    replayHeaders: () => ({}),
    // A repeated response has the status 200 instead of 201. According to PayPal's API description, a repeated refund
    // keeps its first status.
    replayStatus: (status, { path }) => (status === 201 && !path.startsWith(PAYMENTS) ? 200 : status),
  },
};

const execute = (call: Call, caller: VendorCaller, unit: Unit): Answer => {
  const expired = refusedToken(call, unit.at);
  if (expired) return expired;
  const found = findRoute(call);
  if (!found) return { ...paypalError(404), headers: NOT_OFFERED };
  if ((call.headers.get('paypal-request-id')?.length ?? 0) > KEY_MAX) {
    return paypalError(400, { details: [{ issue: 'INVALID_STRING_LENGTH', field: 'PayPal-Request-Id' }] });
  }
  return found.route.run({ call, caller, unit, id: found.id });
};

const findRoute = (call: Call): { readonly route: PayPalRoute; readonly id: string } | undefined => {
  const parts = call.path.split('/');
  for (const route of ROUTES) {
    const pattern = route.path.split('/');
    if (route.method !== call.method || pattern.length !== parts.length) continue;
    if (!pattern.every((part, index) => part === ':id' || part === parts[index])) continue;
    return { route, id: decodeURIComponent(parts[pattern.indexOf(':id')] ?? '') };
  }
  return undefined;
};

const PREFIXES: Readonly<Record<Exclude<LedgerIdKind, 'event'> | 'request', string>> = {
  customer: 'CU',
  method: 'VT',
  payment: 'O',
  charge: 'C',
  refund: 'R',
  dispute: 'PP-D-',
  setup: 'S',
  product: 'PROD',
  price: 'P',
  subscription: 'I',
  invoice: 'INV',
  coupon: 'COUPON',
  discount: 'DISCOUNT',
  tax_rate: 'TAX',
  request: 'f',
};

/** Most ids have 17 characters, like PayPal's own ids. */
const formatId = (kind: LedgerIdKind | 'request', n: number, tag: string): string => {
  const number = n.toString(36).padStart(8, '0');
  if (kind === 'event') return `WH-${tag}-${number}`.toUpperCase();
  const id = `${PREFIXES[kind]}${tag}${number}`;
  return kind === 'method' || kind === 'request' ? id.toLowerCase() : id.toUpperCase();
};

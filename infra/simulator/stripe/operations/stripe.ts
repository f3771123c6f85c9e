/**
 * @module Stripe's protocol over the ledger. Requests are forms with idempotency keys in a header, and responses are
 * JSON. Responses name a `Stripe-Version` and a `Request-Id`.
 */

import { createHash } from 'node:crypto';
import type { ProviderSlot } from '../../../../shared/core/settings.ts';
import { chargeFees } from '../../ledger/fees.ts';
import type { LedgerIdKind, Unit } from '../../ledger/unit.ts';
import { type Answer, type Call, NOT_OFFERED, type Vendor, type VendorCaller } from '../../protocol/vendor.ts';
import type { SlotOptions } from '../../state/options.ts';
import { catalogRoutes } from '../billing/catalog.ts';
import { discountRoutes } from '../billing/discounts.ts';
import { invoiceRoutes } from '../billing/invoices.ts';
import { subscriptionRoutes } from '../billing/subscriptions.ts';
import { leastStripeCharge, stripeMinorUnits } from '../wire/currencies.ts';
import { stripeError, unauthorized } from '../wire/errors.ts';
import { findMethod } from '../wire/method-data.ts';
import { formOf } from '../wire/parameters.ts';
import type { StripeRoute } from '../wire/request.ts';
import { stripeVersionOf } from '../wire/versions.ts';
import { chargeRoutes } from './charges.ts';
import { stripeCustomerRoutes } from './customers.ts';
import { stripeDisputeRoutes } from './disputes.ts';
import { expanded } from './expand.ts';
import { paymentIntentRoutes } from './payment-intents.ts';
import { paymentMethodDomainRoutes } from './payment-method-domains.ts';
import { paymentMethodRoutes } from './payment-methods.ts';
import { stripeRefundRoutes } from './refunds.ts';
import { setupIntentRoutes } from './setup-intents.ts';
import { webhookEndpointRoutes } from './webhook-endpoints.ts';
import { stripeWebhooks } from './webhooks.ts';

const ROUTES: readonly StripeRoute[] = [
  ...paymentIntentRoutes,
  ...stripeCustomerRoutes,
  ...paymentMethodRoutes,
  ...setupIntentRoutes,
  ...chargeRoutes,
  ...stripeRefundRoutes,
  ...stripeDisputeRoutes,
  ...catalogRoutes,
  ...discountRoutes,
  ...subscriptionRoutes,
  ...invoiceRoutes,
  ...webhookEndpointRoutes,
  ...paymentMethodDomainRoutes,
];

const DAY_MS = 86_400_000;
const KEY_MAX = 255;

export const stripe: Vendor = {
  adapter: 'stripe',
  operations: ROUTES,
  webhooks: stripeWebhooks,
  looksLive: (apiKey) => /^(sk|rk|pk)_live_/.test(apiKey),
  identify: (call, slots) => identify(call, slots),
  execute: (call, caller, unit) => execute(call, caller, unit),
  methodOf: (unit, testValue) => findMethod(unit, testValue, 'id'),
  minorUnits: stripeMinorUnits,
  leastCharge: leastStripeCharge,
  fees: chargeFees({ basisPoints: 290, fixed: 30 }),
  formatId: (kind, n, tag) => formatId(kind, n, tag),
  headersOf: (call, requestId) => {
    const key = call.headers.get('idempotency-key');
    return {
      'request-id': requestId,
      'stripe-version': stripeVersionOf(call),
      ...(key === null ? {} : { 'idempotency-key': key }),
    };
  },
  serverError: (requestId) =>
    stripeError(
      500,
      {
        type: 'api_error',
        message: `An unknown error occurred. If you have questions, please mention the request ID (${requestId}).`,
      },
      false,
    ),
  rateLimited: () => ({
    ...stripeError(
      429,
      {
        type: 'invalid_request_error',
        code: 'rate_limit',
        message: 'Request rate limit exceeded. Try again in a moment.',
      },
      false,
    ),
    headers: { 'retry-after': '1' },
  }),
  idempotency: {
    keyOf: (call) =>
      call.method === 'POST' ? (call.headers.get('idempotency-key')?.slice(0, KEY_MAX) ?? undefined) : undefined,
    fingerprintOf: (call) => fingerprintOf(call),
    keepMs: () => DAY_MS,
    reused: (key, call, firstPath) =>
      stripeError(400, { type: 'idempotency_error', message: reusedMessage(key, call, firstPath) }, false),
    inUse: (key) =>
      stripeError(
        409,
        {
          type: 'idempotency_error',
          code: 'idempotency_key_in_use',
          message:
            'There is currently another in-progress request using this Idempotent Key (that probably means you submitted ' +
            `twice, and the other request is still going through): ${key}. Please try again later.`,
        },
        false,
      ),
    replayHeaders: (requestId) => ({ 'idempotent-replayed': 'true', 'original-request': requestId }),
  },
};

const reusedMessage = (key: string, call: Call, firstPath: string): string =>
  call.path === firstPath
    ? 'Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a ' +
      `key other than '${key}' if you meant to execute a different request.`
    : `Keys for idempotent requests can only be used for the same endpoint they were first used for ('${call.path}' vs ` +
      `'${firstPath}'). Try using a key other than '${key}' if you meant to execute a different request.`;

/** A call's fingerprint, independent of field order. It is hashed, because a body may contain a card number. */
const fingerprintOf = (call: Call): string => {
  const fields = [...new URLSearchParams(call.body)].map(([name, value]) => `${name}=${value}`).sort();
  return createHash('sha256')
    .update(JSON.stringify([call.method, call.path, fields]))
    .digest('hex');
};

const execute = (call: Call, caller: VendorCaller, unit: Unit): Answer => {
  const found = findRoute(call);
  if (found === undefined) return unknownUrl(call);
  if (caller.kind === 'browser' && found.route.browser !== true) {
    return unauthorized('This API call cannot be made with a publishable API key. Please use a secret API key.');
  }
  const reply = found.route.run({ call, caller, unit, id: found.id });
  if ('answer' in reply) return reply.answer;
  const paths = formOf(call)['expand'];
  const object = Array.isArray(paths) ? expanded(reply.object, paths.map(String), unit) : reply.object;
  return { status: 200, body: JSON.stringify(object), began: true };
};

const unknownUrl = (call: Call): Answer => ({
  ...stripeError(
    404,
    {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${call.method}: ${call.path}). Either Stripe has no such route, or the simulator does not speak it.`,
    },
    false,
  ),
  headers: NOT_OFFERED,
});

/** The first match wins, so `search` comes before `:id`. */
const findRoute = (call: Call): { readonly route: StripeRoute; readonly id: string } | undefined => {
  const parts = call.path.split('/');
  for (const route of ROUTES) {
    if (route.method !== call.method) continue;
    const pattern = route.path.split('/');
    if (pattern.length !== parts.length) continue;
    if (!pattern.every((part, index) => part === ':id' || part === parts[index])) continue;
    return { route, id: parts[pattern.indexOf(':id')] ?? '' };
  }
  return undefined;
};

const identify = (call: Call, slots: readonly (readonly [ProviderSlot, SlotOptions])[]): VendorCaller | Answer => {
  const key = keyOf(call);
  if (key === undefined) {
    return unauthorized(
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  for (const [slot, { apiKey }] of slots) {
    if (apiKey === '') continue;
    if (key === apiKey) return { slot, kind: 'adapter' };
    if (key === apiKey.replace(/^sk_/, 'pk_')) return { slot, kind: 'browser' };
  }
  return unauthorized(`Invalid API Key provided: ${key.slice(0, 8)}****`);
};

/** The API key, from a bearer token or as the user name of Basic authentication. */
const keyOf = (call: Call): string | undefined => {
  const [scheme = '', value = ''] = (call.headers.get('authorization') ?? '').split(' ');
  if (scheme.toLowerCase() === 'bearer' && value !== '') return value;
  if (scheme.toLowerCase() === 'basic') return Buffer.from(value, 'base64').toString('utf8').split(':')[0];
  return undefined;
};

const PREFIXES: Readonly<Record<LedgerIdKind | 'request', string>> = {
  customer: 'cus_',
  method: 'pm_1',
  payment: 'pi_3',
  charge: 'ch_3',
  refund: 're_3',
  dispute: 'du_1',
  setup: 'seti_1',
  event: 'evt_1',
  product: 'prod_',
  price: 'price_1',
  subscription: 'sub_1',
  invoice: 'in_1',
  coupon: '',
  discount: 'di_1',
  tax_rate: 'txr_1',
  request: 'req_',
};

const formatId = (kind: LedgerIdKind | 'request', n: number, tag: string): string =>
  `${PREFIXES[kind]}${tag}${n.toString(36).padStart(8, '0')}`;

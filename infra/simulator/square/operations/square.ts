/**
 * @module Square's protocol over the ledger. Requests and responses are JSON, and idempotency keys are in the body.
 * Responses name a `Square-Version`.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod';
import { chargeFees } from '../../ledger/fees.ts';
import type { LedgerIdKind } from '../../ledger/unit.ts';
import { type Answer, type Call, NOT_OFFERED, type Vendor } from '../../protocol/vendor.ts';
import { squareError } from '../wire/errors.ts';
import type { SquareRequest, SquareRoute } from '../wire/request.ts';
import { methodOfSource } from '../wire/tokens.ts';
import { cardRoutes } from './cards.ts';
import { squareCustomerRoutes } from './customers.ts';
import { squareDisputeRoutes } from './disputes.ts';
import { CANCEL_BY_KEY, squareHoldRoutes } from './holds.ts';
import { locationRoutes } from './locations.ts';
import { squareOrderRoutes } from './orders.ts';
import { paymentRoutes } from './payments.ts';
import { squareRefundRoutes } from './refunds.ts';
import { squareWebhooks } from './webhooks.ts';

const ROUTES: readonly SquareRoute[] = [
  ...locationRoutes,
  ...squareOrderRoutes,
  ...paymentRoutes,
  ...squareHoldRoutes,
  ...squareRefundRoutes,
  ...squareDisputeRoutes,
  ...cardRoutes,
  ...squareCustomerRoutes,
];

const API_VERSION = '2026-09-16';
/** Square does not publish how long it keeps keys. */
const KEPT_MS = 7 * 86_400_000;

export const square: Vendor = {
  adapter: 'square',
  operations: ROUTES,
  webhooks: squareWebhooks,
  // The format of Square's own tokens, which the simulator does not use.
  looksLive: (token) => /^(EAAA|sq0)/.test(token),
  identify: (call, slots) => {
    const [, token = ''] = /^Bearer (.+)$/.exec(call.headers.get('authorization') ?? '') ?? [];
    const found = slots.find(([, { apiKey }]) => apiKey !== '' && apiKey === token);
    return found ? { slot: found[0], kind: 'adapter' } : UNAUTHORIZED;
  },
  execute: (call, _caller, unit) => {
    const found = findRoute(call);
    if (!found) return noRoute(call);
    const reply = found.route.run({ call, unit, id: found.id } satisfies SquareRequest);
    return 'answer' in reply ? reply.answer : { status: 200, body: JSON.stringify(reply.object), began: true };
  },
  methodOf: methodOfSource,
  minorUnits: (amount) => amount,
  fees: chargeFees({ basisPoints: 290, fixed: 30, afterSeconds: 30 }),
  cancelsRefunds: false,
  formatId: (kind, n, tag) => `${PREFIXES[kind]}${tag}${n.toString(36).padStart(8, '0')}`,
  headersOf: (call, requestId) => ({
    'square-version': call.headers.get('square-version') ?? API_VERSION,
    'x-request-id': requestId,
  }),
  serverError: (requestId) =>
    squareError(500, {
      category: 'API_ERROR',
      code: 'INTERNAL_SERVER_ERROR',
      detail: `An internal error occurred (${requestId}).`,
    }),
  rateLimited: () => squareError(429, { category: 'RATE_LIMIT_ERROR', code: 'RATE_LIMITED', detail: 'Rate limited.' }),
  idempotency: {
    keyOf: ({ method, path, body }) =>
      (method === 'POST' || method === 'PUT') && path !== CANCEL_BY_KEY ? keyIn(body) : undefined,
    fingerprintOf: ({ method, path, body }) =>
      createHash('sha256')
        .update(`${method} ${path} ${canonical(parsed(body))}`)
        .digest('hex'),
    keepMs: () => KEPT_MS,
    reused: (key) =>
      squareError(400, {
        category: 'INVALID_REQUEST_ERROR',
        code: 'IDEMPOTENCY_KEY_REUSED',
        detail: `The idempotency key '${key}' can only be retried with the same request data.`,
        field: 'idempotency_key',
      }),
    inUse: () =>
      squareError(409, {
        category: 'INVALID_REQUEST_ERROR',
        code: 'CONFLICT',
        detail: 'A request with this idempotency key is in progress.',
        field: 'idempotency_key',
      }),
    replayHeaders: () => ({}),
  },
};

const UNAUTHORIZED = squareError(401, {
  category: 'AUTHENTICATION_ERROR',
  code: 'UNAUTHORIZED',
  detail: 'This request could not be authorized.',
});

const noRoute = (call: Call): Answer => ({
  ...squareError(404, {
    category: 'INVALID_REQUEST_ERROR',
    code: 'NOT_FOUND',
    detail: `${call.method} ${call.path} is no route of Square's, or none that the simulator speaks.`,
  }),
  headers: NOT_OFFERED,
});

const findRoute = ({ method, path }: Call): { readonly route: SquareRoute; readonly id: string } | undefined => {
  const parts = path.split('/').map(decodeURIComponent);
  for (const route of ROUTES) {
    const pattern = route.path.split('/');
    if (route.method !== method || pattern.length !== parts.length) continue;
    if (pattern.every((part, index) => part === ':id' || part === parts[index])) {
      return { route, id: parts[pattern.indexOf(':id')] ?? '' };
    }
  }
  return undefined;
};

const PREFIXES: Readonly<Record<LedgerIdKind | 'request', string>> = {
  customer: 'SQCUS',
  method: 'ccof:SQCARD',
  payment: 'SQORD',
  charge: 'SQPAY',
  refund: 'SQREF',
  dispute: 'SQDIS',
  setup: 'SQSET',
  event: 'SQEVT',
  product: 'SQOBJ',
  price: 'SQOBJ',
  subscription: 'SQSUB',
  invoice: 'SQINV',
  coupon: 'SQCOUPON',
  discount: 'SQDISCOUNT',
  tax_rate: 'SQTAX',
  request: 'SQREQ',
};

const keyed = z.looseObject({ idempotency_key: z.string().min(1) });

const keyIn = (body: string): string | undefined => keyed.safeParse(parsed(body)).data?.idempotency_key;

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** A value's JSON text with sorted fields, because their order does not matter. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const fields = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`);
  return `{${fields.sort().join()}}`;
};

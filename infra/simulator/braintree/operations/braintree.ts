import type { LedgerIdKind } from '../../ledger/unit.ts';
import type { Answer, Call, Vendor } from '../../protocol/vendor.ts';
import { emptyAnswer } from '../wire/errors.ts';
import { CUSTOMER_OPERATIONS, customerRoute } from './customers.ts';

/**
 * Braintree's protocol over the ledger, for customers only. Requests are JSON, and responses are XML. There are no
 * idempotency keys and no events.
 */
export const braintree: Vendor = {
  adapter: 'braintree',
  operations: CUSTOMER_OPERATIONS,
  webhooks: { retriesForDays: 0, headersOf: () => ({}), envelope: ({ object }) => object, eventsOf: () => [] },
  // The format of Braintree's own private keys.
  looksLive: (privateKey) => /^[0-9a-f]{32}$/.test(privateKey),
  identify: (call, slots) => {
    const secret = basicPassword(call);
    const found = slots.find(([, { apiKey }]) => apiKey !== '' && apiKey === secret);
    return found ? { slot: found[0], kind: 'adapter' } : emptyAnswer(401);
  },
  execute: (call, _caller, unit): Answer => customerRoute(call, unit),
  minorUnits: (amount) => amount,
  formatId: (kind, n, tag) => `${PREFIXES[kind]}${tag}${n.toString(36).padStart(8, '0')}`,
  headersOf: (_call, requestId) => ({ 'content-type': 'application/xml; charset=utf-8', 'x-request-id': requestId }),
  serverError: () => emptyAnswer(500),
  rateLimited: () => emptyAnswer(429),
  idempotency: {
    keyOf: () => undefined,
    fingerprintOf: () => '',
    keepMs: () => 0,
    reused: () => undefined,
    inUse: () => emptyAnswer(409),
    replayHeaders: () => ({}),
  },
};

const basicPassword = (call: Call): string => {
  const [, encoded = ''] = /^Basic (.+)$/.exec(call.headers.get('authorization') ?? '') ?? [];
  return Buffer.from(encoded, 'base64').toString('utf8').split(':')[1] ?? '';
};

const PREFIXES: Readonly<Record<LedgerIdKind | 'request', string>> = {
  customer: 'btcus',
  method: 'btpm',
  payment: 'bttx',
  charge: 'btch',
  refund: 'btre',
  dispute: 'btdi',
  setup: 'btse',
  event: 'btev',
  product: 'btpr',
  price: 'btpl',
  subscription: 'btsu',
  invoice: 'btin',
  coupon: 'btcp',
  discount: 'btds',
  tax_rate: 'bttx',
  request: 'btreq',
};

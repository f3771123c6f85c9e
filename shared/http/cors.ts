/** @module The CORS rules for browsers from other origins, identical on a stage's HTTP API and on the local host. */

export const CORS = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  requestHeaders: [
    'authorization',
    'content-type',
    'idempotency-key',
    'traceparent',
    'tracestate',
    'x-act-for',
    'x-act-for-email',
    'x-api-version',
    'x-guest-token',
    'x-payer-address',
    'x-response-form',
    'x-session-id',
  ],
  responseHeaders: [
    'idempotent-replayed',
    'link',
    'retry-after',
    'x-api-version',
    'x-request-id',
    'x-total-count',
    'x-totals',
  ],
  /** How long a browser caches the response to a preflight. */
  maxAgeSeconds: 600,
} as const;

/** @module The CORS rules for browsers of other origins, the same on the HTTP API of a stage and on the local host. */

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
  /** A browser keeps the response to a preflight for this time. */
  maxAgeSeconds: 600,
} as const;

import type { IncomingMessage } from 'node:http';

/** CORS as in an HTTP API: if configured, it answers preflights and adds headers for the allowed origins. */
export type Cors = ReturnType<typeof createCors>;

const METHODS = 'GET,POST,PUT,PATCH,DELETE,OPTIONS';
const REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'x-api-version',
  'x-guest-token',
  'x-response-form',
  'x-session-id',
].join(',');
const RESPONSE_HEADERS = [
  'idempotent-replayed',
  'link',
  'retry-after',
  'x-api-version',
  'x-request-id',
  'x-total-count',
].join(',');

export const createCors = (allowedOrigins: readonly string[]) => ({
  /** The answer to a preflight, where CORS is on. */
  preflight: (message: IncomingMessage): Readonly<Record<string, string>> | undefined => {
    const asks = message.method === 'OPTIONS' && message.headers['access-control-request-method'] !== undefined;
    if (!asks || allowedOrigins.length === 0) return undefined;
    const origin = originOf(message, allowedOrigins);
    return origin === undefined
      ? {}
      : {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-max-age': '600',
          vary: 'Origin',
        };
  },
  headers: (message: IncomingMessage): Readonly<Record<string, string>> => {
    const origin = originOf(message, allowedOrigins);
    return origin === undefined
      ? {}
      : { 'access-control-allow-origin': origin, 'access-control-expose-headers': RESPONSE_HEADERS, vary: 'Origin' };
  },
});

const originOf = ({ headers }: IncomingMessage, allowed: readonly string[]): string | undefined => {
  const { origin } = headers;
  if (origin === undefined) return undefined;
  if (allowed.includes('*')) return '*';
  return allowed.includes(origin) ? origin : undefined;
};

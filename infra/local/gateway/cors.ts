import type { IncomingMessage } from 'node:http';
import { CORS } from '../../../shared/http/cors.ts';

/**
 * Responds to preflights and adds headers for allowed origins, as an HTTP API does. Pages on this machine, such as a
 * development server on another port, are always allowed.
 */
export type Cors = ReturnType<typeof createCors>;

const METHODS = CORS.methods.join();
const REQUEST_HEADERS = CORS.requestHeaders.join();
const RESPONSE_HEADERS = CORS.responseHeaders.join();

export const createCors = (allowedOrigins: readonly string[]) => ({
  /** Headers for a preflight's response; undefined if the request is no preflight or CORS is off. */
  preflight: (message: IncomingMessage): Readonly<Record<string, string>> | undefined => {
    const asks = message.method === 'OPTIONS' && message.headers['access-control-request-method'] !== undefined;
    const origin = originOf(message, allowedOrigins);
    if (!asks || (allowedOrigins.length === 0 && origin === undefined)) return undefined;
    return origin === undefined
      ? {}
      : {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-max-age': String(CORS.maxAgeSeconds),
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
  return allowed.includes(origin) || OF_THIS_MACHINE.test(origin) ? origin : undefined;
};

const OF_THIS_MACHINE = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/;

/**
 * CORS for the simulated providers. Any page can call a real provider with a publishable key, but only pages on this
 * machine can call a simulated provider.
 * @returns undefined if the request is not from a page on this machine
 */
export const providerCors = ({ method, headers }: IncomingMessage): ProviderCors | undefined => {
  if (headers.origin === undefined || !OF_THIS_MACHINE.test(headers.origin)) return undefined;
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  return {
    isPreflight,
    headers: {
      'access-control-allow-origin': headers.origin,
      vary: 'Origin',
      ...(isPreflight && {
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
      }),
    },
  };
};

interface ProviderCors {
  readonly isPreflight: boolean;
  readonly headers: Readonly<Record<string, string>>;
}
